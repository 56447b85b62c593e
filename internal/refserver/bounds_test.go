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
func TestServer_methodsBoundTexts(t *testing.T) {
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
		{field: "URL", most: 4096, try: func(s string) error {
			_, err := srv.Server.AddWebhook(refserver.Webhook{URL: "http://h/" + s[9:], Event: refserver.FormResponse})
			return err
		}},
		{field: "RetryAfter", most: 1000, try: func(s string) error { return fault(refserver.Fault{RetryAfter: s}) }},
		{field: "Body", most: 64 << 20, try: func(s string) error { return fault(refserver.Fault{Body: s}) }},
		{field: "Secret", most: 1000, try: func(s string) error { return webhookFault(refserver.WebhookFault{Secret: s}) }},
		{field: "Type", most: 1000, try: func(s string) error { return webhookFault(refserver.WebhookFault{Type: s}) }},
	} {
		t.Run(c.field, func(t *testing.T) {
			require.NoError(t, c.try(long[:c.most]))
			err := c.try(long[:c.most+1])
			require.ErrorIs(t, err, refserver.ErrInvalid)
			require.EqualError(t, err, fmt.Sprintf("%s: has %d characters, and may have %d at most: shorten it", c.field, c.most+1, c.most))
		})
	}
}

func TestOptions_boundTexts(t *testing.T) {
	for _, c := range []struct {
		field string
		most  int
		set   func(s string) refserver.Options
	}{
		{field: "PublicURL", most: 4096, set: func(s string) refserver.Options { return refserver.Options{PublicURL: "https://h/" + s[10:]} }},
		{field: "APIKey", most: 1000, set: func(s string) refserver.Options { return refserver.Options{APIKey: s} }},
		{field: "WorkspaceID", most: 1000, set: func(s string) refserver.Options { return refserver.Options{WorkspaceID: s} }},
		{field: "WebhookSecret", most: 1000, set: func(s string) refserver.Options { return refserver.Options{WebhookSecret: s} }},
	} {
		t.Run(c.field, func(t *testing.T) {
			o := c.set(strings.Repeat("x", c.most))
			srv, err := refserver.Start(&o)
			require.NoError(t, err)
			srv.Close()
			o = c.set(strings.Repeat("x", c.most+1))
			_, err = refserver.Start(&o)
			require.ErrorContains(t, err, fmt.Sprintf("Options.%s: has %d characters, and may have %d at most", c.field, c.most+1, c.most))
		})
	}
}

// Tries each list of a record with as many entries as it may have, and with one more.
func TestServer_boundsLists(t *testing.T) {
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
		{list: "Roles: ", most: 100, try: func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: listOf(n, func(i int) refserver.Role { return refserver.Role{Title: fmt.Sprint(i)} })}))
		}},
		{list: "Variables: ", most: 1000, try: func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: roles, Variables: listOf(n, variable)}))
		}},
		{list: "Fields: ", most: 1000, try: func(n int) error {
			return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: roles, Fields: listOf(n, field("Buyer"))}))
		}},
		{list: "Fields: ", most: 1000, try: func(n int) error {
			return second(srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(1, signer), Fields: listOf(n, field("ann0@example.com"))}))
		}},
		{list: "Signers: ", most: 100, try: func(n int) error {
			return second(srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(n, signer)}))
		}},
		{list: "Fields: ", most: 100, try: func(n int) error {
			return second(srv.Server.AddForm(refserver.Form{Title: "Survey", Fields: listOf(n, func(i int) refserver.Field { return refserver.Field{Question: fmt.Sprint(i)} })}))
		}},
		{list: "Fields[0].Choices: ", most: 1000, try: func(n int) error {
			question.Choices = listOf(n, variable)
			return second(srv.Server.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{question}}))
		}},
		{list: "Documents: ", most: 1000, try: func(n int) error {
			return second(srv.Server.AddWebhook(refserver.Webhook{
				URL: "http://h", Event: refserver.FormResponse, Documents: listOf(n, func(int) string { return form }),
			}))
		}},
		{list: "Fields: ", most: 1000, try: func(n int) error {
			document := srv.AddDocument(refserver.Document{Name: "Lease", Signers: listOf(1, signer)})
			return srv.Signer(document, "ann0@example.com").Sign(make([]refserver.FieldValue, n)...)
		}},
		{list: "customVariables ", most: 1000, try: func(n int) error {
			_, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
				TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
				Variables: listOf(n, func(i int) signforms.Variable { return signforms.Variable{Name: variable(i)} }),
			})
			return err
		}},
	} {
		t.Run(c.list, func(t *testing.T) {
			require.NoError(t, c.try(c.most))
			require.ErrorContains(t, c.try(c.most+1), fmt.Sprintf("%shas %d entries, and may have %d at most", c.list, c.most+1, c.most))
		})
	}
}

func listOf[T any](n int, entry func(i int) T) (all []T) {
	for i := range n {
		all = append(all, entry(i))
	}
	return all
}

// Errors go into logs and into the output of a failed test.
func TestError_repeatsNoLongText(t *testing.T) {
	srv := servicetest.Start(t, nil)
	long := strings.Repeat("x", 1<<20)
	form := srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	webhook := func(w refserver.Webhook) error {
		_, err := srv.Server.AddWebhook(w)
		return err
	}
	for _, row := range []struct {
		name string
		err  error
	}{
		{name: "event", err: webhook(refserver.Webhook{URL: "http://h", Event: refserver.EventFamily(long)})},
		{name: "record", err: webhook(refserver.Webhook{URL: "http://h", Event: refserver.FormResponse, Documents: []string{long}})},
		{name: "document", err: srv.Void(long)},
		{name: "fault", err: srv.RemoveFault(long)},
		{name: "question", err: func() error {
			_, err := srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{long: "a"}})
			return err
		}()},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Error(t, row.err)
			require.Less(t, len(row.err.Error()), 300)
		})
	}
}

// Logs of requests and deliveries contain what clients and receivers send.
func TestLogs_keepNoLongText(t *testing.T) {
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

func TestAPI_refusesTextsThatAreTooLong(t *testing.T) {
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
	for _, row := range []struct {
		field string
		err   error
	}{{field: "mailData.message", err: send(most+"x", most)}, {field: "customVariables[0].varValue", err: send(most, most+"x")}} {
		t.Run(row.field, func(t *testing.T) {
			require.ErrorIs(t, row.err, signforms.ErrInvalid)
			require.ErrorContains(t, row.err, "400")
			require.ErrorContains(t, row.err, row.field+" has 10001 characters, and may have 10000 at most: shorten it")
		})
	}
	require.Len(t, srv.Messages(), 1)
}
