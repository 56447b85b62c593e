// Package relay passes webhook attempts on to listeners, which are connected by a stream and report the answers. An
// attempt whose listener is not there, leaves or is too slow fails: the schedule of the sandbox repeats it.
package relay

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// most is how many attempts wait for a listener to take them.
const most = 1000

// Relays holds the connected listeners of a sandbox. It is safe for concurrent use.
type Relays struct {
	mu   sync.Mutex
	byID map[string]*Listener
	next int64
}

// New returns relays without listeners. It begins the ids of attempts above those of earlier runs, which a listener may
// still report.
func New() *Relays { return &Relays{byID: map[string]*Listener{}, next: time.Now().UnixMicro()} }

// Listener is the one that is connected to a relay.
type Listener struct {
	Attempts <-chan wire.RelayedAttempt // to send
	Gone     <-chan struct{}            // closed when it is to leave

	attempts chan wire.RelayedAttempt
	gone     chan struct{}
	waiting  map[int64]chan wire.RelayedAnswer // for its reports
}

// Connect makes a listener the one of a relay, and lets the one before go: its connection was probably lost.
func (rs *Relays) Connect(id string) *Listener {
	l := &Listener{attempts: make(chan wire.RelayedAttempt, most), gone: make(chan struct{}), waiting: map[int64]chan wire.RelayedAnswer{}}
	l.Attempts, l.Gone = l.attempts, l.gone
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.end(id)
	rs.byID[id] = l
	return l
}

// Leave says that a listener has left. What it has not reported fails.
func (rs *Relays) Leave(id string, l *Listener) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byID[id] == l {
		rs.end(id)
	}
}

// End lets the listener of a relay go, if there is one.
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

// Deliver hands an attempt to the listener and returns its report, or a failure. To the sender, a listener that reports
// nothing until ctx ends is a receiver that does not answer.
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
	default: // it is too slow
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

// Report takes the listener's report of an attempt. It reports whether the attempt still waited for it.
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
