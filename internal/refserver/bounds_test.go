package refserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Tries each text that methods check themselves. The texts of records are tested in package signing.
func TestMethodsBoundTexts(t *testing.T) {
	long := strings.Repeat("x", 64<<20+1)
	srv := servicetest.Start(t, nil)
	fault := func(f refserver.Fault) error {
		id, err := srv.Server.Fail(f)
		if err == nil {
			require.NoError(t, srv.RemoveFault(id))
		}
		return err
	}
	webhookFault := func(f refserver.WebhookFault) error {
		_, err := srv.Server.FailWebhooks(f)
		return err
	}
	for _, c := range []struct {
		field string
		most  int
		try   func(s string) error
	}{
		{"URL", 4096, func(s string) error {
			_, err := srv.Server.AddWebhook(refserver.Webhook{URL: "http://h/" + s[9:], Event: refserver.FormResponse})
			return err
		}},
		{"RetryAfter", 1000, func(s string) error { return fault(refserver.Fault{RetryAfter: s}) }},
		{"Body", 64 << 20, func(s string) error { return fault(refserver.Fault{Body: s}) }},
		{"Secret", 1000, func(s string) error { return webhookFault(refserver.WebhookFault{Secret: s}) }},
		{"Type", 1000, func(s string) error { return webhookFault(refserver.WebhookFault{Type: s}) }},
	} {
		require.NoError(t, c.try(long[:c.most]), c.field)
		err := c.try(long[:c.most+1])
		require.ErrorIs(t, err, refserver.ErrInvalid)
		require.EqualError(t, err, fmt.Sprintf("%s: has %d characters, and may have %d at most: shorten it", c.field, c.most+1, c.most))
	}
}

func TestOptionsBoundTexts(t *testing.T) {
	for _, c := range []struct {
		field string
		most  int
		set   func(s string) refserver.Options
	}{
		{"PublicURL", 4096, func(s string) refserver.Options { return refserver.Options{PublicURL: "https://h/" + s[10:]} }},
		{"APIKey", 1000, func(s string) refserver.Options { return refserver.Options{APIKey: s} }},
		{"WorkspaceID", 1000, func(s string) refserver.Options { return refserver.Options{WorkspaceID: s} }},
		{"WebhookSecret", 1000, func(s string) refserver.Options { return refserver.Options{WebhookSecret: s} }},
	} {
		o := c.set(strings.Repeat("x", c.most))
		srv, err := refserver.Start(&o)
		require.NoError(t, err)
		srv.Close()
		o = c.set(strings.Repeat("x", c.most+1))
		_, err = refserver.Start(&o)
		require.ErrorContains(t, err, fmt.Sprintf("Options.%s: has %d characters, and may have %d at most", c.field, c.most+1, c.most))
	}
}

// Tries each list of a record with as many entries as it may have, and with one more.
func TestListsHaveABound(t *testing.T) {
	srv := servicetest.Start(t, nil)
	roles := []refserver.Role{{Title: "Buyer"}}
	question := refserver.Field{Question: "Colour?", Kind: refserver.ChoiceQuestion, Choices: []string{"red"}}
	form, template := srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{question}}), srv.AddTemplate(refserver.Template{Name: "Offer", Roles: roles})
	field := func(role string) func(i int) refserver.TemplateField {
		return func(i int) refserver.TemplateField {
			return refserver.TemplateField{Name: fmt.Sprint(i), Role: role, Kind: refserver.TextField, Page: 1, Width: 0.1, Height: 0.1}
		}
	}
	signer := func(i int) refserver.Signer { return refserver.Signer{Email: fmt.Sprintf("ann%d@example.com", i)} }
	variable := func(i int) string { return fmt.Sprintf("[%d]", i) }
	for _, c := range []struct {
		list string
		most int
		try  func(n int) error
	}{
		{"Roles: ", 100, func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: listOf(n, func(i int) refserver.Role { return refserver.Role{Title: fmt.Sprint(i)} })}))
		}},
		{"Variables: ", 1000, func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: roles, Variables: listOf(n, variable)}))
		}},
		{"Fields: ", 1000, func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: roles, Fields: listOf(n, field("Buyer"))}))
		}},
		{"Fields: ", 1000, func(n int) error {
			return second(srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(1, signer), Fields: listOf(n, field("ann0@example.com"))}))
		}},
		{"Signers: ", 100, func(n int) error {
			return second(srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(n, signer)}))
		}},
		{"Fields: ", 100, func(n int) error {
			return second(srv.Server.AddForm(refserver.Form{Title: "Survey", Fields: listOf(n, func(i int) refserver.Field { return refserver.Field{Question: fmt.Sprint(i)} })}))
		}},
		{"Fields[0].Choices: ", 1000, func(n int) error {
			question.Choices = listOf(n, variable)
			return second(srv.Server.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{question}}))
		}},
		{"Documents: ", 1000, func(n int) error {
			return second(srv.Server.AddWebhook(refserver.Webhook{
				URL: "http://h", Event: refserver.FormResponse, Documents: listOf(n, func(int) string { return form }),
			}))
		}},
		{"Fields: ", 1000, func(n int) error {
			document := srv.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(1, signer)})
			return srv.Signer(document, "ann0@example.com").Sign(make([]refserver.FieldValue, n)...)
		}},
		{"customVariables ", 1000, func(n int) error {
			_, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
				TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
				Variables: listOf(n, func(i int) signforms.Variable { return signforms.Variable{Name: variable(i)} }),
			})
			return err
		}},
	} {
		require.NoError(t, c.try(c.most), c.list)
		require.ErrorContains(t, c.try(c.most+1), fmt.Sprintf("%shas %d entries, and may have %d at most", c.list, c.most+1, c.most))
	}
}

func listOf[T any](n int, entry func(i int) T) (all []T) {
	for i := range n {
		all = append(all, entry(i))
	}
	return all
}

// Errors go into logs and into the output of a failed test.
func TestErrorsRepeatNoLongText(t *testing.T) {
	srv := servicetest.Start(t, nil)
	long := strings.Repeat("x", 1<<20)
	form := srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	webhook := func(w refserver.Webhook) error {
		_, err := srv.Server.AddWebhook(w)
		return err
	}
	for name, err := range map[string]error{
		"event":    webhook(refserver.Webhook{URL: "http://h", Event: refserver.EventFamily(long)}),
		"record":   webhook(refserver.Webhook{URL: "http://h", Event: refserver.FormResponse, Documents: []string{long}}),
		"document": srv.Void(long),
		"fault":    srv.RemoveFault(long),
		"question": func() error {
			_, err := srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{long: "a"}})
			return err
		}(),
	} {
		require.Error(t, err, name)
		require.Less(t, len(err.Error()), 300, name)
	}
}

// Logs of requests and deliveries contain what clients and receivers send.
func TestLogsKeepNoLongText(t *testing.T) {
	header := 1 << 10
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", header))
	}))
	defer receiver.Close()
	srv := servicetest.Start(t, nil)
	hook := srv.AddWebhook(refserver.Webhook{URL: receiver.URL, Event: refserver.FormResponse})
	for _, size := range []int{1 << 10, 1 << 17} {
		header = size
		srv.TestWebhook(hook)
		require.NoError(t, srv.Settle(t.Context()))
	}
	deliveries := srv.Deliveries()
	require.Equal(t, refserver.DeliveryDelivered, deliveries[0].Status)
	attempt := deliveries[1].Attempts[0]
	require.Empty(t, attempt.AnswerHeader)
	require.Contains(t, attempt.Error, "exceeded 65536 bytes")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/"+strings.Repeat("x", 100_000), nil)
	require.NoError(t, err)
	request.Header.Set("x-request-id", strings.Repeat("r", 100_000))
	answer, err := srv.HTTPClient().Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	last := srv.Requests()[len(srv.Requests())-1]
	require.Len(t, last.Path, 1000)
	require.Len(t, last.RequestID, 1000)
}

func TestTooLongIsRefusedByTheAPI(t *testing.T) {
	srv := servicetest.Start(t, nil)
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, Variables: []string{"[fee]"}})
	send := func(message, fee string) error {
		_, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: template, Mail: signforms.Mail{Message: message}, Variables: []signforms.Variable{{Name: "[fee]", Value: fee}},
			Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
		})
		return err
	}
	most := strings.Repeat("x", refserver.MaxText)
	require.NoError(t, send(most, most))
	for field, err := range map[string]error{"mailData.message": send(most+"x", most), "customVariables[0].varValue": send(most, most+"x")} {
		require.ErrorIs(t, err, signforms.ErrInvalid)
		require.ErrorContains(t, err, "400")
		require.ErrorContains(t, err, field+" has 10001 characters, and may have 10000 at most: shorten it")
	}
	require.Len(t, srv.Messages(), 1)
}
