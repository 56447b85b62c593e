package refserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// HappeningKind is the kind of record or log entry that a [Happening] reports.
type HappeningKind string

// The kinds of happenings.
const (
	TemplateHappening  HappeningKind = "template"
	FormHappening      HappeningKind = "form"
	DocumentHappening  HappeningKind = "document"
	ResponseHappening  HappeningKind = "response" // a form response
	WebhookHappening   HappeningKind = "webhook"
	DeliveryHappening  HappeningKind = "delivery"
	MessageHappening   HappeningKind = "message"
	AuditHappening     HappeningKind = "audit"
	RequestHappening   HappeningKind = "request"
	FaultHappening     HappeningKind = "fault"
	ClockHappening     HappeningKind = "clock"
	WorkspaceHappening HappeningKind = "workspace" // an API key was added, or everything was reset
)

// Happening reports that a record was added, changed or deleted, or that something else happened.
// It does not contain the record; look the record up.
type Happening struct {
	Kind   HappeningKind `json:"kind"`
	ID     string        `json:"id,omitempty"`     // id of the record or fault; for messages and audit entries, the id of their document or form; otherwise empty
	At     time.Time     `json:"at"`               // by the service's clock
	Missed int           `json:"missed,omitempty"` // how many earlier happenings were dropped because the watcher did not take them in time

	Event []byte `json:"-"` // the JSON as a server-sent event, made once for all watchers; do not change it
}

// event returns h as a server-sent event.
func (h Happening) event() []byte {
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // cannot fail: h has only texts, a number and a time
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", h.Kind, data)
}

// maxWaiting is how many happenings wait at most for a [Watcher] to take them.
const maxWaiting = 8192

// Watcher takes happenings. It must be used by one goroutine only.
type Watcher struct {
	of   *happenings
	next int // number of the next happening that it takes
}

// Watch returns a Watcher for the happenings from now on.
func (s *Server) Watch() *Watcher {
	s.watching.Do(func() { s.store.OnChange(s.publishChanges) })
	s.happenings.mu.Lock()
	defer s.happenings.mu.Unlock()
	s.happenings.watched = true
	return &Watcher{&s.happenings, s.happenings.n}
}

// Take returns the happenings since the last Take, in order. All of them are durable. Do not change
// them. If there are more than 8,192, Take returns only the newest, and the field Missed has the
// number of the others. The channel more is closed at the next happening; it is nil if the server
// is closed.
func (w *Watcher) Take() (all []Happening, more <-chan struct{}) {
	hs := w.of
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if missed := hs.n - w.next - 1; missed >= maxWaiting {
		newest := hs.newest[len(hs.newest)-1]
		newest.Missed = missed
		newest.Event = newest.event()
		all = []Happening{newest}
	} else {
		all = hs.newest[len(hs.newest)-(hs.n-w.next):]
	}
	w.next = hs.n
	if hs.more == nil && !hs.closed {
		hs.more = make(chan struct{})
	}
	return all, hs.more
}

var happeningKinds = map[store.Kind]HappeningKind{
	store.KindTemplate: TemplateHappening, store.KindForm: FormHappening, store.KindDocument: DocumentHappening,
	store.KindResponse: ResponseHappening, store.KindWebhook: WebhookHappening, store.KindDelivery: DeliveryHappening,
	store.KindAudit: AuditHappening, store.KindMessage: MessageHappening, store.KindKey: WorkspaceHappening,
}

// publishChanges notifies the watchers of the writes of a transaction, once for each record.
func (s *Server) publishChanges(writes []store.Write) {
	at, told := s.Now(), map[string]bool{}
	for _, w := range writes {
		if kind, ok := happeningKinds[w.Kind]; ok {
			for _, id := range w.About() {
				if about := string(kind) + id; !told[about] {
					told[about] = true
					s.happenings.publish(Happening{Kind: kind, ID: id, At: at})
				}
			}
		}
	}
}

// happenings are the happenings since somebody began to watch: at least the newest maxWaiting. All
// watchers share them.
type happenings struct {
	mu      sync.Mutex
	watched bool
	newest  []Happening   // its elements are never changed, because watchers read them without the mutex
	n       int           // number of all happenings so far
	more    chan struct{} // closed at the next happening; nil: nobody waits for it
	closed  bool
}

// publish adds h, and wakes the waiting watchers.
func (hs *happenings) publish(h Happening) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if !hs.watched || hs.closed {
		return
	}
	if len(hs.newest) == 2*maxWaiting {
		hs.newest = slices.Clone(hs.newest[maxWaiting:])
	}
	h.At = h.At.UTC()
	h.Event = h.event()
	hs.newest = append(hs.newest, h)
	hs.n++
	hs.wake()
}

func (hs *happenings) wake() {
	if hs.more != nil {
		close(hs.more)
		hs.more = nil
	}
}

// close ends the watching.
func (hs *happenings) close() {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.closed = true
	hs.wake()
}
