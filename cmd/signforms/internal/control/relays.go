package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// RelayPrefix is the path in the sandbox to which webhooks of relays are delivered. A listener passes the attempts on
// to a target that the sandbox itself cannot reach.
const RelayPrefix = "/relay/"

// leastRelayID is the minimum length of a relay's id. The id must be hard to guess, because anyone
// who knows it can deliver to the listener.
const leastRelayID = 20

func checkRelayID(id string) error {
	if len(id) < leastRelayID || len(id) > refserver.MaxName || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return inputError("the id of a relay must be at least %d random lower-case letters and digits, and %d at most", leastRelayID, refserver.MaxName)
	}
	return nil
}

// openRelay makes the webhooks of a relay, or changes its existing webhooks.
func (a *API) openRelay(r *http.Request) (any, error) {
	var in wire.RelayInput
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	if err := checkRelayID(id); err != nil {
		return nil, err
	}
	if len(in.Events) == 0 {
		in.Events = wire.EventFamilies()
	}
	slices.Sort(in.Events)
	var hooks []refserver.Webhook
	for _, event := range slices.Compact(in.Events) {
		url := a.server.URL + RelayPrefix + a.Prefix + id
		hooks = append(hooks, refserver.Webhook{URL: url, Event: refserver.EventFamily(event), Documents: in.Documents})
	}
	ids, err := a.server.SetRelay(id, hooks...)
	if err != nil {
		return nil, err
	}
	return wire.RelayRecord{Webhooks: ids, WebhookSecret: a.server.WebhookSecret}, nil
}

// closeRelay removes the webhooks of a relay, and disconnects its listener.
func (a *API) closeRelay(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if err := checkRelayID(id); err != nil {
		return nil, err
	}
	_, err := a.server.SetRelay(id)
	a.relays.End(id)
	return nil, err
}

// hasRelay reports whether a relay has webhooks.
func (a *API) hasRelay(id string) bool {
	return slices.ContainsFunc(a.server.Webhooks(), func(w refserver.WebhookState) bool { return w.Relay == id })
}

// unheard returns the webhooks of relays without a listener.
func (a *API) unheard() (ids []string) {
	for _, w := range a.server.Webhooks() {
		if w.Relay != "" && !a.relays.Heard(w.Relay) {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// Relay returns the handler below [RelayPrefix], which receives the attempts for relays. The
// response is the one that the listener reports.
func (a *API) Relay() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "a relay takes the deliveries of the sandbox alone", http.StatusBadRequest)
			return
		}
		body, err := rawBody(r)
		if err != nil {
			WriteError(w, asError(err))
			return
		}
		answer := a.relays.Deliver(r.Context(), strings.TrimPrefix(r.URL.Path, RelayPrefix+a.Prefix), r.Header, body)
		for name, values := range answer.Header {
			if !slices.Contains(hopHeaders, name) {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.Status)
		w.Write(answer.Body) // Write fails only if the attempt has timed out
	})
}

// hopHeaders are headers of the connection between listener and target, which are not passed on.
var hopHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive", "Trailer", "Upgrade"}

// relayStream streams the attempts of a relay to its listener, until the relay has no more
// webhooks, as after a reset.
func (a *API) relayStream(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	watcher, stop, err := a.watch()
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	defer stop()
	_, more := watcher.Take()
	if !a.hasRelay(id) {
		WriteError(w, notFound("relay", "…"))
		return
	}
	listener := a.relays.Connect(id)
	defer a.relays.Leave(id, listener)
	alive := time.NewTicker(wire.KeepAlive)
	defer alive.Stop()
	out, text := newStream(w), []byte(": attempts from now on\n\n")
	for out.send(text) {
		text = nil
		select {
		case attempt := <-listener.Attempts:
			text = event("attempt", attempt)
		case <-alive.C:
			text = []byte(": still here\n\n")
		case <-more:
			var all []refserver.Happening
			all, more = watcher.Take()
			if more == nil || slices.ContainsFunc(all, mayEndRelay) && !a.hasRelay(id) {
				return
			}
		case <-listener.Gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func mayEndRelay(h refserver.Happening) bool {
	return h.Missed > 0 || h.Kind == refserver.WebhookHappening
}

// event returns an event in the format of server-sent events.
func event(kind string, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen for a type of package wire
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data)
}

// reportAttempt accepts a listener's report of an attempt.
func (a *API) reportAttempt(r *http.Request, in wire.RelayedAnswer) (any, error) {
	if in.Status != 0 && (in.Status < 200 || in.Status > 599) {
		return nil, inputError("status %d is neither 200 to 599 nor 0 for no answer", in.Status)
	}
	number, err := strconv.ParseInt(r.PathValue("attempt"), 10, 64)
	if err != nil {
		return nil, inputError("%q is not a number of an attempt", r.PathValue("attempt"))
	}
	if !a.relays.Report(r.PathValue("id"), number, in) {
		return nil, notFound("attempt that waits for a report", r.PathValue("attempt"))
	}
	return nil, nil
}
