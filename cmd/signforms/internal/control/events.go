package control

import (
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

const (
	// maxReaders is how many readers of events a program has at most.
	maxReaders = 1000
	// takeWithin is how long a client may take to read takeAtOnce events. After that the connection
	// is closed.
	takeWithin = 10 * time.Second
	takeAtOnce = 500
	// gatherFor is the least time between two writes to a reader. Without it, many readers would slow changes down.
	gatherFor = 100 * time.Millisecond
)

var happenings = texts(refserver.TemplateHappening, refserver.FormHappening, refserver.DocumentHappening, refserver.ResponseHappening,
	refserver.WebhookHappening, refserver.DeliveryHappening, refserver.MessageHappening, refserver.AuditHappening,
	refserver.RequestHappening, refserver.FaultHappening, refserver.ClockHappening, refserver.WorkspaceHappening)

// events streams all happenings until the client leaves or the sandbox ends. If a client is too
// slow, its next event contains the number of events that it missed.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	q := readQuery(r)
	kind := q.oneOf("kind", happenings...)
	if err := q.check(); err != nil {
		WriteError(w, asError(err))
		return
	}
	watcher, stop, err := a.watch()
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	defer stop()
	out := newStream(w)
	alive := time.NewTicker(wire.KeepAlive)
	defer alive.Stop()
	for going := out.send([]byte(": what happens from now on\n\n")); going; {
		all, more := watcher.Take()
		var gathered <-chan time.Time
		if len(all) > 0 {
			if !out.tell(all, kind) || all[0].Missed > 0 {
				return
			}
			gathered, more = time.After(gatherFor), nil
		} else if more == nil { // the sandbox is closing
			return
		}
		select {
		case <-more:
		case <-gathered:
		case <-alive.C:
			going = out.send([]byte(": still here\n\n"))
		case <-r.Context().Done():
			return
		}
	}
}

// watch returns a watcher for the happenings from now on. The caller calls stop.
func (a *API) watch() (w *refserver.Watcher, stop func(), err error) {
	if a.Readers.Add(1) > maxReaders {
		a.Readers.Add(-1)
		return nil, nil, failure(http.StatusServiceUnavailable, "busy", "%d clients read the sandbox's events or wait, which is the maximum: end one", maxReaders)
	}
	return a.server.Watch(), func() { a.Readers.Add(-1) }, nil
}

// stream writes server-sent events.
type stream struct {
	w    http.ResponseWriter
	out  *http.ResponseController
	text []byte // buffer for events
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	return &stream{w: w, out: http.NewResponseController(w)}
}

// tell sends the events of one kind, or all events if kind is empty. It returns the result of send.
func (s *stream) tell(all []refserver.Happening, kind string) bool {
	for part := range slices.Chunk(all, takeAtOnce) {
		s.text = s.text[:0]
		for _, h := range part {
			if kind == "" || kind == string(h.Kind) || h.Missed > 0 {
				s.text = append(s.text, h.Event...)
			}
		}
		if !s.send(s.text) {
			return false
		}
	}
	return true
}

// send writes text. It reports whether the client is still connected and reads the text in time.
func (s *stream) send(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	s.out.SetWriteDeadline(time.Now().Add(takeWithin)) // fails if the connection has no deadlines; it then ends with its client
	s.w.Write(text)                                    // Flush returns the error of Write
	return s.out.Flush() == nil
}
