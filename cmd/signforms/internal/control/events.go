package control

import (
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

const (
	// maxWaitingEvents is how many events wait for a reader to take them.
	maxWaitingEvents = 8192
	// maxReaders is how many readers of events a program has at a time.
	maxReaders = 1000
	// takeWithin is how long room for takeAtOnce bytes of a stream may take to come free. After that its connection is closed.
	takeWithin = 10 * time.Second
	takeAtOnce = 16 << 10
	// gatherFor is the least time between two writes to a reader. Without it, many readers would slow changes down.
	gatherFor = 100 * time.Millisecond
)

var happenings = texts(refserver.TemplateHappening, refserver.FormHappening, refserver.DocumentHappening, refserver.ResponseHappening,
	refserver.WebhookHappening, refserver.DeliveryHappening, refserver.MessageHappening, refserver.AuditHappening,
	refserver.RequestHappening, refserver.FaultHappening, refserver.ClockHappening, refserver.WorkspaceHappening)

// events streams everything that happens until the client leaves or the sandbox ends. A client that is too slow is told how many
// events it missed, with the last one that it gets.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	q := readQuery(r)
	kind := q.oneOf("kind", happenings...)
	if err := q.check(); err != nil {
		WriteError(w, asError(err))
		return
	}
	watched, stop, err := a.watch(maxWaitingEvents)
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	defer stop()
	out := newStream(w)
	alive := time.NewTicker(wire.KeepAlive)
	defer alive.Stop()
	text, more := []byte(": what happens from now on\n\n"), true
	for out.send(text) && more {
		select {
		case <-time.After(gatherFor):
		case <-r.Context().Done():
			return
		}
		select {
		case h, open := <-watched:
			text, more = gather(watched, h, open, kind)
		case <-alive.C:
			text = []byte(": still here\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

// gather returns the events of a kind, or of all, that are there, beginning with h. It reports whether more may come.
func gather(watched <-chan refserver.Happening, h refserver.Happening, open bool, kind string) (text []byte, more bool) {
	for open {
		h.At = h.At.UTC()
		if h.Missed > 0 {
			return append(text, event(string(h.Kind), h)...), false
		}
		if kind == "" || kind == string(h.Kind) {
			text = appendEvent(text, h)
		}
		select {
		case h, open = <-watched:
		default:
			return text, true
		}
	}
	return text, false
}

// appendEvent appends what event returns, in a fraction of its time: kinds and ids need no escapes.
func appendEvent(text []byte, h refserver.Happening) []byte {
	for _, part := range []string{"event: ", string(h.Kind), "\ndata: {\"kind\":\"", string(h.Kind), "\",\"id\":\"", h.ID, "\",\"at\":\""} {
		text = append(text, part...)
	}
	return append(h.At.AppendFormat(text, time.RFC3339Nano), "\"}\n\n"...)
}

// watch returns what happens from now on: the newest of it, as many as it says, until the caller takes them. The caller calls stop.
func (a *API) watch(waiting int) (happenings <-chan refserver.Happening, stop func(), err error) {
	if a.Readers.Add(1) > maxReaders {
		a.Readers.Add(-1)
		return nil, nil, failure(http.StatusServiceUnavailable, "busy", "%d clients read the sandbox's events or wait, and there may be no more: end one", maxReaders)
	}
	happenings, end := a.server.Watch(waiting)
	return happenings, func() {
		end()
		a.Readers.Add(-1)
	}, nil
}

// stream writes server-sent events.
type stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	return &stream{w, http.NewResponseController(w)}
}

// send writes text, and reports whether the client is still there and takes it in time.
func (s *stream) send(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	for part := range slices.Chunk(text, takeAtOnce) {
		s.out.SetWriteDeadline(time.Now().Add(takeWithin)) // a connection that has no deadlines ends with its client
		s.w.Write(part)                                    // Flush returns the error
		if s.out.Flush() != nil {
			return false
		}
	}
	return true
}
