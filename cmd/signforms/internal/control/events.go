package control

import (
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

const (
	// takeWithin is how long room for takeAtOnce bytes of a stream may take to come free. After that its connection is closed.
	takeWithin = 10 * time.Second
	takeAtOnce = 16 << 10
)

var happenings = texts(refserver.TemplateHappening, refserver.FormHappening, refserver.DocumentHappening, refserver.ResponseHappening,
	refserver.WebhookHappening, refserver.DeliveryHappening, refserver.MessageHappening, refserver.AuditHappening,
	refserver.RequestHappening, refserver.FaultHappening, refserver.ClockHappening, refserver.WorkspaceHappening)

// events streams everything that happens until the client leaves or the sandbox ends.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	q := readQuery(r)
	kind := q.oneOf("kind", happenings...)
	if err := q.check(); err != nil {
		WriteError(w, asError(err))
		return
	}
	reader, err := a.feeds.join(a.server, kind)
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	defer a.feeds.leave()
	out := newStream(w)
	alive := time.NewTicker(wire.KeepAlive)
	defer alive.Stop()
	text := []byte(": what happens from now on\n\n")
	for out.send(text) {
		text = nil
		next, ok, news := reader.take()
		if ok {
			text = next
			continue
		}
		if news == nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			text = []byte(": still here\n\n")
		case <-news:
		}
	}
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
