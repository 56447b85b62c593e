package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// A single worker runs all events, of all ordering keys, without a pause between them.
func TestRun_oneWorkerDoesNotPause(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Workers: 1})
		s.accept(q, completed("a", 1), completed("a", 2), completed("b", 1), completed("b", 2), completed("c", 1))
		var j journal
		begun := time.Now()
		s.run(q, j.noting(nil))
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.Less(s, time.Since(begun), time.Second)
		require.Equal(s, []string{"a/1", "a/2", "b/1", "b/2", "c/1"}, j.sorted())
	})
}

func TestReceive_duplicates(t *testing.T) {
	eachStore(t, func(s stage) {
		var j journal
		q := s.queue(nil)
		payload := webhooktest.Payload(completed("a", 1), completed("a", 1), completed("a", 2))
		require.JSONEq(s, `{"status":"ok"}`, s.deliver(q, payload).Body.String())
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, payload).Body.String())
		s.run(q, j.noting(nil))
		s.settled(q)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, payload).Body.String(), "after it was processed")
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(s.queue(nil), payload).Body.String(), "in another process")
		require.JSONEq(s, `{"status":"ok"}`, s.deliver(q, webhooktest.Payload(completed("a", 2), completed("a", 3))).Body.String(), "in another batch")
		s.settled(q)
		require.Equal(s, []string{"a/1", "a/1", "a/2", "a/3"}, j.all(), "equal elements of one delivery are two events")
	})
}

func TestRun_retriesOverADay(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		var at []time.Duration
		begun := time.Now()
		q := s.queue(nil)
		s.accept(q, completed("a", 1), completed("a", 2))
		var j journal
		s.run(q, j.noting(func(_ context.Context, e webhook.Event) error {
			if name(e) != "a/1" {
				return nil
			}
			at = append(at, time.Since(begun))
			return errors.New("out of order")
		}))
		s.settledSlowly(q)
		require.Len(s, at, 11)
		require.Less(s, at[0], time.Second)
		wait := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour}
		for i := range wait {
			require.InDelta(s, wait[i].Seconds(), (at[i+1] - at[i]).Seconds(), wait[i].Seconds()/10+1, "wait %d", i+1)
		}
		require.InDelta(s, 24, at[10].Hours(), 2.5)
		require.Equal(s, "a/2", j.all()[11], "the ordering key goes on")
		failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
		require.Len(s, failed, 1)
		require.Equal(s, 11, failed[0].Attempts)
		require.Equal(s, "out of order", failed[0].Error)
		require.Equal(s, queue.Failed, failed[0].State)
		require.Equal(s, "a", failed[0].Subject)
	})
}

// settledSlowly is settled for waits of hours.
func (s stage) settledSlowly(q *queue.Queue) {
	s.Helper()
	for range 10_000 {
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		if st.Pending == 0 {
			return
		}
		time.Sleep(10 * time.Minute)
	}
	require.Fail(s, "events are still pending")
}

func TestRun_failuresOfAFunction(t *testing.T) {
	cases := []struct {
		name  string
		fail  func(context.Context) error
		tries int
		says  string
	}{
		{name: "error", fail: func(context.Context) error { return errors.New("no luck") }, tries: 3, says: "no luck"},
		{name: "permanent", fail: func(context.Context) error { return webhook.Permanent(errors.New("never")) }, tries: 1, says: "never"},
		{name: "panic", fail: func(context.Context) error { panic("oh") }, tries: 3, says: "panic: oh"},
		{name: "goexit", fail: func(context.Context) error { runtime.Goexit(); return nil }, tries: 3, says: "runtime.Goexit"},
		{name: "time-out", fail: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, tries: 3, says: "deadline exceeded"},
		{name: "retry after", fail: func(context.Context) error { return queue.RetryAfter(errors.New("busy"), time.Hour) }, tries: 3, says: "busy"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachStoreVirtually(t, func(s stage) {
				q := s.queue(&queue.Options{Retries: []time.Duration{time.Second, time.Second}})
				s.accept(q, completed("a", 1), completed("a", 2), completed("b", 1))
				begun := time.Now()
				var j journal
				s.run(q, j.noting(func(ctx context.Context, e webhook.Event) error {
					if name(e) == "a/1" {
						return c.fail(ctx)
					}
					return nil
				}))
				s.settledSlowly(q)
				failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
				require.Len(s, failed, 1)
				require.Contains(s, failed[0].Error, c.says)
				require.Equal(s, c.tries, failed[0].Attempts)
				require.Len(s, j.all(), c.tries+2)
				if c.name == "retry after" {
					require.GreaterOrEqual(s, time.Since(begun), 2*time.Hour)
				}
			})
		})
	}
}

// An event with an unreadable field runs like any other, and is logged at its first try.
func TestRun_unreadableField(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		var log logged
		q := s.queue(&queue.Options{Retries: []time.Duration{time.Second}, Logger: log.logger()})
		require.Equal(s, 200, s.deliver(q, []byte(`[{"webhookEvent":"new_template_response_individual_signed","documentId":"t",
			"signers":[{"signerId":"s"}],"signedBy":{"signedAt":"yesterday"}}]`)).Code)
		tries := 0
		s.run(q, webhook.Funcs{TemplateSigned: func(_ context.Context, e *webhook.TemplateSigned) error {
			assert.Zero(s, e.SignedBy.SignedAt)
			assert.Equal(s, "signedBy.signedAt", e.FieldErrors()[0].Field)
			if tries++; tries == 1 {
				return errors.New("no luck")
			}
			return nil
		}})
		s.settledSlowly(q)
		require.Equal(s, 2, tries)
		require.Empty(s, s.list(q, queue.Filter{States: []queue.State{queue.Failed}}))
		require.Equal(s, 1, log.count("signedBy.signedAt is not a time"))
	})
}

func TestReceive_redeliveryOfAFailedEvent(t *testing.T) {
	eachStore(t, func(s stage) {
		broken := true
		var j journal
		q := s.queue(&queue.Options{Retries: []time.Duration{0, 0}})
		s.run(q, j.noting(func(context.Context, webhook.Event) error {
			if broken {
				return errors.New("broken")
			}
			return nil
		}))
		s.accept(q, completed("a", 1))
		s.settled(q)
		require.Len(s, j.all(), 3)
		s.accept(q, completed("a", 1))
		s.settled(q)
		require.Len(s, j.all(), 4, "one more try, not a whole round")
		broken = false
		s.accept(q, completed("a", 1))
		s.settled(q)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, webhooktest.Payload(completed("a", 1))).Body.String())
		require.Len(s, j.all(), 5)
		require.Empty(s, s.list(q, queue.Filter{States: []queue.State{queue.Failed}}))
	})
}

// An event that is tried again now runs now, whatever its ordering key waits for.
func TestRetry_eventBeforeAWaitingOne(t *testing.T) {
	again := map[string]func(stage, *queue.Queue){
		"delivered again": func(s stage, q *queue.Queue) { s.accept(q, completed("a", 1)) },
		"retried": func(s stage, q *queue.Queue) {
			n, err := q.Retry(s.Context(), queue.Filter{States: []queue.State{queue.Failed}})
			require.NoError(s, err)
			require.Equal(s, 1, n)
		},
	}
	for how, retry := range again {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprint(how, " while the other runs: ", running), func(t *testing.T) {
				eachStoreVirtually(t, func(s stage) {
					q := s.queue(&queue.Options{Retries: []time.Duration{4 * time.Hour, 4 * time.Hour}})
					var fixed atomic.Bool
					var j journal
					s.run(q, j.noting(func(_ context.Context, e webhook.Event) error {
						if name(e) == "a/2" {
							time.Sleep(30 * time.Second)
						}
						if fixed.Load() {
							return nil
						}
						if name(e) == "a/1" {
							return webhook.Permanent(errors.New("never"))
						}
						return errors.New("later")
					}))
					s.accept(q, completed("a", 1), completed("a", 2))
					if running {
						time.Sleep(10 * time.Second)
						retry(s, q)
						time.Sleep(21 * time.Second) // a/2 fails
					} else {
						time.Sleep(40 * time.Second)
						retry(s, q)
					}
					time.Sleep(time.Second)
					require.Equal(s, []string{"a/1", "a/2", "a/1"}, j.all()[:min(3, len(j.all()))])
					fixed.Store(true)
					s.settledSlowly(q)
				})
			})
		}
	}
}

func TestReceive_senderHangsUp(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		ctx, cancel := context.WithCancel(s.Context())
		r := webhooktest.NewRequest("http://example.com/", secret, time.Now(), webhooktest.Payload(completed("a", 1)))
		r.Body = &hangUp{r.Body, cancel}
		require.Equal(s, http.StatusOK, s.send(q, r.WithContext(ctx)).Code, "what has arrived whole is stored")
		require.ErrorIs(s, ctx.Err(), context.Canceled)
		require.Len(s, s.list(q, queue.Filter{}), 1)
	})
}

// hangUp calls a function when the body has been read.
type hangUp struct {
	io.ReadCloser
	end func()
}

func (h *hangUp) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if err == io.EOF {
		h.end()
	}
	return n, err
}

func TestReceive_responses(t *testing.T) {
	eachStore(t, func(s stage) {
		var got []queue.Received
		q := s.queue(&queue.Options{MaxPending: 4, OnReceived: func(_ context.Context, r queue.Received) { got = append(got, r) }})
		for _, c := range []struct {
			payload string
			code    int
			body    string
		}{
			{payload: "[]", code: 200, body: `{"status":"ok"}`},
			{payload: `[{"webhookEvent":"new","n":1},{"formId":7}]`, code: 200, body: `{"status":"ok"}`},
			{payload: `[7]`, code: 200, body: `{"status":"ok"}`},
			{payload: `[{"n":1},{"n":2}]`, code: 503, body: `{"status":"unavailable"}`},
			{payload: `{"n":1}`, code: 200, body: `{"status":"ok"}`},
			{payload: `{"n":2}`, code: 503, body: `{"status":"unavailable"}`},
			{payload: `[1]`, code: 503, body: `{"status":"unavailable"}`},
			{payload: `{"n":1}`, code: 200, body: `{"status":"duplicate"}`},
			{payload: `[{"webhookEvent":"new","n":1},{"n":1},{"formId":7},[7]]`, code: 503, body: `{"status":"unavailable"}`},
			{payload: `1`, code: 400, body: `{"status":"invalid_payload"}`},
			{payload: `nonsense`, code: 400, body: `{"status":"invalid_payload"}`},
		} {
			w := s.deliver(q, []byte(c.payload))
			require.Equal(s, c.code, w.Code)
			require.JSONEq(s, c.body, w.Body.String())
			require.Equal(s, c.code == 503, w.Header().Get("Retry-After") != "")
			require.Equal(s, c.code, got[len(got)-1].Status)
			require.Equal(s, c.code != 200, got[len(got)-1].Err != nil)
		}
		require.ErrorIs(s, got[3].Err, queue.ErrFull)
		require.Equal(s, 2, got[1].Stored)
		require.Len(s, s.list(q, queue.Filter{}), 4, "a delivery is stored whole or not at all")
		w := s.deliverAs(q, "another secret")
		require.Equal(s, http.StatusUnauthorized, w.Code)
		require.Equal(s, http.StatusUnauthorized, got[len(got)-1].Status)
	})
}

// A delivery that is larger than the limit would be refused for ever.
func TestReceive_largeDeliveryIntoAnEmptyQueue(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{MaxPending: 2})
		s.accept(q, completed("a", 1), completed("a", 2), completed("a", 3))
		require.Equal(s, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("a", 4))).Code)
		var j journal
		s.run(q, j.noting(nil))
		s.settledSlowly(q)
		time.Sleep(time.Second)
		s.accept(q, completed("b", 1), completed("b", 2), completed("b", 3))
		s.settledSlowly(q)
		require.Len(s, j.all(), 6)
	})
}

// Events are told apart by their JSON: without any, the second would be taken for a repeat of the first.
func TestStore_refusesEventsWithoutJSON(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		parsed := s.parsed(completed("a", 1))
		err := q.Store(s.Context(), append(parsed, completed("a", 2)))
		require.ErrorContains(s, err, "event 2 of 2 has no JSON")
		require.ErrorContains(s, q.Store(s.Context(), []webhook.Event{nil}), "event 1 of 1 has no JSON")
		require.Empty(s, s.list(q, queue.Filter{}), "all or none")
		require.NoError(s, q.Store(s.Context(), parsed))
	})
}

// The statements of a large delivery do not go on, and hold others up, when its time is over.
func TestReceive_endsWithItsTime(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		require.ErrorContains(s, q.StoreTooLate(s.Context(), s.parsed(completed("a", 1))), "not committed within 2 seconds")
		require.Empty(s, s.list(q, queue.Filter{}))
	})
}
