package call_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

var repeatRuns = flag.Int("repeats.runs", 500, "how many runs the model of repeated sends makes")

// repeatRun is one call in the model of repeated sends: what it is, and what goes wrong with it.
type repeatRun struct {
	seed     uint64
	protocol string
	used     bool // the connection served another call before
	call     placement
	fate     string // what the service makes of each request
	way      way    // how the transport sends
	side     string // to whom the transport's own requests go
	moment   string // of the first attempt, at which something ends; "" for none
	ends     string // what ends then
}

func drawRun(seed uint64, calls []placement) (r repeatRun) {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	r = repeatRun{seed: seed, protocol: pick([]string{"HTTP/1.1", "HTTP/1.1", "TLS", "HTTP/2", "frames", "frames"}), used: random.IntN(2) == 0}
	for r.call = calls[random.IntN(len(calls))]; r.call.repeats() && random.IntN(3) > 0; {
		r.call = calls[random.IntN(len(calls))] // most calls send mail
	}
	r.fate, r.way, r.side = pick(handlerFates), ways[random.IntN(len(ways))], pick(sides)
	if r.protocol == "frames" {
		r.fate = pick(frameFates)
		r.side = pick([]string{"another host", "nobody"})
	}
	if random.IntN(3) == 0 {
		r.moment, r.ends = pick(momentNames), pick([]string{"the call", "the connections", "a context of the transport"})
	}
	return r
}

func (r repeatRun) String() string {
	return fmt.Sprintf("run %d: %s over %s, used=%t, %s, sent %s with side requests to %s, %s ends at %q",
		r.seed, r.call, r.protocol, r.used, r.fate, r.way.name, r.side, r.ends, r.moment)
}

// TestNoSendIsRepeated is the model of what may go wrong between a call and the service: each run draws a protocol, a
// connection, an operation, faults, a transport that does things of its own, and a moment at which the call or the
// connection ends. Whatever comes of it, no request is on the wire unseen, no mail goes out twice, and each error is true.
func TestNoSendIsRepeated(t *testing.T) {
	lender := httptest.NewTLSServer(nil)
	lender.Close()
	calls := placements(t)
	succeeded, unknown, refused := 0, 0, 0
	for seed := range uint64(clienttest.Long(*repeatRuns, *repeatRuns/10)) {
		synctest.Test(t, func(t *testing.T) {
			r := drawRun(seed, calls)
			switch err := r.play(t, lender.TLS.Certificates); {
			case err == nil:
				succeeded++
			case errors.Is(err, signforms.ErrOutcomeUnknown):
				unknown++
			default:
				refused++
			}
		})
		if t.Failed() {
			return
		}
	}
	for _, n := range []int{succeeded, unknown, refused} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			require.Greater(t, n, *repeatRuns/200, "the model reaches all outcomes")
		})
	}
}

func (r repeatRun) play(t *testing.T, certificates certificates) error {
	s := newRepeatService(r, certificates)
	defer s.close()
	var attempts, slots atomic.Int64
	store := clienttest.NewOddStore()
	store.AfterTake = func() { slots.Add(1) }
	transport, plain := s.transport(), true
	way := r.way.build(s, transport)
	c, err := signforms.New(s.base(), clienttest.APIKey, &signforms.Options{
		MaxAttempts: maxTries, LimitStore: store, Endpoints: r.call.endpoints(),
		OnAttempt: func(context.Context, signforms.Attempt) { attempts.Add(1) },
		Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			if plain {
				return transport.RoundTrip(req)
			}
			ctx, cancel := context.WithCancel(req.Context())
			defer cancel()
			if r.ends == "a context of the transport" {
				req = req.WithContext(r.ending(ctx, cancel))
			}
			return way.RoundTrip(req)
		}),
	})
	require.NoError(t, err)
	if r.used {
		require.NoError(t, r.call.call.Do(t.Context(), c), r)
		synctest.Wait() // until the connection is idle
	}
	attempts.Store(0)
	slots.Store(0)
	plain = false
	s.armed.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch r.ends {
	case "the call":
		ctx = r.ending(ctx, cancel)
	case "the connections":
		ctx = r.ending(ctx, s.cut)
	}
	err = r.call.call.Do(ctx, c)
	time.Sleep(time.Minute) // until all that is under way has arrived or ended
	synctest.Wait()
	r.judge(t, s, err, attempts.Load())
	if r.call.call.Op == signforms.OpRemind && !strings.HasPrefix(r.fate, "429") { // which asks for slots in vain
		require.Equal(t, attempts.Load(), slots.Load(), "slots; %v", r)
	}
	return err
}

// ending returns a context at whose moment end is called, once.
func (r repeatRun) ending(ctx context.Context, end func()) context.Context {
	var trace httptrace.ClientTrace
	if r.moment != "" {
		var once atomic.Bool
		moments[r.moment](&trace, func() {
			if !once.Swap(true) {
				end()
			}
		})
	}
	return httptrace.WithClientTrace(ctx, &trace)
}

func (r repeatRun) judge(t *testing.T, s *repeatService, err error, attempts int64) {
	require.LessOrEqual(t, attempts, int64(maxTries), r)
	arrived, done := s.arrived.Load(), s.done.Load()
	if r.way.hidden && !r.call.hasBody() && !r.call.repeats() {
		return // net/http repeats it, and reports nothing
	}
	if r.call.hasBody() || !r.way.hidden {
		require.LessOrEqual(t, arrived, attempts*r.call.mostSendings(), "requests on the wire of %v: %v", r, err)
	}
	if r.moment == "" {
		require.NotErrorIs(t, err, context.Canceled, r)
	}
	if !r.call.repeats() {
		switch {
		case err == nil:
			require.EqualValues(t, 1, done, "a success was carried out once; %v", r)
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			require.LessOrEqual(t, done, int64(1), "%v: %v", r, err)
		default:
			require.Zero(t, done, "an error that says it was not carried out; %v: %v", r, err)
		}
	}
	if r.moment != "" || !r.way.honest || r.way.after && !r.call.hasBody() && r.call.mostSendings() == 1 || r.side == "nobody" || r.side == "the same host, refused" {
		return
	}
	switch r.fate {
	case "success":
		require.NoError(t, err, r)
		require.EqualValues(t, 1, arrived, r)
	case "refused":
		if !r.used && r.way.name == "plainly" && (r.call.repeats() || r.call.hasBody()) {
			clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
			require.EqualValues(t, maxTries, attempts, r)
		}
	default:
		if r.call.repeats() && s.brokenOff() {
			require.EqualValues(t, maxTries, attempts, "%v: %v", r, err)
		}
	}
}
