package refserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
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
	Operation   Operation `json:"operation,omitempty"`   // such as signforms.OpSend; empty: any
	DocumentID  string    `json:"documentId,omitempty"`  // a documentId, templateId, formId, createdDocumentId or responseId in the request, whether or not a record has it; empty: any
	Nth         int       `json:"nth,omitempty"`         // the fault applies to the Nth match, counted from 1, and with Times to later matches too; 0: from the first match on
	Times       int       `json:"times,omitempty"`       // the fault applies at most this often; 0: no limit
	Probability float64   `json:"probability,omitempty"` // probability of the fault for each of these matches, from 0 to 1, drawn with Options.Seed; 0: certain, as is 1

	AfterWork  bool          `json:"afterWork,omitempty"`  // execute the request first, so that its response is lost or wrong
	Latency    time.Duration `json:"latency,omitempty"`    // wait this long, by the wall clock; with AfterWork, after executing the request; 0: not at all
	Reset      bool          `json:"reset,omitempty"`      // reset the connection instead of responding; net/http then repeats a GET if the connection was used before
	Status     int           `json:"status,omitempty"`     // respond with this status, 200 to 599, and execute nothing unless AfterWork is set; 0: the usual status, or 200 with Body
	Body       string        `json:"body,omitempty"`       // respond with this body, and execute nothing unless AfterWork is set; empty: the usual body, or none with Status
	RetryAfter string        `json:"retryAfter,omitempty"` // Retry-After header of the response, any text without control characters; empty: none, or that of the service
	Cut        int           `json:"cut,omitempty"`        // break the connection after this many bytes of the response's body; 0, or at least its length: not at all
	Unknown    bool          `json:"unknown,omitempty"`    // put statuses that no client knows into the response, and a new field into each object
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
	WebhookID   string  `json:"webhookId,omitempty"`   // id of an existing webhook, as AddWebhook returned it; empty: any
	DocumentID  string  `json:"documentId,omitempty"`  // id of the document, template, form, createdDocumentId or form response of an event, now or later; empty: any
	EventType   string  `json:"eventType,omitempty"`   // a webhookEvent such as "new_template_response"; empty: any
	Nth         int     `json:"nth,omitempty"`         // the fault applies to the Nth match, counted from 1, and with Times to later matches too; 0: from the first match on
	Times       int     `json:"times,omitempty"`       // the fault applies at most this often; 0: no limit
	Probability float64 `json:"probability,omitempty"` // probability of the fault for each of these matches, from 0 to 1, drawn with Options.Seed for each webhook; 0: certain, as is 1

	Drop      bool          `json:"drop,omitempty"`      // lose the request before it arrives: the attempt fails, and the next attempt follows the schedule
	Delay     time.Duration `json:"delay,omitempty"`     // delay the attempt by this time of the service's clock, once per delivery, so that other deliveries overtake it; excludes the other failures
	Duplicate bool          `json:"duplicate,omitempty"` // send the same request twice
	Secret    string        `json:"secret,omitempty"`    // sign with this secret; empty: with the webhook's secret
	Shift     time.Duration `json:"shift,omitempty"`     // add this to x-timestamp, in whole seconds, or in milliseconds if x-timestamp has them; a negative value makes an old timestamp
	OmitType  bool          `json:"omitType,omitempty"`  // leave out webhookEvent
	Type      string        `json:"type,omitempty"`      // write this as webhookEvent; empty: the type of the event
	Reencode  bool          `json:"reencode,omitempty"`  // indent the body and escape it for HTML after it was signed, as proxies do
}

// maxFaultBody is the maximum length of Fault.Body, in characters: twice the bytes that this
// module's client reads of a response.
const maxFaultBody = 64 << 20

// Fail makes API requests fail from now on, and returns the fault's id.
func (s *Server) Fail(f Fault) (id string, err error) {
	plain := strings.TrimSpace(f.RetryAfter) // HTTP trims the value too
	err = cmp.Or(checkName("DocumentID", f.DocumentID), checkName("RetryAfter", f.RetryAfter), signing.CheckLength("Body", f.Body, maxFaultBody),
		notNegative("Nth", f.Nth), notNegative("Times", f.Times), notNegative("Cut", f.Cut), notNegative("Latency", f.Latency))
	switch {
	case err != nil:
		return "", err
	case strings.ContainsFunc(f.RetryAfter, unicode.IsControl):
		return "", invalid("RetryAfter", "has a control character, which no header can have")
	case plain == "" && f.RetryAfter != "":
		return "", invalid("RetryAfter", "has only spaces, which no header keeps")
	case s.store.Closed():
		return "", store.ErrClosed
	case f.Operation != "" && !slices.Contains(Operations(), f.Operation):
		return "", invalid("Operation", "%.64q is not one of the service's: %s", f.Operation, signing.Quoted(Operations()))
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return "", invalid("Status", "%d is not 200 to 599", f.Status)
	case !(f.Probability >= 0 && f.Probability <= 1):
		return "", invalid("Probability", "%v is not 0 to 1", f.Probability)
	case f.DocumentID != "" && !wellFormed(f.DocumentID):
		return "", malformedID(f.DocumentID)
	}
	f.RetryAfter = plain
	effect := f
	effect.Operation, effect.DocumentID, effect.Nth, effect.Times, effect.Probability, effect.AfterWork = "", "", 0, 0, 0, false
	if effect == (Fault{}) {
		return "", invalid("", "the fault does nothing: say what goes wrong, as in Status 503")
	}
	return s.tellFault(s.faults.add(ActiveFault{Fault: &f}, occurrence{f.Nth, f.Times, f.Probability})), nil
}

// FailWebhooks makes webhook attempts fail from now on, and returns the fault's id.
func (s *Server) FailWebhooks(f WebhookFault) (id string, err error) {
	err = cmp.Or(checkName("Secret", f.Secret), checkName("Type", f.Type),
		notNegative("Nth", f.Nth), notNegative("Times", f.Times), notNegative("Delay", f.Delay))
	switch {
	case err != nil:
		return "", err
	case s.store.Closed():
		return "", store.ErrClosed
	case f.EventType != "" && !slices.Contains(signing.EventTypes[:], signing.EventType(f.EventType)):
		return "", invalid("EventType", "%.64q is not one of the service's: %s", f.EventType, signing.Quoted(signing.EventTypes[:]))
	case !(f.Probability >= 0 && f.Probability <= 1):
		return "", invalid("Probability", "%v is not 0 to 1", f.Probability)
	case f.DocumentID != "" && !wellFormed(f.DocumentID):
		return "", malformedID(f.DocumentID)
	case s.options.Profile.Timestamps == UnixSeconds && f.Shift%time.Second != 0:
		return "", invalid("Shift", "%v is not a whole number of seconds, as x-timestamp is", f.Shift)
	case f.Shift%time.Millisecond != 0:
		return "", invalid("Shift", "%v is not a whole number of milliseconds, as x-timestamp is", f.Shift)
	}
	if err := cmp.Or(f.checkEffect(), s.checkWebhook(f)); err != nil {
		return "", err
	}
	f.DocumentID = strings.ToLower(f.DocumentID)
	return s.tellFault(s.faults.add(ActiveFault{WebhookFault: &f}, occurrence{f.Nth, f.Times, f.Probability})), nil
}

// checkEffect refuses a fault without an effect. It also refuses a delay together with another
// effect, because a delayed attempt is sent unchanged.
func (f WebhookFault) checkEffect() error {
	f.WebhookID, f.DocumentID, f.EventType, f.Nth, f.Times, f.Probability = "", "", "", 0, 0, 0
	switch {
	case f == WebhookFault{}:
		return invalid("", "the fault does nothing: say what goes wrong, as in Drop")
	case f.Delay > 0 && f != WebhookFault{Delay: f.Delay}:
		return invalid("Delay", "goes alone: set what else is to happen as a fault of its own")
	}
	return nil
}

// checkWebhook refuses a fault of a webhook that does not exist, or of events that the webhook
// never gets.
func (s *Server) checkWebhook(f WebhookFault) error {
	if f.WebhookID == "" {
		return nil
	}
	return s.store.View(func(tx *store.Tx) error {
		w, err := tx.Webhook(f.WebhookID)
		switch {
		case err != nil:
			return invalid("WebhookID", "there is no webhook %.64q: add the webhook first, or leave the id out for all webhooks", f.WebhookID)
		case f.EventType != "" && signing.EventType(f.EventType).Family() != w.Family:
			return invalid("EventType", "%q is never delivered to this webhook, which has the event %q", f.EventType, w.Family)
		}
		return nil
	})
}

// wellFormed reports whether a document, template, form or response may have the id. It does not
// check that the record exists, because the record may be added later, and a request may name a
// record that never existed.
func wellFormed(id string) bool { return signing.IsUUID(id) || signing.IsObjectID(id) }

func malformedID(id string) error {
	return invalid("DocumentID", "%.64q is not an id, which is a UUID or has 24 hexadecimal digits: leave it out for all documents", id)
}

func (s *Server) tellFault(id string) string {
	s.happenings.publish(Happening{Kind: FaultHappening, ID: id, At: s.Now()})
	return id
}

// ActiveFault is a fault that was set and not removed. Either Fault or WebhookFault is nil.
type ActiveFault struct {
	ID           string        `json:"id"`
	Fault        *Fault        `json:"request,omitempty"`
	WebhookFault *WebhookFault `json:"delivery,omitempty"`
	Matched      int           `json:"matched"`         // matching requests or attempts so far
	Happened     int           `json:"happened"`        // to how many of them the fault applied
	LastAt       time.Time     `json:"lastAt,omitzero"` // when the fault last applied, by the service's clock; zero: never
}

// String returns the fault as JSON, without its id and counts. Secrets are left out, and long texts
// are cut.
func (f ActiveFault) String() string {
	lasting := func(d time.Duration) string { return strings.TrimPrefix(d.String(), "0s") }
	var shown any
	if f.Fault != nil {
		shown = struct {
			Fault
			Latency string `json:"latency,omitempty"`
		}{*f.Fault, lasting(f.Fault.Latency)}
	} else {
		w := *f.WebhookFault
		if w.Secret != "" {
			w.Secret = redacted
		}
		shown = struct {
			WebhookFault
			Delay string `json:"delay,omitempty"`
			Shift string `json:"shift,omitempty"`
		}{w, lasting(w.Delay), lasting(w.Shift)}
	}
	text, _ := json.Marshal(shown)
	return string([]rune(string(text[:min(len(text), 1200)]))[:min(300, utf8.RuneCount(text))])
}

// Faults returns the faults that were set and not removed, in the order in which they were set.
func (s *Server) Faults() []ActiveFault { return s.faults.active() }

// RemoveFault removes a fault. An unknown id is an error that matches [ErrNotFound].
func (s *Server) RemoveFault(id string) error {
	if s.store.Closed() {
		return store.ErrClosed
	}
	if !s.faults.remove(id) {
		return &failure{fmt.Errorf("no fault with id %.64q", id), ErrNotFound}
	}
	s.tellFault(id)
	return nil
}

// ClearFaults removes every fault. After the server is closed, it does nothing.
func (s *Server) ClearFaults() {
	for _, f := range s.Faults() {
		s.RemoveFault(f.ID)
	}
}
