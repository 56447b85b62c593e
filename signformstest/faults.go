package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
)

// Fault makes API requests go wrong on purpose. Operation and DocumentID select requests, Nth, Times and Probability
// say which of these it happens to, and the other fields say what happens:
//
//	srv.Fail(signformstest.Fault{Status: 503})                                               // every request is refused
//	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, AfterWork: true}) // every send works, and its answer is lost
//	srv.Fail(signformstest.Fault{DocumentID: lease, Nth: 2, Status: 500})                    // the second request about the lease fails
//	srv.Fail(signformstest.Fault{Times: 3, Status: 429, RetryAfter: "1"})                    // the next three requests are too many
//
// A request that is refused for its path, its method, its key, its body or the reminder limit matches no fault. The
// faults that match a request are asked in the order in which they were set. Each counts the request, until one happens
// to it: those after it do not count it. What happens can be combined. With Latency alone, the answer is as usual.
type Fault struct {
	Operation   signforms.Operation // as in signforms.OpSend; empty: any
	DocumentID  string              // a documentId, templateId, formId, createdDocumentId or responseId that the request carries; empty: any
	Nth         int                 // number of the match, from 1, on which it happens, and with Times on later ones too; 0: from the first on
	Times       int                 // happens this often at most; 0: no limit
	Probability float64             // of happening on each of those, 0 to 1, from Options.Seed; 0: certain, as is 1

	AfterWork  bool          // do the work first, so that its answer gets lost or is wrong
	Latency    time.Duration // wait this long, by the wall clock; with AfterWork after the work
	Reset      bool          // reset the connection instead of answering; net/http repeats a GET then if the connection was used before
	Status     int           // answer with this status, 200 to 599, and do no work unless AfterWork is set; 0: that of the work, or 200 with Body
	Body       string        // answer with this body, and do no work unless AfterWork is set; empty: that of the work, or with Status none
	RetryAfter string        // Retry-After header of the answer; empty: none, or the service's own
	Cut        int           // break the connection after this many bytes of the answer's body; 0, or no fewer than it has: not at all
	Odd        bool          // put values that no client knows into the answer, and a new field into each object
}

// WebhookFault makes webhook attempts go wrong on purpose. WebhookID, DocumentID and EventType select attempts, Nth,
// Times and Probability say which of these it happens to, and the other fields say what happens:
//
//	srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Times: 2})                       // the next two attempts get lost
//	srv.FailWebhooks(signformstest.WebhookFault{WebhookID: hook, Nth: 1, Secret: "a guess"}) // a forged one
//	srv.FailWebhooks(signformstest.WebhookFault{EventType: "new_template_response", Duplicate: true})
//
// Each attempt of a delivery is matched on its own. The faults that match it are asked in the order in which they were
// set. Each counts the attempt, until one happens to it. A changed body or timestamp is signed again, so that the
// delivery stays genuine, except with Secret and Reencode. Attempts for different webhooks run concurrently: set
// WebhookID if it matters which of them Nth and Times count.
type WebhookFault struct {
	WebhookID   string    // as AddWebhook returned it; empty: any
	DocumentID  string    // of the document, template, form, createdDocumentId or form response that an event is about, now or later; empty: any
	EventType   EventType // as in "new_template_response"; empty: any
	Nth         int       // number of the match, from 1, on which it happens, and with Times on later ones too; 0: from the first on
	Times       int       // happens this often at most; 0: no limit
	Probability float64   // of happening on each of those, 0 to 1, from Options.Seed and each webhook's own attempts; 0: certain, as is 1

	Drop      bool          // lose the request on its way: the attempt fails, the next follows the schedule
	Delay     time.Duration // make the attempt this much later by the service's clock, once per delivery, so that others overtake it
	Duplicate bool          // send the same request twice
	Secret    string        // sign with this instead of the webhook's secret; empty: with that
	Shift     time.Duration // add this to x-timestamp, in whole seconds, or milliseconds if it has them: negative for a stale one
	Type      string        // write this as webhookEvent; empty: the event's own
	OmitType  bool          // leave out webhookEvent
	Reencode  bool          // indent the body and escape it for HTML after it was signed, as proxies do
}

// Fail makes API requests go wrong from now on. The function that it returns takes the fault back, and does nothing
// once the server is closed. An invalid fault fails the test.
func (s *Server) Fail(f Fault) (remove func()) {
	s.t.Helper()
	id := s.must("Fail")(s.service.Fail(f.internal()))
	return func() { s.service.RemoveFault(id) }
}

// FailWebhooks makes webhook attempts go wrong from now on. The function that it returns takes the fault back, and does
// nothing once the server is closed. An invalid fault fails the test.
func (s *Server) FailWebhooks(f WebhookFault) (remove func()) {
	s.t.Helper()
	id := s.must("FailWebhooks")(s.service.FailWebhooks(f.internal()))
	return func() { s.service.RemoveFault(id) }
}
