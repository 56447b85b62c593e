package refserver

import (
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// HappeningKind says what a [Happening] is about.
type HappeningKind string

// The kinds of happenings.
const (
	TemplateHappening  HappeningKind = "template"
	FormHappening      HappeningKind = "form"
	DocumentHappening  HappeningKind = "document"
	ResponseHappening  HappeningKind = "response" // of a form
	WebhookHappening   HappeningKind = "webhook"
	DeliveryHappening  HappeningKind = "delivery"
	MessageHappening   HappeningKind = "message"
	AuditHappening     HappeningKind = "audit"
	RequestHappening   HappeningKind = "request"
	FaultHappening     HappeningKind = "fault"
	ClockHappening     HappeningKind = "clock"
	WorkspaceHappening HappeningKind = "workspace" // another API key, or all was reset
)

// Happening says that a record was added, changed or deleted, or that something else happened. It does not contain the record:
// look that up.
type Happening struct {
	Kind   HappeningKind `json:"kind"`
	ID     string        `json:"id,omitempty"`     // of the record or fault; for messages and audit entries that of their document or form; else empty
	At     time.Time     `json:"at"`               // by the service's clock
	Missed int           `json:"missed,omitempty"` // how many happenings before this one were dropped because they were not received in time
}

// Watch returns a channel that gets what happens from now on, in order, once it is durable. It holds at most buffer happenings,
// at least 1. When it is full, the oldest is dropped and the newest counts it in Missed. The caller calls stop, which closes the
// channel; closing the server closes it too.
func (s *Server) Watch(buffer int) (happenings <-chan Happening, stop func()) {
	ch := make(chan Happening, max(buffer, 1))
	s.watching.Do(func() { s.store.OnChange(s.tellChanges) })
	s.watchers.add(ch)
	return ch, func() { s.watchers.remove(ch) }
}

var happeningKinds = map[store.Kind]HappeningKind{
	store.KindTemplate: TemplateHappening, store.KindForm: FormHappening, store.KindDocument: DocumentHappening,
	store.KindResponse: ResponseHappening, store.KindWebhook: WebhookHappening, store.KindDelivery: DeliveryHappening,
	store.KindAudit: AuditHappening, store.KindMessage: MessageHappening, store.KindKey: WorkspaceHappening,
}

// tellChanges tells the watchers what a transaction wrote.
func (s *Server) tellChanges(writes []store.Write) {
	at := s.Now()
	for _, w := range writes {
		if kind, ok := happeningKinds[w.Kind]; ok {
			for _, id := range w.About() {
				s.watchers.tell(Happening{Kind: kind, ID: id, At: at})
			}
		}
	}
}

// watchers are the channels of Watch. The mutex is held while a channel is sent to or closed.
type watchers struct {
	mu     sync.Mutex
	all    map[chan Happening]bool
	closed bool
}

func (ws *watchers) add(ch chan Happening) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		close(ch)
		return
	}
	if ws.all == nil {
		ws.all = make(map[chan Happening]bool)
	}
	ws.all[ch] = true
}

func (ws *watchers) remove(ch chan Happening) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all[ch] {
		delete(ws.all, ch)
		close(ch)
	}
}

// tell sends h to every channel without waiting.
func (ws *watchers) tell(h Happening) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for ch := range ws.all {
		push(ch, h)
	}
}

// push sends h. When the channel is full, it drops the oldest happenings and counts them in h.Missed.
func push(ch chan Happening, h Happening) {
	for {
		select {
		case ch <- h:
			return
		default:
		}
		select {
		case oldest := <-ch:
			h.Missed += 1 + oldest.Missed
		default: // the receiver was faster
		}
	}
}

// close ends every channel.
func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for ch := range ws.all {
		close(ch)
	}
	clear(ws.all)
}
