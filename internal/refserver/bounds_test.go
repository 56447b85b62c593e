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
			TemplateID: template, Mail: signforms.Mail{Message: message}, Variables: []signforms.CustomVariable{{Name: "[fee]", Value: fee}},
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
