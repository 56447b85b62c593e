package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
)

// Fault makes API requests fail on purpose. Its fields have three purposes:
//
//   - Operation and DocumentID select requests.
//
//   - Nth, Times and Probability choose among the selected requests.
//
//   - The other fields describe the failure:
//
//     srv.Fail(signformstest.Fault{Status: 503})                                               // every request is refused
//     srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, AfterWork: true}) // every send works, and its answer is lost
//     srv.Fail(signformstest.Fault{DocumentID: lease, Nth: 2, Status: 500})                    // the second request about the lease fails
//     srv.Fail(signformstest.Fault{Times: 3, Status: 429, RetryAfter: "1"})                    // the next three requests are too many
//
// A request matches no fault if the service refuses it for its path, method, key or body, or for
// the reminder limit.
//
// If several faults match a request, they are checked in the order in which they were set. Each
// fault that is checked counts the request. The first fault that applies ends the check, so the
// faults after it do not count the request.
//
// Failures can be combined. With Latency alone, the response is the usual one.
type Fault struct {
	Operation   signforms.Operation // such as signforms.OpSend; empty: any
	DocumentID  string              // a documentId, templateId, formId, createdDocumentId or responseId in the request; empty: any
	Nth         int                 // the fault applies to the Nth match, counted from 1, and with Times to later matches too; 0: from the first match on
	Times       int                 // the fault applies at most this often; 0: no limit
	Probability float64             // probability of the fault for each of these matches, from 0 to 1, drawn with Options.Seed; 0: certain, as is 1

	AfterWork  bool          // execute the request first, so that its response is lost or wrong
	Latency    time.Duration // wait this long, by the wall clock; with AfterWork, after executing the request
	Reset      bool          // reset the connection instead of responding; net/http then repeats a GET if the connection was used before
	Status     int           // respond with this status, 200 to 599, and execute nothing unless AfterWork is set; 0: the usual status, or 200 with Body
	Body       string        // respond with this body, and execute nothing unless AfterWork is set; empty: the usual body, or none with Status
	RetryAfter string        // Retry-After header of the response; empty: none, or that of the service
	Cut        int           // break the connection after this many bytes of the response's body; 0, or at least its length: not at all
	Odd        bool          // put values that no client knows into the response, and a new field into each object
}

// WebhookFault makes webhook attempts fail on purpose. Its fields have three purposes:
//
//   - WebhookID, DocumentID and EventType select attempts.
//
//   - Nth, Times and Probability choose among the selected attempts.
//
//   - The other fields describe the failure:
//
//     srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Times: 2})                       // the next two attempts get lost
//     srv.FailWebhooks(signformstest.WebhookFault{WebhookID: hook, Nth: 1, Secret: "a guess"}) // a forged one
//     srv.FailWebhooks(signformstest.WebhookFault{EventType: "new_template_response", Duplicate: true})
//
// Each attempt of a delivery is matched separately. If several faults match an attempt, they are
// checked in the order in which they were set. Each fault that is checked counts the attempt, and
// the first fault that applies ends the check.
//
// A changed body or timestamp is signed again, so that the delivery stays genuine. Secret and
// Reencode are the exceptions.
//
// Attempts for different webhooks run concurrently. Set WebhookID if it matters which attempts Nth
// and Times count.
type WebhookFault struct {
	WebhookID   string    // id that AddWebhook returned; empty: any
	DocumentID  string    // id of the document, template, form, createdDocumentId or form response of an event, now or later; empty: any
	EventType   EventType // such as "new_template_response"; empty: any
	Nth         int       // the fault applies to the Nth match, counted from 1, and with Times to later matches too; 0: from the first match on
	Times       int       // the fault applies at most this often; 0: no limit
	Probability float64   // probability of the fault for each of these matches, from 0 to 1, drawn with Options.Seed for each webhook; 0: certain, as is 1

	Drop      bool          // lose the request before it arrives: the attempt fails, and the next attempt follows the schedule
	Delay     time.Duration // delay the attempt by this time of the service's clock, once per delivery, so that other deliveries overtake it
	Duplicate bool          // send the same request twice
	Secret    string        // sign with this secret; empty: with the webhook's secret
	Shift     time.Duration // add this to x-timestamp, in whole seconds, or in milliseconds if x-timestamp has them; a negative value makes an old timestamp
	Type      string        // write this as webhookEvent; empty: the type of the event
	OmitType  bool          // leave out webhookEvent
	Reencode  bool          // indent the body and escape it for HTML after it was signed, as proxies do
}

// Fail makes API requests fail from now on. The returned function removes the fault; after the
// server is closed, it does nothing. An invalid fault fails the test.
func (s *Server) Fail(f Fault) (remove func()) {
	s.t.Helper()
	id := s.must("Fail")(s.service.Fail(f.internal()))
	return func() { s.service.RemoveFault(id) }
}

// FailWebhooks makes webhook attempts fail from now on. The returned function removes the fault;
// after the server is closed, it does nothing. An invalid fault fails the test.
func (s *Server) FailWebhooks(f WebhookFault) (remove func()) {
	s.t.Helper()
	id := s.must("FailWebhooks")(s.service.FailWebhooks(f.internal()))
	return func() { s.service.RemoveFault(id) }
}
