package webhooktest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

const secret = "whsec_example_7f3c1b52d9e84a06"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var samples = map[webhook.EventType]webhook.Event{
	webhook.TypeFormResponse:       &webhook.FormResponse{},
	webhook.TypeSignatureViewed:    &webhook.SignatureViewed{},
	webhook.TypeSignatureSigned:    &webhook.SignatureSigned{},
	webhook.TypeSignatureCompleted: &webhook.SignatureCompleted{},
	webhook.TypeTemplateViewed:     &webhook.TemplateViewed{},
	webhook.TypeTemplateSigned:     &webhook.TemplateSigned{},
	webhook.TypeTemplateResponse:   &webhook.TemplateResponse{},
}

// TestSamples keeps the samples the same as the deliveries that the rest of the module is tested with.
func TestSamples(t *testing.T) {
	for eventType, kind := range samples {
		want, err := os.ReadFile("../../testdata/events/" + string(eventType) + ".json")
		require.NoError(t, err)
		require.Equal(t, string(want), string(webhooktest.Sample(eventType)))
		events, err := webhook.Parse(webhooktest.Sample(eventType))
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.IsType(t, kind, events[0])
	}
	require.PanicsWithValue(t, `webhooktest: Sample: no sample of event type "new_thing": want one of the webhook.Type constants`, func() { webhooktest.Sample("new_thing") })
}

// TestPayloadOfSamples prints what was parsed, parses that, and compares the events but for their raw JSON.
func TestPayloadOfSamples(t *testing.T) {
	for eventType := range samples {
		events, err := webhook.Parse(webhooktest.Sample(eventType))
		require.NoError(t, err)
		again, err := webhook.Parse(webhooktest.Payload(events...))
		require.NoError(t, err)
		require.Len(t, again, 1)
		require.Equal(t, fields(events[0]), fields(again[0]))
	}
}

// fields prints an event without its raw JSON, which comes first.
func fields(ev webhook.Event) string {
	return fmt.Sprintf("%T %+v", ev, ev)[len(fmt.Sprintf("%T &{meta:{raw:%s", ev, ev.Raw())):]
}

func TestPayload(t *testing.T) {
	signer := webhook.Signer{Email: "a@example.com", Name: "A < B & \u2028 \\u2029 \u2029 \"é\" 😀", Status: webhook.SignerSigned, IP: "203.0.113.7", SigningOrderNo: 1}
	document := webhook.Document{DocumentName: "N", DocumentID: "d", DocumentURL: "u", AuthorEmail: "b@example.com"}
	unknown, err := webhook.Parse([]byte(`{"webhookEvent":"new_thing", "x":1.0}`))
	require.NoError(t, err)
	for _, c := range []struct {
		event webhook.Event
		want  string
	}{
		{event: &webhook.FormResponse{FormID: "f", Answers: []webhook.FormAnswer{{ID: "q", Question: "Q", Answer: "A"}}},
			want: `{"webhookEvent":"new_form_response","formId":"f","response":[{"id":"q","question":"Q","answer":"A"}]}`},
		{event: &webhook.SignatureSigned{Document: document, IsSigningOrder: true, SignedBy: webhook.SignedBy{Signer: signer, SignedAt: noon}},
			want: `{"webhookEvent":"new_signature_pdf_individual_signed","documentName":"N","documentId":"d","documentUrl":"u","authorEmail":"b@example.com",` +
				`"isSigningOrder":true,"signedBy":{"email":"a@example.com","name":"A < B & ` + "\u2028" + ` \\u2029 ` + "\u2029" + ` \"é\" 😀","status":"SIGNED","signerIp":"203.0.113.7",` +
				`"hasDeclined":false,"signingOrderNo":1,"signedAt":"2026-11-20T12:00:00.000Z"}}`},
		{event: &webhook.TemplateResponse{Signers: []webhook.Signer{{RoleTitle: "R", ID: "s", HasDeclined: true}}, FinishedPDFURL: "p",
			Fields: []webhook.Field{{Key: "text(page1)[a]", Value: "<"}, {Kind: "date", Page: 2, Label: `"b"`, Value: "v"}}},
			want: `{"webhookEvent":"new_template_response","finishedPdfUrl":"p","signers":[{"roleTitle":"R","email":"","name":"","status":"","signerId":"s","hasDeclined":true}],` +
				`"text(page1)[a]":"<","date(page2)[\"b\"]":"v"}`},
		{event: unknown[0], want: `{"webhookEvent":"new_thing", "x":1.0}`},
		{event: &webhook.UnknownEvent{Type: "new_thing"}, want: `{"webhookEvent":"new_thing"}`},
	} {
		t.Run(c.want, func(t *testing.T) {
			require.Equal(t, "["+c.want+"]", string(webhooktest.Payload(c.event)))
		})
	}
	require.Equal(t, "[]", string(webhooktest.Payload()))
	require.Equal(t, `[{"webhookEvent":"a"},{"webhookEvent":"b"}]`, string(webhooktest.Payload(&webhook.UnknownEvent{Type: "a"}, &webhook.UnknownEvent{Type: "b"})))
}

// In a bubble of testing/synctest it is the year 2000, and Unix seconds have nine digits.
func TestNewRequest_bubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := webhook.NewVerifier([]string{secret}, nil)
		require.NoError(t, err)
		h := webhook.NewHandler(v, webhook.Funcs{Default: func(context.Context, webhook.Event) error { return nil }}, nil)
		for _, c := range []struct {
			until time.Time
			want  string
		}{
			{until: time.Now(), want: "2000-01-01T00:00:00Z"},
			{until: time.Unix(999_999_999, 0), want: "2001-09-09T01:46:39Z"},
			{until: time.Unix(1_000_000_000, 0), want: "1000000000"},
		} {
			time.Sleep(time.Until(c.until))
			r := webhooktest.NewRequest("http://example.com/hook", secret, time.Now().Local(), webhooktest.Sample(webhook.TypeTemplateSigned))
			require.Equal(t, c.want, r.Header.Get(webhook.TimestampHeader))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body)
		}
	})
}

// TestNewRequest uses a request both ways: with a recorder and with a client.
func TestNewRequest(t *testing.T) {
	clock := webhooktest.NewClock(noon)
	v, err := webhook.NewVerifier([]string{secret}, &webhook.VerifierOptions{Now: clock.Now})
	require.NoError(t, err)
	ran := 0
	h := webhook.NewHandler(v, webhook.Funcs{Default: func(context.Context, webhook.Event) error { ran++; return nil }}, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, webhooktest.NewRequest("http://example.com/hook", secret, clock.Now(), webhooktest.Sample(webhook.TypeTemplateSigned)))
	require.Equal(t, http.StatusOK, w.Code, w.Body)

	server := httptest.NewServer(h)
	defer server.Close()
	for _, c := range []struct {
		off    time.Duration
		status int
	}{{off: 5 * time.Minute, status: 200}, {off: time.Second, status: 401}, {off: -10*time.Minute - time.Second, status: 200}, {off: -time.Second, status: 401}} {
		clock.Advance(c.off)
		res, err := server.Client().Do(webhooktest.NewRequest(server.URL, secret, noon, webhooktest.Sample(webhook.TypeFormResponse)))
		require.NoError(t, err)
		res.Body.Close()
		require.Equal(t, c.status, res.StatusCode, "clock %v", clock.Now())
	}
	require.Equal(t, 2, ran, "the third request over HTTP repeats the first")
	require.Panics(t, func() { webhooktest.NewRequest(":", secret, noon, nil) })
}
