// Package relay passes webhook attempts on to listeners. A listener is connected by a stream and
// reports the responses. An attempt fails if its listener is not connected, leaves or is too slow;
// the schedule of the sandbox repeats the attempt.
package relay

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// most is how many attempts wait at most for a listener to take them.
const most = 1000

// Relays has the connected listeners of a sandbox. It is safe for concurrent use.
type Relays struct {
	mu   sync.Mutex
	byID map[string]*Listener
	next int64
}

// New returns relays without listeners. The ids of attempts begin above the ids of earlier runs,
// which a listener may still report.
func New() *Relays { return &Relays{byID: map[string]*Listener{}, next: time.Now().UnixMicro()} }

// Listener is a listener that is connected to a relay.
type Listener struct {
	Attempts <-chan wire.RelayedAttempt // attempts for the listener
	Gone     <-chan struct{}            // closed when the listener must leave

	attempts chan wire.RelayedAttempt
	gone     chan struct{}
	waiting  map[int64]chan wire.RelayedAnswer // channels for the reports, by id of the attempt
}

// Connect makes a new listener the listener of a relay. It disconnects the previous listener, whose
// connection was probably lost.
func (rs *Relays) Connect(id string) *Listener {
	l := &Listener{attempts: make(chan wire.RelayedAttempt, most), gone: make(chan struct{}), waiting: map[int64]chan wire.RelayedAnswer{}}
	l.Attempts, l.Gone = l.attempts, l.gone
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.end(id)
	rs.byID[id] = l
	return l
}

// Leave removes a listener that has left. Attempts that it has not reported fail.
func (rs *Relays) Leave(id string, l *Listener) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byID[id] == l {
		rs.end(id)
	}
}

// End disconnects the listener of a relay, if there is one.
func (rs *Relays) End(id string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.end(id)
}

func (rs *Relays) end(id string) {
	if l := rs.byID[id]; l != nil {
		close(l.gone)
		delete(rs.byID, id)
	}
}

// Heard reports whether a relay has a listener.
func (rs *Relays) Heard(id string) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.byID[id] != nil
}

// Deliver passes an attempt to the listener and returns its report, or a failure. If the listener
// reports nothing until ctx ends, it counts as a receiver that does not respond.
func (rs *Relays) Deliver(ctx context.Context, id string, header http.Header, body []byte) wire.RelayedAnswer {
	rs.mu.Lock()
	l := rs.byID[id]
	if l == nil {
		rs.mu.Unlock()
		return failure(http.StatusServiceUnavailable, "nobody listens: signforms listen is not connected")
	}
	rs.next++
	number, report := rs.next, make(chan wire.RelayedAnswer, 1)
	l.waiting[number] = report
	select {
	case l.attempts <- wire.RelayedAttempt{ID: number, At: time.Now().UTC(), Header: header.Clone(), Body: body}:
	default: // the listener is too slow
		rs.end(id)
	}
	rs.mu.Unlock()
	defer func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		delete(l.waiting, number)
	}()
	select {
	case answer := <-report:
		if answer.Status == 0 {
			return failure(http.StatusBadGateway, answer.Error)
		}
		return answer
	case <-l.gone:
		return failure(http.StatusServiceUnavailable, "signforms listen has left, or was too slow")
	case <-ctx.Done():
		return failure(http.StatusGatewayTimeout, "the attempt was broken off")
	}
}

// Report passes on the listener's report of an attempt. It returns whether the attempt was still
// waiting for the report.
func (rs *Relays) Report(id string, attempt int64, answer wire.RelayedAnswer) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	l := rs.byID[id]
	if l == nil || l.waiting[attempt] == nil {
		return false
	}
	l.waiting[attempt] <- answer
	delete(l.waiting, attempt)
	return true
}

func failure(status int, text string) wire.RelayedAnswer {
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	return wire.RelayedAnswer{Status: status, Header: header, Body: []byte(text)}
}
