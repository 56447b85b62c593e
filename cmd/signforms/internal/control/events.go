package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/signformstest"
)

const (
	maxWaitingEvents = 1024
	keepAlive        = 20 * time.Second // proxies close streams that are silent for a minute
)

var happenings = texts(signformstest.TemplateHappening, signformstest.FormHappening, signformstest.DocumentHappening, signformstest.ResponseHappening,
	signformstest.WebhookHappening, signformstest.DeliveryHappening, signformstest.MessageHappening, signformstest.AuditHappening,
	signformstest.RequestHappening, signformstest.FaultHappening, signformstest.ClockHappening, signformstest.WorkspaceHappening)

// events streams everything that happens until the client leaves or the sandbox ends.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	q := readQuery(r)
	kind := q.oneOf("kind", happenings...)
	if err := q.check(); err != nil {
		WriteError(w, asError(err))
		return
	}
	watched, stop := a.server.Watch(maxWaitingEvents)
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	stream := http.NewResponseController(w)
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	text := ": what happens from now on\n\n"
	for {
		fmt.Fprint(w, text)
		if stream.Flush() != nil {
			return // the client is gone
		}
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			text = ": still here\n\n"
		case h, open := <-watched:
			if !open {
				return
			}
			text = eventText(h, kind)
		}
	}
}

// eventText returns an event in the format of the stream, or "" for a kind that the client did not ask for.
func eventText(h signformstest.Happening, kind string) string {
	if kind != "" && string(h.Kind) != kind && h.Missed == 0 {
		return ""
	}
	h.At = h.At.UTC()
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // cannot happen for a Happening
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", h.Kind, data)
}
