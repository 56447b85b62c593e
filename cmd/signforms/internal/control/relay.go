package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// RelayPrefix is the path in the sandbox to which webhooks of relays are delivered. A listener passes the attempts on to a target
// that the sandbox itself cannot reach.
const RelayPrefix = "/relay/"

const (
	// waitListener is how long attempts wait for a listener after it has left or the program was started. That and the time that a
	// listener gives its target are less than the timeout of an attempt.
	waitListener = 3 * time.Second
	// forgetRelay is how long a relay without a listener is kept. Its webhooks are removed when another relay is opened.
	forgetRelay = 10 * time.Minute
)

// relays holds the open relays of a sandbox in memory. A listener opens its relay again after a restart.
type relays struct {
	opening sync.Mutex // held while a relay is opened or closed with its webhooks

	mu    sync.Mutex
	began time.Time
	byID  map[string]*relay
	next  int64
}

type relay struct {
	waiting   map[int64]*relayedAttempt
	listening int           // how many listeners are connected
	left      time.Time     // when a listener last disconnected, or since when one is expected
	opened    bool          // since the program was started
	closed    bool          // its listeners are to leave
	changed   chan struct{} // closed when waiting, listening or closed changes
}

type relayedAttempt struct {
	wire.RelayedAttempt
	reported chan wire.RelayedAnswer // holds one report
}

// newRelays begins the ids of attempts above those of earlier runs, whose outcomes a listener may still have.
func newRelays() *relays {
	now := time.Now()
	return &relays{began: now, byID: map[string]*relay{}, next: now.UnixMicro()}
}

func (r *relay) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// open makes a relay, unless it is open.
func (rs *relays) open(id string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r := rs.known(id, time.Now()); !r.opened {
		r.opened, r.left = true, time.Now()
	}
}

// known returns a relay, which is made if there is none: one whose listener left at that time. The caller holds mu.
func (rs *relays) known(id string, left time.Time) *relay {
	if rs.byID[id] == nil {
		rs.byID[id] = &relay{waiting: map[int64]*relayedAttempt{}, changed: make(chan struct{}), left: left}
	}
	return rs.byID[id]
}

// forget ends a relay, and the streams of its listeners.
func (rs *relays) forget(id string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r := rs.byID[id]; r != nil {
		delete(rs.byID, id)
		r.closed = true
		r.change()
	}
}

// gone reports whether a relay has no listener, and attempts no longer wait for one. The caller holds the relays' mu.
func (r *relay) gone() bool { return r.listening == 0 && time.Since(r.left) >= waitListener }

// unheard returns those of the webhooks whose relay's listener is gone.
func (rs *relays) unheard(webhooks []refserver.WebhookState) (ids []string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, w := range webhooks {
		if w.Relay != "" && rs.known(w.Relay, rs.began).gone() {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// abandoned reports whether a relay has had no listener for forgetRelay, at least since the start of the program.
func (rs *relays) abandoned(id string) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	left := rs.began
	if r := rs.byID[id]; r != nil {
		if left = r.left; r.listening > 0 {
			return false
		}
	}
	return time.Since(left) > forgetRelay
}

// leastRelayID is the least length of a relay's id. The id must be hard to guess: anyone who knows it can deliver to the listener.
const leastRelayID = 20

func checkRelayID(id string) error {
	if len(id) < leastRelayID || len(id) > refserver.MaxName || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return inputError("the id of a relay must be at least %d random lower-case letters and digits, and %d at most", leastRelayID, refserver.MaxName)
	}
	return nil
}

// openRelay makes a relay and its webhooks. Those that it has are changed: they may be from before a restart, with another port.
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
	a.relays.opening.Lock()
	defer a.relays.opening.Unlock()
	if err := a.removeAbandoned(id); err != nil {
		return nil, err
	}
	slices.Sort(in.Events)
	var hooks []refserver.Webhook
	for _, event := range slices.Compact(in.Events) {
		hooks = append(hooks, refserver.Webhook{URL: a.server.URL + RelayPrefix + a.Prefix + id, Event: refserver.EventFamily(event), Documents: in.Documents})
	}
	ids, err := a.server.SetRelay(id, hooks...)
	if err != nil {
		return nil, err
	}
	a.relays.open(id)
	return wire.RelayRecord{Webhooks: ids, WebhookSecret: a.server.WebhookSecret}, nil
}

// closeRelay removes a relay and its webhooks.
func (a *API) closeRelay(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if err := checkRelayID(id); err != nil {
		return nil, err
	}
	a.relays.opening.Lock()
	defer a.relays.opening.Unlock()
	a.relays.forget(id)
	_, err := a.server.SetRelay(id)
	return nil, err
}

// removeAbandoned removes the relays, except the one named by but, that have had no listener for forgetRelay. Their listeners were
// probably killed.
func (a *API) removeAbandoned(but string) error {
	for _, hook := range a.server.Webhooks() {
		if hook.Relay == "" || hook.Relay == but || !a.relays.abandoned(hook.Relay) {
			continue
		}
		a.relays.forget(hook.Relay) // a listener that comes back opens it again
		if _, err := a.server.SetRelay(hook.Relay); err != nil {
			return err
		}
	}
	return nil
}

// Relay returns the handler below [RelayPrefix], which receives the attempts for relays. It answers with what the listener reports.
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
		answer := a.relayed(r.Context(), strings.TrimPrefix(r.URL.Path, RelayPrefix+a.Prefix), r.Header, body)
		for name, values := range answer.Header {
			if !slices.Contains(hopHeaders, name) {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.Status)
		w.Write(answer.Body) // fails only when the attempt has timed out
	})
}

// hopHeaders are headers of the connection between listener and target, which are not passed on.
var hopHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive", "Trailer", "Upgrade"}

// relayed hands an attempt to the listener and waits for its report until ctx ends, with the attempt. To the sender, a listener that
// reports nothing is a receiver that does not answer.
func (a *API) relayed(ctx context.Context, id string, header http.Header, body []byte) wire.RelayedAnswer {
	relay, attempt := a.relays.add(id, a.hasRelay(id), header, body)
	if attempt == nil {
		return relayFailure(http.StatusServiceUnavailable, "nobody listens: signforms listen is not running")
	}
	defer a.relays.remove(relay, attempt)
	if !a.relays.heard(ctx, relay) {
		return relayFailure(http.StatusServiceUnavailable, "nobody listens: signforms listen is not connected")
	}
	select {
	case answer := <-attempt.reported:
		if answer.Status == 0 {
			return relayFailure(http.StatusBadGateway, answer.Error)
		}
		return answer
	case <-ctx.Done():
		return relayFailure(http.StatusGatewayTimeout, "the attempt was broken off")
	}
}

func relayFailure(status int, text string) wire.RelayedAnswer {
	return wire.RelayedAnswer{Status: status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte(text)}
}

// hasRelay reports whether there are webhooks of a relay, which may be from before a restart.
func (a *API) hasRelay(id string) bool {
	return slices.ContainsFunc(a.server.Webhooks(), func(w refserver.WebhookState) bool { return w.Relay == id })
}

// add adds an attempt to a relay, unless it is neither open nor stored.
func (rs *relays) add(id string, stored bool, header http.Header, body []byte) (*relay, *relayedAttempt) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byID[id] == nil && !stored {
		return nil, nil
	}
	r := rs.known(id, rs.began)
	rs.next++
	attempt := &relayedAttempt{wire.RelayedAttempt{ID: rs.next, At: time.Now().UTC(), Header: header.Clone(), Body: body}, make(chan wire.RelayedAnswer, 1)}
	r.waiting[attempt.ID] = attempt
	r.change()
	return r, attempt
}

func (rs *relays) remove(r *relay, attempt *relayedAttempt) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(r.waiting, attempt.ID)
}

// heard reports whether a listener is connected. It waits for one until waitListener after the last one has left, so that a listener
// that was killed does not cost every attempt a wait.
func (rs *relays) heard(ctx context.Context, r *relay) bool {
	rs.mu.Lock()
	timer := time.NewTimer(time.Until(r.left.Add(waitListener)))
	rs.mu.Unlock()
	defer timer.Stop()
	for {
		rs.mu.Lock()
		listening, gone, changed := r.listening > 0, r.gone(), r.changed
		rs.mu.Unlock()
		if listening || gone {
			return listening
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// relayStream streams the attempts of a relay to its listener: first those that still wait for a report, then new ones.
func (a *API) relayStream(w http.ResponseWriter, r *http.Request) {
	webhooks, err := a.feeds.join(a.server, string(refserver.WebhookHappening))
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	defer a.feeds.leave()
	a.relays.mu.Lock()
	relay := a.relays.byID[r.PathValue("id")]
	if relay == nil || !relay.opened { // after a restart the listener opens it again: its webhooks may have another URL
		a.relays.mu.Unlock()
		WriteError(w, notFound("relay", "…"))
		return
	}
	relay.listening++
	relay.change()
	a.relays.mu.Unlock()
	defer func() {
		a.relays.mu.Lock()
		defer a.relays.mu.Unlock()
		relay.listening--
		relay.left = time.Now()
	}()
	a.stream(newStream(w), r, relay, webhooks)
}

func (a *API) stream(out *stream, r *http.Request, relay *relay, webhooks *reader) {
	alive := time.NewTicker(wire.KeepAlive)
	defer alive.Stop()
	text := []byte(": attempts from now on\n\n")
	for sent := int64(0); out.send(text); {
		a.relays.mu.Lock()
		var fresh []*relayedAttempt
		for _, attempt := range relay.waiting {
			if attempt.ID > sent {
				fresh = append(fresh, attempt)
			}
		}
		changed, closed := relay.changed, relay.closed
		a.relays.mu.Unlock()
		if closed {
			return // the listener opens it again if it is still there
		}
		text = nil
		slices.SortFunc(fresh, func(x, y *relayedAttempt) int { return cmp.Compare(x.ID, y.ID) })
		for _, attempt := range fresh {
			sent = attempt.ID
			data, err := json.Marshal(attempt.RelayedAttempt)
			if err != nil {
				panic(err) // cannot happen for a RelayedAttempt
			}
			text = fmt.Appendf(text, "event: attempt\ndata: %s\n\n", data)
		}
		if len(fresh) > 0 {
			continue
		}
		some, ok, news := webhooks.take()
		if ok {
			if len(some) > 0 {
				a.forgetReset(r.PathValue("id"))
			}
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			text = []byte(": still here\n\n")
		case <-changed:
		case <-news: // nil when the server closes, which ends r's context
		}
	}
}

// forgetReset ends a relay whose webhooks are all gone, as after a reset.
func (a *API) forgetReset(id string) {
	a.relays.opening.Lock()
	defer a.relays.opening.Unlock()
	if !a.hasRelay(id) {
		a.relays.forget(id)
	}
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
	a.relays.mu.Lock()
	defer a.relays.mu.Unlock()
	relay := a.relays.byID[r.PathValue("id")]
	if relay == nil || relay.waiting[number] == nil {
		return nil, notFound("attempt that waits for a report", r.PathValue("attempt"))
	}
	relay.waiting[number].reported <- in
	delete(relay.waiting, number) // it is not sent to another stream, and has one report
	return nil, nil
}
