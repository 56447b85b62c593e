package refserver_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

func TestFaultsAreSentences(t *testing.T) {
	const id = "0123456789abcdef01234567"
	f := func(matched, happened int, f refserver.Fault) refserver.ActiveFault {
		return refserver.ActiveFault{Fault: &f, Matched: matched, Happened: happened}
	}
	w := func(matched, happened int, w refserver.WebhookFault) refserver.ActiveFault {
		return refserver.ActiveFault{WebhookFault: &w, Matched: matched, Happened: happened}
	}
	for want, fault := range map[string]refserver.ActiveFault{
		"Every request will be answered 503.":                                          f(9, 9, refserver.Fault{Status: 503}),
		"The next 2 reminders will be answered 503 with Retry-After 3 s.":              f(1, 1, refserver.Fault{Operation: refserver.SendReminder, Times: 3, Status: 503, RetryAfter: "3"}),
		"The next reminder will be answered 503.":                                      f(2, 2, refserver.Fault{Operation: refserver.SendReminder, Times: 3, Status: 503}),
		"Nothing any more. It happened to 3 reminders, which were to be answered 503.": f(5, 3, refserver.Fault{Operation: refserver.SendReminder, Times: 3, Status: 503}),
		"The next send will do its work and lose its connection without an answer.":    f(0, 0, refserver.Fault{Operation: refserver.Send, Times: 1, Reset: true, AfterWork: true}),
		"Of the requests to void a document about " + id + " from now on, number 3 will wait for 1m30s and be answered 200 with the body \"{\".": f(0, 0,
			refserver.Fault{Operation: refserver.VoidDocument, DocumentID: id, Nth: 3, Latency: 90 * time.Second, Body: "{"}),
		"The next request to list documents will be answered 500.":                                             f(2, 0, refserver.Fault{Operation: refserver.ListDocuments, Nth: 3, Status: 500}),
		"Nothing any more. It happened to 1 request, which was to be answered 500.":                            f(3, 1, refserver.Fault{Nth: 3, Status: 500}),
		"Of the requests from now on, number 2 and the 3 after it will be answered 500.":                       f(0, 0, refserver.Fault{Nth: 2, Times: 4, Status: 500}),
		"4 times at most, every request has a chance of 12.5 % to be answered 500.":                            f(7, 0, refserver.Fault{Times: 4, Probability: 0.125, Status: 500}),
		"3 more times at most, each of the requests from number 2 on has a chance of 50 % to be answered 500.": f(1, 1, refserver.Fault{Nth: 3, Times: 4, Probability: 0.5, Status: 500}),
		"Once more at most, every reminder has a chance of 50 % to be answered 500.":                           f(9, 3, refserver.Fault{Operation: refserver.SendReminder, Times: 4, Probability: 0.5, Status: 500}),
		"Every request has a chance of 50 % to be answered 500.":                                               f(9, 3, refserver.Fault{Probability: 0.5, Status: 500}),
		"Every request has a chance of 99.9999 % to be answered 500.":                                          f(0, 0, refserver.Fault{Probability: 0.999999, Status: 500}),
		"Every request has a chance of 99.99999999999999 % to be answered 500.":                                f(0, 0, refserver.Fault{Probability: 0.9999999999999999, Status: 500}),
		"Every request has a chance of 0.00001 % to be answered 500.":                                          f(0, 0, refserver.Fault{Probability: 1e-7, Status: 500}),
		"Every request has a chance of 7 % to be answered 500.":                                                f(0, 0, refserver.Fault{Probability: 0.07, Status: 500}),
		"Of the requests from now on, number 2 has a chance of 50 % to be answered 500.":                       f(1, 0, refserver.Fault{Nth: 3, Probability: 0.5, Status: 500}),
		"The next 2 sends will do their work and lose their connection after 1 byte of their answer, if there is more.": f(0, 0,
			refserver.Fault{Operation: refserver.Send, Times: 2, AfterWork: true, Cut: 1}),
		"Every request will do its work, wait for 2h and be answered 200 with the type text/html and the body \"<h1>\".": f(0, 0,
			refserver.Fault{AfterWork: true, Latency: 2 * time.Hour, Status: 200, ContentType: "text/html", Body: "<h1>"}),
		"Every request will get statuses and fields that no client knows, get texts for numbers and numbers for texts, get a byte of its answer each 5ms and lose its connection after 10 bytes of its answer, if there is more.": f(0, 0,
			refserver.Fault{Unknown: true, WrongTypes: true, Drip: 5 * time.Millisecond, Cut: 10}),

		"The next 2 delivery attempts will get lost.": w(0, 0, refserver.WebhookFault{Drop: true, Times: 2}),
		"Every attempt of a delivery not yet delayed of new_form_response about " + id + " to webhook wh will be made 2s later, be made twice, be signed with the secret of this fault and have a timestamp 1h in the past.": w(0, 0,
			refserver.WebhookFault{EventType: "new_form_response", DocumentID: id, WebhookID: "wh", Delay: 2 * time.Second, Duplicate: true, Secret: "hush", Shift: -time.Hour}),
		"Every delivery attempt will lack the header x-signature, lack webhookEvent, have a field of 9 bytes more in each event and be indented and escaped after it was signed.": w(0, 0,
			refserver.WebhookFault{OmitHeader: "x-signature", OmitType: true, Pad: 9, Reencode: true}),
		"Every delivery attempt will have a timestamp 5m in the future and have the webhookEvent \"new\".": w(0, 0, refserver.WebhookFault{Shift: 5 * time.Minute, Type: "new"}),
	} {
		require.Equal(t, want, fault.String())
	}
}

// TestSentencesOfFaultsShowWhereTextsAreCut: what is no longer than the limit stands there whole.
func TestSentencesOfFaultsShowWhereTextsAreCut(t *testing.T) {
	text := func(n int) string { return strings.Repeat("é", n) }
	requests := refserver.Fault{DocumentID: text(61), Status: 500, RetryAfter: text(61), ContentType: text(61), Body: text(201)}
	require.Equal(t, "Every request about "+text(59)+"… will be answered 500 with Retry-After "+text(59)+"…, the type "+text(59)+`… and the body "`+text(199)+`…".`,
		refserver.ActiveFault{Fault: &requests}.String())
	requests.DocumentID, requests.RetryAfter, requests.ContentType, requests.Body = text(60), text(60), text(60), text(200)
	require.NotContains(t, refserver.ActiveFault{Fault: &requests}.String(), "…")

	deliveries := refserver.WebhookFault{WebhookID: text(61), Type: text(61)}
	require.Equal(t, "Every delivery attempt to webhook "+text(59)+`… will have the webhookEvent "`+text(59)+`…".`, refserver.ActiveFault{WebhookFault: &deliveries}.String())
}

func TestFaultsSayWhenTheyHappened(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	srv.Fail(refserver.Fault{Status: 503, Body: "{}", Times: 1})
	require.Zero(t, srv.Faults()[0].LastAt)
	before := srv.Now()
	call(t, srv, "GET", "/get-documents", "{}")
	after := srv.Now()
	srv.Advance(time.Hour)
	call(t, srv, "GET", "/get-documents", "{}") // the fault is used up
	last := srv.Faults()[0].LastAt
	require.False(t, last.Before(before) || last.After(after), "%v", last)
}

func TestFaultsAreListedInTheOrderInWhichTheyWereSet(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	srv.FailWebhooks(refserver.WebhookFault{Drop: true})
	srv.Fail(refserver.Fault{Status: 503})
	srv.FailWebhooks(refserver.WebhookFault{Duplicate: true})
	var ids []string
	for _, f := range srv.Faults() {
		ids = append(ids, f.ID)
	}
	require.Equal(t, []string{"flt_1", "flt_2", "flt_3"}, ids)
}

// TestLastAtIsThatOfTheLastHappening, not that of requests that turn out to be spared.
func TestLastAtIsThatOfTheLastHappening(t *testing.T) {
	srv := refserver.NewServer(t, &refserver.Options{Start: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)})
	doc := srv.AddDocument(refserver.Document{Name: strings.Repeat("x", 900), Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	srv.Fail(refserver.Fault{Operation: refserver.ListDocuments, Cut: 600})
	get := func(id string) {
		req, _ := http.NewRequest(http.MethodGet, srv.URL+"/get-documents?documentId="+id, nil)
		req.Header.Set("x-api-key", srv.APIKey)
		if resp, err := srv.HTTPClient().Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	get(doc)
	last := srv.Now()
	for range 100 {
		srv.Advance(time.Minute)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { get("ffffffffffffffffffffffff") })
		}
		all.Wait()
		f := srv.Faults()[0]
		require.Equal(t, 1, f.Happened)
		require.Equal(t, last, f.LastAt)
	}
}
