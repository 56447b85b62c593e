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
	Operation   Operation `json:"operation,omitempty"`   // as in signforms.OpSend; empty: any
	DocumentID  string    `json:"documentId,omitempty"`  // a documentId, templateId, formId, createdDocumentId or responseId that the request carries, of a record or not; empty: any
	Nth         int       `json:"nth,omitempty"`         // number of the match, from 1, on which it happens, and with Times on later ones too; 0: from the first on
	Times       int       `json:"times,omitempty"`       // happens this often at most; 0: no limit
	Probability float64   `json:"probability,omitempty"` // of happening on each of those, 0 to 1, from Options.Seed; 0: certain, as is 1

	AfterWork  bool          `json:"afterWork,omitempty"`  // do the work first, so that its answer gets lost or is wrong
	Latency    time.Duration `json:"latency,omitempty"`    // wait this long, by the wall clock; with AfterWork after the work; 0: not at all
	Reset      bool          `json:"reset,omitempty"`      // reset the connection instead of answering; net/http repeats a GET then if the connection was used before
	Status     int           `json:"status,omitempty"`     // answer with this status, 200 to 599, and do no work unless AfterWork is set; 0: that of the work, or 200 with Body
	Body       string        `json:"body,omitempty"`       // answer with this body, and do no work unless AfterWork is set; empty: that of the work, or with Status none
	RetryAfter string        `json:"retryAfter,omitempty"` // Retry-After header of the answer, any text without control characters; empty: none, or the service's own
	Cut        int           `json:"cut,omitempty"`        // break the connection after this many bytes of the answer's body; 0, or no fewer than it has: not at all
	Unknown    bool          `json:"unknown,omitempty"`    // put statuses that no client knows into the answer, and a new field into each object
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
	WebhookID   string  `json:"webhookId,omitempty"`   // as AddWebhook returned it, of a webhook that there is; empty: any
	DocumentID  string  `json:"documentId,omitempty"`  // of the document, template, form, createdDocumentId or form response that an event is about, now or later; empty: any
	EventType   string  `json:"eventType,omitempty"`   // a webhookEvent, as in "new_template_response"; empty: any
	Nth         int     `json:"nth,omitempty"`         // number of the match, from 1, on which it happens, and with Times on later ones too; 0: from the first on
	Times       int     `json:"times,omitempty"`       // happens this often at most; 0: no limit
	Probability float64 `json:"probability,omitempty"` // of happening on each of those, 0 to 1, from Options.Seed and each webhook's own attempts; 0: certain, as is 1

	Drop      bool          `json:"drop,omitempty"`      // lose the request on its way: the attempt fails, the next follows the schedule
	Delay     time.Duration `json:"delay,omitempty"`     // make the attempt this much later by the service's clock, once per delivery, so that others overtake it; set alone
	Duplicate bool          `json:"duplicate,omitempty"` // send the same request twice
	Secret    string        `json:"secret,omitempty"`    // sign with this instead of the webhook's secret; empty: with that
	Shift     time.Duration `json:"shift,omitempty"`     // add this to x-timestamp, in whole seconds, or milliseconds if it has them: negative for a stale one
	OmitType  bool          `json:"omitType,omitempty"`  // leave out webhookEvent
	Type      string        `json:"type,omitempty"`      // write this as webhookEvent; empty: the event's own
	Reencode  bool          `json:"reencode,omitempty"`  // indent the body and escape it for HTML after it was signed, as proxies do
}

// maxFaultBody is the maximum length of Fault.Body, in characters: twice what this module's client reads of an answer.
const maxFaultBody = 64 << 20

// Fail makes API requests go wrong from now on, and returns the fault's id.
func (s *Server) Fail(f Fault) (id string, err error) {
	plain := strings.TrimSpace(f.RetryAfter) // as HTTP does
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

// FailWebhooks makes webhook attempts go wrong from now on, and returns the fault's id.
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

// checkEffect refuses a fault that does nothing, or more than a delay: what is delayed goes out as it is.
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

// checkWebhook refuses a fault of a webhook that there is not, or of events that the webhook never gets.
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

// wellFormed reports whether a document, template, form or response may have the id. That there is one is not asked: it
// may come later, and a request may name one that never was.
func wellFormed(id string) bool { return signing.IsUUID(id) || signing.IsObjectID(id) }

func malformedID(id string) error {
	return invalid("DocumentID", "%.64q is not an id, which is a UUID or has 24 hexadecimal digits: leave it out for all documents", id)
}

func (s *Server) tellFault(id string) string {
	s.happenings.tell(Happening{Kind: FaultHappening, ID: id, At: s.Now()})
	return id
}

// ActiveFault is a fault that was set and not taken back. One of Fault and WebhookFault is nil.
type ActiveFault struct {
	ID           string        `json:"id"`
	Fault        *Fault        `json:"request,omitempty"`
	WebhookFault *WebhookFault `json:"delivery,omitempty"`
	Matched      int           `json:"matched"`         // requests or attempts so far
	Happened     int           `json:"happened"`        // to how many of them
	LastAt       time.Time     `json:"lastAt,omitzero"` // when it last happened, by the service's clock; zero: it never did
}

// String is the fault as JSON, without its id and counts. Secrets are left out, and long texts are cut.
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

// Faults returns the faults that were set and not taken back, in the order in which they were set.
func (s *Server) Faults() []ActiveFault { return s.faults.active() }

// RemoveFault takes a fault back. An unknown id is an error that matches [ErrNotFound].
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

// ClearFaults takes every fault back. It does nothing once the server is closed.
func (s *Server) ClearFaults() {
	for _, f := range s.Faults() {
		s.RemoveFault(f.ID)
	}
}
