package refserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// requireRefused checks the error of each call.
func requireRefused(t *testing.T, calls map[string]func(*refserver.Server) error) {
	t.Helper()
	srv := servicetest.Start(t, nil)
	for want, call := range calls {
		require.EqualError(t, call(srv.Server), want)
	}
}

func TestServer_addPanicsWithAReason(t *testing.T) {
	type (
		server   = refserver.Server
		template = refserver.Template
		document = refserver.Document
	)
	role, ann := refserver.Role{Title: "Buyer"}, []refserver.Signer{{Email: "ann@example.com"}}
	roles := []refserver.Role{role}
	question := refserver.Field{Question: "Name?"}
	requireRefused(t, map[string]func(*server) error{
		"Name: is empty":                        func(s *server) error { return second(s.AddTemplate(template{Roles: roles})) },
		"Roles: is empty: a template needs one": func(s *server) error { return second(s.AddTemplate(template{Name: "Offer"})) },
		"Roles[1].Title: is empty": func(s *server) error {
			return second(s.AddTemplate(template{Name: "Offer", Roles: []refserver.Role{role, {}}}))
		},
		`Roles[1].Title: is "Buyer" like that of another role: each needs its own`: func(s *server) error {
			return second(s.AddTemplate(template{Name: "Offer", Roles: []refserver.Role{role, role}}))
		},
		`Variables[0]: "v1" must be in square brackets, as in [v1]`: func(s *server) error {
			return second(s.AddTemplate(template{Name: "Offer", Roles: roles, Variables: []string{"v1"}}))
		},
		"ExpiresFor: -1ns must be positive, or 0 for never": func(s *server) error {
			return second(s.AddTemplate(template{Name: "Offer", Roles: roles, ExpiresFor: -1}))
		},
		`Fields[0].Role: is "Seller", which is not one of "Buyer"`: func(s *server) error {
			return second(s.AddTemplate(template{Name: "Offer", Roles: roles, Fields: []refserver.TemplateField{{Name: "x", Role: "Seller"}}}))
		},
		"Title: is empty": func(s *server) error { return second(s.AddForm(refserver.Form{Fields: []refserver.Field{question}})) },
		"Fields: is empty: a form needs a question": func(s *server) error { return second(s.AddForm(refserver.Form{Title: "Intake"})) },
		"Fields[0].Question: is empty": func(s *server) error {
			return second(s.AddForm(refserver.Form{Title: "Intake", Fields: make([]refserver.Field, 1)}))
		},
		`Fields[1].Question: is "Name?" like that of another field: each needs its own`: func(s *server) error {
			return second(s.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{question, question}}))
		},
		"Signers: is empty: a document needs one before it can be sent": func(s *server) error { return second(s.AddDocument(document{Name: "Lease"})) },
		`Signers[0].Email: must be an e-mail address alone, as in ann@example.com, not "ann"`: func(s *server) error {
			return second(s.AddDocument(document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann"}}}))
		},
		"ExpiresFor: -1s must be positive, or 0 for never": func(s *server) error {
			return second(s.AddDocument(document{Name: "Lease", Signers: ann, ExpiresFor: -time.Second}))
		},
	})
}

func TestAddWebhook_refused(t *testing.T) {
	type server = refserver.Server
	type hook = refserver.Webhook
	const url, id = "http://a.test", "a2b0c1d4-0000-4000-8000-000000000000"
	requireRefused(t, map[string]func(*server) error{
		`URL: must be an absolute one, as in http://127.0.0.1:8080/webhook, not "localhost:80"`: func(s *server) error {
			return second(s.AddWebhook(hook{URL: "localhost:80", Event: refserver.FormResponse}))
		},
		`Event: must be new_form_response, new_signature_completed or new_template_response, not "viewed"`: func(s *server) error {
			return second(s.AddWebhook(hook{URL: url, Event: "viewed"}))
		},
		`Documents[0]: no PDF document with id "` + id + `"`: func(s *server) error {
			return second(s.AddWebhook(hook{URL: url, Event: refserver.SignatureCompleted, Documents: []string{id}}))
		},
		`no webhook with id "` + id + `"`: func(s *server) error { return second(s.TestWebhook(id)) },
	})

	srv := servicetest.Start(t, nil)
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	created := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	for _, row := range []struct{ document, want string }{
		{document: template, want: `"` + template + `" is a template, and a webhook for this event tracks PDF documents`},
		{document: created, want: `"` + created + `" is a document from a template: track the template, with the event new_template_response`},
	} {
		t.Run(row.document, func(t *testing.T) {
			pdf := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
			_, err := srv.Server.AddWebhook(hook{URL: url, Event: refserver.SignatureCompleted, Documents: []string{pdf, row.document}})
			require.EqualError(t, err, "Documents[1]: "+row.want)
		})
	}
}

func TestAddFault_refused(t *testing.T) {
	type server = refserver.Server
	type fault = refserver.Fault
	type webhookFault = refserver.WebhookFault
	requireRefused(t, map[string]func(*server) error{
		"-1s would move the clock back": func(s *server) error { return s.Advance(t.Context(), -time.Second) },
		"Status: 7 is not 200 to 599":   func(s *server) error { return second(s.Fail(fault{Status: 7})) },
		"Probability: 50 is not 0 to 1": func(s *server) error { return second(s.Fail(fault{Probability: 50})) },
		"Probability: -1 is not 0 to 1": func(s *server) error { return second(s.FailWebhooks(webhookFault{Probability: -1})) },
		"Latency: must not be negative": func(s *server) error { return second(s.Fail(fault{Latency: -1})) },
		"Delay: must not be negative":   func(s *server) error { return second(s.FailWebhooks(webhookFault{Delay: -1})) },
		`Operation: "sendReminder" is not one of the service's: "list documents", "void document", "send reminder", "send", ` +
			`"list respondents", "list responses"`: func(s *server) error { return second(s.Fail(fault{Operation: "sendReminder"})) },
		`EventType: "signed" is not one of the service's: "new_form_response", "new_signature_pdf_individual_viewed", ` +
			`"new_signature_pdf_individual_signed", "new_signature_pdf_completed", "new_template_response_individual_viewed", ` +
			`"new_template_response_individual_signed", "new_template_response"`: func(s *server) error { return second(s.FailWebhooks(webhookFault{EventType: "signed"})) },
	})
}
