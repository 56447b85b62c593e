package refserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// requirePanics checks the panic of each call on a server that was not started by NewServer.
func requirePanics(t *testing.T, calls map[string]func(*refserver.Server)) {
	t.Helper()
	srv, err := refserver.Start(nil)
	require.NoError(t, err)
	defer srv.Close()
	for want, call := range calls {
		require.PanicsWithValue(t, "signformstest: "+want, func() { call(srv) }, want)
	}
}

func TestWhatCannotBeAddedPanicsWithAReason(t *testing.T) {
	type (
		server   = refserver.Server
		template = refserver.Template
		document = refserver.Document
	)
	role, ann := refserver.Role{Title: "Buyer"}, []refserver.Signer{{Email: "ann@example.com"}}
	roles := []refserver.Role{role}
	question := refserver.Field{Question: "Name?"}
	requirePanics(t, map[string]func(*server){
		"AddTemplate: Name: is empty":                        func(s *server) { s.AddTemplate(template{Roles: roles}) },
		"AddTemplate: Roles: is empty: a template needs one": func(s *server) { s.AddTemplate(template{Name: "Offer"}) },
		"AddTemplate: Roles[1].Title: is empty":              func(s *server) { s.AddTemplate(template{Name: "Offer", Roles: []refserver.Role{role, {}}}) },
		`AddTemplate: Roles[1].Title: is "Buyer" like that of another role: each needs its own`: func(s *server) {
			s.AddTemplate(template{Name: "Offer", Roles: []refserver.Role{role, role}})
		},
		`AddTemplate: Variables[0]: "v1" must be in square brackets, as in [v1]`: func(s *server) {
			s.AddTemplate(template{Name: "Offer", Roles: roles, Variables: []string{"v1"}})
		},
		"AddTemplate: ExpiresFor: -1ns must be positive, or 0 for never": func(s *server) {
			s.AddTemplate(template{Name: "Offer", Roles: roles, ExpiresFor: -1})
		},
		`AddTemplate: Fields[0].Role: is "Seller", which is not one of "Buyer"`: func(s *server) {
			s.AddTemplate(template{Name: "Offer", Roles: roles, Fields: []refserver.TemplateField{{Name: "x", Role: "Seller"}}})
		},
		"AddForm: Title: is empty":                    func(s *server) { s.AddForm(refserver.Form{Fields: []refserver.Field{question}}) },
		"AddForm: Fields: is empty: a form needs one": func(s *server) { s.AddForm(refserver.Form{Title: "Intake"}) },
		"AddForm: Fields[0].Question: is empty": func(s *server) {
			s.AddForm(refserver.Form{Title: "Intake", Fields: make([]refserver.Field, 1)})
		},
		`AddForm: Fields[1].Question: is "Name?" like that of another field: each needs its own`: func(s *server) {
			s.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{question, question}})
		},
		"AddDocument: Name: is empty":                                           func(s *server) { s.AddDocument(document{Signers: ann}) },
		"AddDocument: Signers: a document needs a signer before it can be sent": func(s *server) { s.AddDocument(document{Name: "Lease"}) },
		`AddDocument: Signers[0].Email: must be an e-mail address alone, as in ann@example.com, not "ann"`: func(s *server) {
			s.AddDocument(document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann"}}})
		},
		"AddDocument: ExpiresFor: -1s must be positive, or 0 for never": func(s *server) {
			s.AddDocument(document{Name: "Lease", Signers: ann, ExpiresFor: -time.Second})
		},
	})
}

func TestWebhooksThatCannotBePanicWithAReason(t *testing.T) {
	type server = refserver.Server
	type hook = refserver.Webhook
	const url, id = "http://a.test", "a2b0c1d4-0000-4000-8000-000000000000"
	requirePanics(t, map[string]func(*server){
		`AddWebhook: URL: must be an absolute one, as in http://127.0.0.1:8080/webhook, not "localhost:80"`: func(s *server) {
			s.AddWebhook(hook{URL: "localhost:80", Event: refserver.FormResponse})
		},
		`AddWebhook: Event: must be new_form_response, new_signature_completed or new_template_response, not "viewed"`: func(s *server) {
			s.AddWebhook(hook{URL: url, Event: "viewed"})
		},
		`AddWebhook: Documents[0]: no PDF document with id "` + id + `"`: func(s *server) {
			s.AddWebhook(hook{URL: url, Event: refserver.SignatureCompleted, Documents: []string{id}})
		},
		`TestWebhook: no webhook with id "` + id + `"`: func(s *server) { s.TestWebhook(id) },
	})

	srv, err := refserver.Start(nil)
	require.NoError(t, err)
	defer srv.Close()
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	created := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	for document, want := range map[string]string{
		template: `"` + template + `" is a template, and a webhook for this event tracks PDF documents`,
		created:  `"` + created + `" is a document from a template: track the template, with the event new_template_response`,
	} {
		require.PanicsWithValue(t, "signformstest: AddWebhook: Documents[1]: "+want, func() {
			pdf := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
			srv.AddWebhook(hook{URL: url, Event: refserver.SignatureCompleted, Documents: []string{pdf, document}})
		})
	}
}

func TestFaultsThatCannotBePanicWithAReason(t *testing.T) {
	type server = refserver.Server
	type fault = refserver.Fault
	type webhookFault = refserver.WebhookFault
	requirePanics(t, map[string]func(*server){
		"Advance: -1s would move the clock back":      func(s *server) { s.Advance(-time.Second) },
		"Fail: Status: 7 is not 200 to 599":           func(s *server) { s.Fail(fault{Status: 7}) },
		"Fail: Probability: 50 is not 0 to 1":         func(s *server) { s.Fail(fault{Probability: 50}) },
		"FailWebhooks: Probability: -1 is not 0 to 1": func(s *server) { s.FailWebhooks(webhookFault{Probability: -1}) },
		"Fail: Latency: must not be negative":         func(s *server) { s.Fail(fault{Latency: -1}) },
		"FailWebhooks: Delay: must not be negative":   func(s *server) { s.FailWebhooks(webhookFault{Delay: -1}) },
		`Fail: Operation: "sendReminder" is not one of the service's: "list documents", "void document", "send reminder", "send", ` +
			`"list respondents", "list responses"`: func(s *server) { s.Fail(fault{Operation: "sendReminder"}) },
		`FailWebhooks: EventType: "signed" is not one of the service's: "new_form_response", "new_signature_pdf_individual_viewed", ` +
			`"new_signature_pdf_individual_signed", "new_signature_pdf_completed", "new_template_response_individual_viewed", ` +
			`"new_template_response_individual_signed", "new_template_response"`: func(s *server) { s.FailWebhooks(webhookFault{EventType: "signed"}) },
	})
}
