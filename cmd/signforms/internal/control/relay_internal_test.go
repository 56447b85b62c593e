package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

const (
	firstRelay  = "aaaaaaaaaaaaaaaaaaaaaaaa"
	secondRelay = "bbbbbbbbbbbbbbbbbbbbbbbb"
)

// ask calls the API without a network.
func ask(t *testing.T, a *API, method, path string) {
	t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, wire.Prefix+path, strings.NewReader("")))
	require.Less(t, w.Code, 300, w.Body)
}

func newRelayAPI(t *testing.T) *API {
	t.Helper()
	network := refserver.NewNetwork()
	t.Cleanup(func() { network.Close() })
	var a *API
	a = New(Config{Server: refserver.NewServer(t, &refserver.Options{Network: network, Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, RelayPrefix) {
				a.Relay().ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}})})
	return a
}

// Opening a relay removes the webhooks of relays whose listener has been away for long, and no others: not those of a user whose URL
// looks like a relay's, and not those of a relay with a listener.
func TestAbandonedRelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newRelayAPI(t)
		mine := a.server.AddWebhook(refserver.Webhook{
			URL: "http://app.example.com" + RelayPrefix + "cccccccccccccccccccccccc", Event: refserver.FormResponse,
		})
		ask(t, a, "POST", "/relays/"+firstRelay)
		listener := a.relays.byID[firstRelay]
		listener.listening++
		time.Sleep(2 * forgetRelay)
		ask(t, a, "POST", "/relays/"+secondRelay)
		require.Len(t, a.server.Webhooks(), 7, "the first has a listener")
		listener.listening, listener.left = 0, time.Now()
		time.Sleep(2 * forgetRelay)
		ask(t, a, "POST", "/relays/"+secondRelay)
		all := a.server.Webhooks()
		require.Len(t, all, 4)
		require.Equal(t, mine, all[0].ID)
		require.True(t, listener.closed, "a listener that comes back must open it again")
		require.Nil(t, a.relays.byID[firstRelay])
	})
}

// A listener that reports nothing, as one that is stopped, holds an advance up once, like a receiver that does not answer.
func TestAdvanceWaitsOnceForAListenerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newRelayAPI(t)
		ask(t, a, "POST", "/relays/"+firstRelay)
		a.relays.byID[firstRelay].listening++
		id := a.server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		require.NoError(t, a.server.Signer(id, "ann@example.com").View())
		began := time.Now()
		a.server.Advance(18 * time.Hour)
		require.LessOrEqual(t, time.Since(began), attemptTimeout+time.Second)
		require.Len(t, a.server.Unanswering(), 1)

		for len(a.server.Unanswering()) > 0 { // it goes on
			a.relays.mu.Lock()
			for _, attempt := range a.relays.byID[firstRelay].waiting {
				attempt.reported <- wire.RelayedAnswer{Status: 204}
			}
			a.relays.mu.Unlock()
			synctest.Wait()
			time.Sleep(time.Second)
		}
		require.NoError(t, a.server.Settle(t.Context()))
		require.Equal(t, refserver.DeliveryDelivered, a.server.Deliveries()[0].Status)
	})
}

// attemptTimeout is how long the sender waits for the answer to an attempt.
const attemptTimeout = 10 * time.Second

// The report of an attempt counts for as long as the attempt waits for it.
func TestRelayWaitsForTheReport(t *testing.T) {
	for _, c := range []struct {
		connects, reports time.Duration // after the attempt began
		status            int
	}{
		{connects: 0, reports: 0, status: 204},
		{connects: waitListener - 1, reports: attemptTimeout - 1, status: 204},
		{connects: 0, reports: attemptTimeout + 1, status: http.StatusGatewayTimeout},
		{connects: waitListener + 1, reports: time.Hour, status: http.StatusServiceUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newRelayAPI(t)
			ask(t, a, "POST", "/relays/"+firstRelay)
			answered := make(chan int, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), attemptTimeout)
				defer cancel()
				w := httptest.NewRecorder()
				a.Relay().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", RelayPrefix+firstRelay, strings.NewReader("[]")))
				answered <- w.Code
			}()
			synctest.Wait()
			a.relays.mu.Lock()
			r := a.relays.byID[firstRelay]
			attempt := r.waiting[a.relays.next]
			a.relays.mu.Unlock()
			time.Sleep(c.connects)
			a.relays.mu.Lock()
			r.listening++
			r.change()
			a.relays.mu.Unlock()
			time.Sleep(c.reports - c.connects)
			attempt.reported <- wire.RelayedAnswer{Status: 204}
			require.Equal(t, c.status, <-answered, "%+v", c)
		})
	}
}

// attemptOn makes an attempt for the first relay and returns its answer.
func attemptOn(t *testing.T, a *API) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.Relay().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", RelayPrefix+firstRelay, strings.NewReader("[]")))
	return w
}

// The attempts after a listener has left wait for it together, not one after the other, and so do those after a restart. The clock
// names the webhooks without a listener.
func TestAttemptsWaitOnceForAListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newRelayAPI(t)
		ask(t, a, "POST", "/relays/"+firstRelay)
		a.relays = newRelays() // as after a restart: the webhooks are still there
		for _, leaves := range []bool{false, true} {
			if leaves {
				ask(t, a, "POST", "/relays/"+firstRelay)
				require.Empty(t, a.clock().Unheard, "its listener is about to connect")
				listens, leave := context.WithCancel(t.Context())
				path := wire.Prefix + "/relays/" + firstRelay + "/attempts"
				go a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(listens, "GET", path, nil))
				time.Sleep(time.Hour)
				require.Empty(t, a.clock().Unheard)
				leave()
				synctest.Wait()
			}
			began := time.Now()
			require.Empty(t, a.clock().Unheard, "it may come back")
			for range 8 {
				w := attemptOn(t, a)
				require.Equal(t, http.StatusServiceUnavailable, w.Code)
				require.Equal(t, "nobody listens: signforms listen is not connected", w.Body.String())
			}
			require.Equal(t, waitListener, time.Since(began))
			require.Len(t, a.clock().Unheard, 3)
		}
	})
}

// After a restart an attempt reaches the listener that opens its relay again, which it must: the webhooks may need another URL.
func TestAttemptAfterARestartReachesTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newRelayAPI(t)
		ask(t, a, "POST", "/relays/"+firstRelay)
		a.relays = newRelays()
		answered := make(chan int, 1)
		go func() { answered <- attemptOn(t, a).Code }()
		synctest.Wait()
		left, leave := context.WithCancel(t.Context())
		leave() // ends the stream, if it is given one
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(left, "GET", wire.Prefix+"/relays/"+firstRelay+"/attempts", nil))
		require.Equal(t, http.StatusNotFound, w.Code)
		ask(t, a, "POST", "/relays/"+firstRelay)
		a.relays.mu.Lock()
		r := a.relays.byID[firstRelay]
		r.listening++
		r.change()
		r.waiting[a.relays.next].reported <- wire.RelayedAnswer{Status: 204}
		a.relays.mu.Unlock()
		require.Equal(t, 204, <-answered)
	})
}
