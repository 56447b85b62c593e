package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elements are three different events and, last, one that equals the first.
var elements = []string{
	`{"webhookEvent":"new_form_response","formResponseId":"1"}`,
	`{"webhookEvent":"new_form_response","formResponseId":"2"}`,
	`{"webhookEvent":"new_form_response","formResponseId":"3"}`,
	`{"webhookEvent":"new_form_response","formResponseId":"1"}`,
}

func array(objects ...string) string { return "[" + strings.Join(objects, ",") + "]" }

// TestHandler_redelivery lets the third of four events fail, and delivers the array again ten hours later.
func TestHandler_redelivery(t *testing.T) {
	clock := webhooktest.NewClock(noon)
	var ran, skipped []string
	broken := true
	h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Now: clock.Now}), webhook.Funcs{
		FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
			ran = append(ran, ev.FormResponseID)
			if broken && ev.FormResponseID == "3" {
				return errors.New("disk full")
			}
			return nil
		},
	}, &webhook.HandlerOptions{OnEvent: func(_ context.Context, res webhook.EventResult) {
		if res.Outcome == webhook.OutcomeRepeated {
			skipped = append(skipped, res.Event.SubjectID())
		}
	}})
	deliver := func(body string) (int, string) {
		ran, skipped = nil, nil
		w := serveRequest(h, webhooktest.NewRequest(target, secret, clock.Now(), []byte(body)))
		return w.Code, w.Body.String()
	}

	status, answer := deliver(array(elements...))
	require.Equal(t, 500, status)
	require.JSONEq(t, `{"status":"failed"}`, answer)
	require.Equal(t, []string{"1", "2", "3", "1"}, ran, "all are tried, equal elements are two events")

	clock.Advance(10 * time.Hour)
	broken = false
	status, answer = deliver(array(elements...))
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"ok"}`, answer)
	require.Equal(t, []string{"3"}, ran)
	require.Equal(t, []string{"1", "2", "1"}, skipped)

	status, answer = deliver(array(elements...))
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"duplicate"}`, answer)
	require.Empty(t, ran)

	_, answer = deliver(elements[1])
	require.JSONEq(t, `{"status":"duplicate"}`, answer, "the same element as an object is the same event")

	_, answer = deliver(array(elements[0], elements[0], elements[0]))
	require.JSONEq(t, `{"status":"ok"}`, answer)
	require.Equal(t, []string{"1"}, ran, "the third of equal elements is new")

	clock.Advance(25 * time.Hour)
	deliver(array(elements...))
	require.Len(t, ran, 4, "events run again when the store has forgotten them")
}

// TestHandler_reformattedRedelivery has the same event twice, the second time reformatted on its way.
func TestHandler_reformattedRedelivery(t *testing.T) {
	ran := 0
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(context.Context, webhook.Event) error { ran++; return nil }}, nil)
	require.JSONEq(t, `{"status":"ok"}`, serve(h, array(elements[0])).Body.String())
	r := webhooktest.NewRequest(target, secret, noon, []byte("[ "+elements[0]+" ]"))
	r.Header = webhooktest.NewRequest(target, secret, noon, []byte(array(elements[0]))).Header
	requireAnswer(t, serveRequest(h, r), 200, `{"status":"duplicate"}`)
	require.Equal(t, 1, ran)
}

func TestHandler_disableReplayProtection(t *testing.T) {
	ran := 0
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(context.Context, webhook.Event) error { ran++; return nil }},
		&webhook.HandlerOptions{DisableReplayProtection: true})
	for range 3 {
		requireAnswer(t, serve(h, array(elements...)), 200, `{"status":"ok"}`)
	}
	require.Equal(t, 3*len(elements), ran)
}

func TestHandler_concurrentDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse: func(context.Context, *webhook.FormResponse) error {
				ran.Add(1)
				time.Sleep(time.Second)
				return nil
			},
		}, nil)
		var mu sync.Mutex
		answers := map[int]int{}
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() {
				w := serve(h, array(elements[0]))
				mu.Lock()
				defer mu.Unlock()
				answers[w.Code]++
				if w.Code == http.StatusServiceUnavailable {
					assert.Equal(t, "30", w.Header().Get("Retry-After"))
					assert.Equal(t, `{"status":"unavailable"}`, w.Body.String())
				}
			})
		}
		calls.Wait()
		require.EqualValues(t, 1, ran.Load())
		require.Equal(t, map[int]int{200: 1, 503: 49}, answers)
		requireAnswer(t, serve(h, array(elements[0])), 200, `{"status":"duplicate"}`)
	})
}

// TestHandler_busyAmongOthers delivers an array while one of its events is being processed for another delivery.
func TestHandler_busyAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ran []string
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
				mu.Lock()
				ran = append(ran, ev.FormResponseID)
				mu.Unlock()
				if ev.FormResponseID == "2" {
					time.Sleep(time.Minute)
				}
				return nil
			},
		}, nil)
		go serve(h, elements[1])
		synctest.Wait()
		require.Equal(t, 503, serve(h, array(elements[:3]...)).Code)
		require.Equal(t, []string{"2", "1", "3"}, ran)
		time.Sleep(2 * time.Minute)
		requireAnswer(t, serve(h, array(elements[:3]...)), 200, `{"status":"duplicate"}`)
	})
}

// TestHandler_busyAndFailed delivers one event that is being processed elsewhere, then one that fails: the answer is the failure's.
func TestHandler_busyAndFailed(t *testing.T) {
	first := true
	store := &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) {
		defer func() { first = false }()
		if first {
			return webhook.ReplayBusy, nil
		}
		return webhook.ReplayFresh, nil
	}}
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(context.Context, webhook.Event) error {
		return errors.New("disk full")
	}}, &webhook.HandlerOptions{ReplayStore: store})
	requireAnswer(t, serve(h, array(elements[:2]...)), 500, `{"status":"failed"}`)
}

// TestReplayStore_deadProcess has a process that ends inside a function: for the others it is one that never settles its claim.
func TestReplayStore_deadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := webhook.NewMemoryReplayStore(nil)
		newProcess := func(fn func()) http.Handler {
			return webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
				FormResponse: func(context.Context, *webhook.FormResponse) error { fn(); return nil },
			}, &webhook.HandlerOptions{ReplayStore: store})
		}
		never := make(chan struct{})
		go serve(newProcess(func() { <-never }), elements[0])
		synctest.Wait()
		ran := 0
		living := newProcess(func() { ran++ })
		time.Sleep(5*time.Minute - time.Second)
		require.Equal(t, 503, serve(living, elements[0]).Code)
		time.Sleep(time.Second)
		require.Equal(t, 200, serve(living, elements[0]).Code)
		require.Equal(t, 1, ran)
		close(never)
		synctest.Wait()
	})
}

// TestReplayStore_failureNearTheEndOfTheLease has functions that fail shortly before the lease ends. Begin and Abort may take five seconds
// each, so that Abort could remove the claim of another process.
func TestReplayStore_failureNearTheEndOfTheLease(t *testing.T) {
	for _, row := range []struct {
		left  time.Duration
		calls []string
	}{{left: 11 * time.Second, calls: []string{"begin", "abort"}}, {left: 9 * time.Second, calls: []string{"begin"}}} {
		t.Run(fmt.Sprint(row.left), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &fakeStore{}
				h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
					Default: func(context.Context, webhook.Event) error {
						time.Sleep(5*time.Minute - row.left)
						return errors.New("disk full")
					},
				}, &webhook.HandlerOptions{ReplayStore: store})
				require.Equal(t, 500, serve(h, form).Code)
				require.Equal(t, row.calls, store.calls, "%v before the end of the lease", row.left)
			})
		})
	}
}

// TestReplayStore_failureAfterTheLease has a function that fails after its lease, when another process has taken the event over. It must
// not end the other's claim.
func TestReplayStore_failureAfterTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse: func(context.Context, *webhook.FormResponse) error {
				first := calls.Add(1) == 1
				time.Sleep(6 * time.Minute)
				if first {
					return errors.New("too late")
				}
				return nil
			},
		}, nil)
		go serve(h, elements[0])
		time.Sleep(5*time.Minute + time.Second)
		go serve(h, elements[0])
		time.Sleep(2 * time.Minute)
		require.EqualValues(t, 2, calls.Load())
		require.Equal(t, 503, serve(h, elements[0]).Code)
		time.Sleep(10 * time.Minute)
		requireAnswer(t, serve(h, elements[0]), 200, `{"status":"duplicate"}`)
		require.EqualValues(t, 2, calls.Load())
	})
}

// fakeStore is a store whose answers are given, and that records what it is asked.
type fakeStore struct {
	begin       func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error)
	done, abort func(context.Context) error
	calls       []string
	lease, keep time.Duration
}

func (s *fakeStore) Begin(ctx context.Context, key webhook.ReplayKey, lease time.Duration) (webhook.ReplayState, error) {
	s.calls, s.lease = append(s.calls, "begin"), lease
	if s.begin == nil {
		return webhook.ReplayFresh, nil
	}
	return s.begin(ctx, key)
}

func (s *fakeStore) Done(ctx context.Context, _ webhook.ReplayKey, keep time.Duration) error {
	s.calls, s.keep = append(s.calls, "done"), keep
	if s.done == nil {
		return nil
	}
	return s.done(ctx)
}

func (s *fakeStore) Abort(ctx context.Context, _ webhook.ReplayKey) error {
	s.calls = append(s.calls, "abort")
	if s.abort == nil {
		return nil
	}
	return s.abort(ctx)
}

func TestReplayStore_failures(t *testing.T) {
	broken := errors.New("connection refused")
	fail := func(context.Context) error { return broken }
	panics := func(context.Context) error { panic(broken) }
	for _, c := range []struct {
		name   string
		store  *fakeStore
		err    error // of the function
		status int
		ran    int
		calls  []string
		text   string
	}{
		{name: "begin fails", store: &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return 0, broken }},
			err: nil, status: 503, ran: 0, calls: []string{"begin"}, text: "event 0 (new_form_response 1): replay store: connection refused"},
		{name: "begin gives no state", store: &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return 0, nil }},
			err: nil, status: 503, ran: 0, calls: []string{"begin"}, text: "Begin returned state 0"},
		{name: "done fails", store: &fakeStore{done: fail}, status: 200, ran: 2, calls: []string{"begin", "done", "begin", "done"}, text: "replay store: connection refused"},
		{name: "begin panics", store: &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { panic(broken) }},
			err: nil, status: 503, ran: 0, calls: []string{"begin"}, text: "event 1 (new_form_response 2): replay store: panic: connection refused"},
		{name: "begin fails with nil", store: &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return 0, (*nilError)(nil) }},
			err: nil, status: 503, ran: 0, calls: []string{"begin"}, text: "replay store: webhook: an error of type *webhook_test.nilError cannot be read"},
		{name: "done panics", store: &fakeStore{done: panics}, status: 200, ran: 2, calls: []string{"begin", "done", "begin", "done"}, text: "event 1 (new_form_response 2): processed, but a repeat may run it again: replay store: panic: connection refused"},
		{name: "abort panics", store: &fakeStore{abort: panics}, err: errors.New("disk full"), status: 500, ran: 2, calls: []string{"begin", "abort", "begin", "abort"}, text: "disk full (and replay store: panic: connection refused)"},
		{name: "permanent is done", store: &fakeStore{}, err: webhook.Permanent(errors.New("no such customer")), status: 200, ran: 2, calls: []string{"begin", "done", "begin", "done"}, text: "no such customer"},
		{name: "failure is aborted", store: &fakeStore{}, err: errors.New("disk full"), status: 500, ran: 2, calls: []string{"begin", "abort", "begin", "abort"}, text: "disk full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := 0
			var problems []string
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{
				FormResponse: func(context.Context, *webhook.FormResponse) error { ran++; return c.err },
			}, &webhook.HandlerOptions{ReplayStore: c.store, OnError: func(_ context.Context, err error) { problems = append(problems, err.Error()) }})
			w := serve(h, array(elements[:2]...))
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.status == 503, w.Header().Get("Retry-After") == "30")
			require.Equal(t, c.ran, ran)
			require.Equal(t, c.calls, c.store.calls)
			require.True(t, slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, c.text) }), "problems %q, want %q", problems, c.text)
		})
	}
}

// A store that ends the goroutine leaves an event that did not run: the delivery is not acknowledged. A hook that does it
// leaves none.
func TestReplayStore_goexit(t *testing.T) {
	exit := func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { runtime.Goexit(); return 0, nil }
	results := 0
	for _, row := range []struct {
		want int
		opts *webhook.HandlerOptions
	}{
		{want: 500, opts: &webhook.HandlerOptions{ReplayStore: &fakeStore{begin: exit}}},
		{want: 200, opts: &webhook.HandlerOptions{OnEvent: func(context.Context, webhook.EventResult) { results++; runtime.Goexit() }}},
	} {
		body := array(elements[:2]...)
		h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, row.opts)
		status, _ := h.Receive(t.Context(), signed(secret, "1795176000", body), []byte(body))
		require.Equal(t, row.want, status)
	}
	require.Equal(t, 2, results)
}

func TestHandler_retryAfter(t *testing.T) {
	busy := &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return webhook.ReplayBusy, nil }}
	for _, row := range []struct {
		timeout time.Duration
		want    string
	}{
		{timeout: 0, want: "30"}, {timeout: 30 * time.Second, want: "30"}, {timeout: time.Millisecond, want: "1"}, {timeout: time.Second, want: "1"},
		{timeout: 1500 * time.Millisecond, want: "2"}, {timeout: math.MaxInt64, want: "9223371977"},
	} {
		t.Run(fmt.Sprint(row.timeout), func(t *testing.T) {
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, &webhook.HandlerOptions{Timeout: row.timeout, ReplayStore: busy})
			w := serve(h, form)
			requireAnswer(t, w, 503, `{"status":"unavailable"}`)
			require.Equal(t, row.want, w.Header().Get("Retry-After"))
		})
	}
}

// TestReplayStore_full fills a handler's own store, which must not forget an event as long as its delivery could be repeated.
func TestReplayStore_full(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 events take a while")
	}
	clock := webhooktest.NewClock(noon)
	v := newVerifier(t, &webhook.VerifierOptions{Now: clock.Now, Tolerance: time.Hour, MaxBody: 4 << 20})
	h := webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil)
	const small = `{"webhookEvent":"x"}`
	deliver := func(body string) int {
		return serveRequest(h, webhooktest.NewRequest(target, secret, clock.Now(), []byte(body))).Code
	}
	require.Equal(t, 200, deliver("["+strings.Repeat(small+",", 99_999)+small+"]"))
	clock.Advance(2*time.Hour - time.Second)
	require.Equal(t, 503, deliver(form))
	require.Equal(t, 200, deliver(small), "what it knows is still a repeat")
	clock.Advance(time.Second)
	require.Equal(t, 200, deliver(form))
}

// TestReplayStore_context asks for the context of each store call: five seconds, values of the request, not its end.
func TestReplayStore_context(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		check := func(ctx context.Context) error {
			asked++
			assert.Equal(t, "value", ctx.Value(key{}))
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 5*time.Second, time.Until(deadline))
			assert.NoError(t, ctx.Err())
			<-ctx.Done()
			return ctx.Err()
		}
		store := &fakeStore{done: check, abort: check}
		var result error
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			Default: func(context.Context, webhook.Event) error {
				time.Sleep(time.Minute) // longer than the store's time, which must not be shared
				return result
			},
		}, &webhook.HandlerOptions{ReplayStore: store})
		send := func() int {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
			cancel()
			return serveRequest(h, webhooktest.NewRequest(target, secret, noon, []byte(form)).WithContext(ctx)).Code
		}
		require.Equal(t, 200, send())
		result = errors.New("disk full")
		require.Equal(t, 500, send())
		store.begin = func(ctx context.Context, _ webhook.ReplayKey) (webhook.ReplayState, error) { return 0, check(ctx) }
		require.Equal(t, 503, send())
		require.Equal(t, 3, asked)

		var kept context.Context
		store.begin = func(ctx context.Context, _ webhook.ReplayKey) (webhook.ReplayState, error) {
			kept = ctx
			return webhook.ReplayDone, nil
		}
		require.Equal(t, 200, send())
		require.Equal(t, context.Canceled, kept.Err(), "the context of a call ends with it")
	})
}

func TestHandlerOptions_durations(t *testing.T) {
	for _, c := range []struct {
		name        string
		tolerance   time.Duration
		opts        webhook.HandlerOptions
		lease, keep time.Duration
	}{
		{name: "defaults", lease: 5 * time.Minute, keep: 24 * time.Hour},
		{name: "given", opts: webhook.HandlerOptions{ReplayTTL: time.Hour}, lease: 5 * time.Minute, keep: time.Hour},
		{name: "short keep", opts: webhook.HandlerOptions{ReplayTTL: time.Second}, lease: 5 * time.Minute, keep: 10 * time.Minute},
		{name: "wide tolerance", tolerance: 24 * time.Hour, lease: 5 * time.Minute, keep: 48 * time.Hour},
		{name: "no tolerance", tolerance: -1, lease: 5 * time.Minute, keep: 24 * time.Hour},
		{name: "long functions", opts: webhook.HandlerOptions{Timeout: time.Hour}, lease: 61 * time.Minute, keep: 24 * time.Hour},
		{name: "no end", tolerance: math.MaxInt64, opts: webhook.HandlerOptions{Timeout: math.MaxInt64}, lease: math.MaxInt64, keep: math.MaxInt64 - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &fakeStore{}
			c.opts.ReplayStore = store
			h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Now: atNoon, Tolerance: c.tolerance}), webhook.Funcs{Default: ignore}, &c.opts)
			require.Equal(t, 200, serve(h, form).Code)
			require.Equal(t, c.lease, store.lease)
			require.Equal(t, c.keep, store.keep)
		})
	}
}
