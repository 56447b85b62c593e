package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// take is one request at a time after noon and what becomes of it: 0 lets it in, anything else is the wait.
type take struct{ at, wait time.Duration }

func TestReminderLimit_slidingWindow(t *testing.T) {
	const m = time.Minute
	noon := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	limit := api.SlidingWindow(5, 15*m)
	for i, want := range []take{
		{at: 0, wait: 0}, {at: m, wait: 0}, {at: 2 * m, wait: 0}, {at: 3 * m, wait: 0}, {at: 4 * m, wait: 0},
		{at: 5 * m, wait: 10 * m}, {at: 14 * m, wait: m}, {at: 15*m - 1, wait: 1}, {at: 15 * m, wait: 0}, {at: 15 * m, wait: m}, {at: 16 * m, wait: 0},
		{at: 17 * m, wait: 0}, {at: 18 * m, wait: 0}, {at: 19 * m, wait: 0}, {at: 19 * m, wait: 11 * m},
	} {
		wait, ok := limit.Take("key", noon.Add(want.at))
		require.Equal(t, want.wait, wait, "request %d at %s", i, want.at)
		require.Equal(t, want.wait == 0, ok)
	}
	_, ok := limit.Take("other key", noon.Add(19*m))
	require.True(t, ok, "each key has a limit of its own")
	require.Equal(t, "At most 5 reminders in 15 minutes", limit.String())
}

func TestReminderLimit_returnedArrivals(t *testing.T) {
	noon := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	limit := api.SlidingWindow(2, time.Hour)
	for i, wantOK := range []bool{true, true, false} {
		_, ok := limit.Take("key", noon.Add(time.Duration(i)))
		require.Equal(t, wantOK, ok)
	}
	limit.Return("key", noon)
	_, ok := limit.Take("key", noon.Add(9))
	require.True(t, ok)
	_, ok = limit.Take("key", noon.Add(9))
	require.False(t, ok)
}

// TestReminderLimit_countsArrivalsInOrder has many reminders arrive at once, each reading a later time from the clock.
func TestReminderLimit_countsArrivalsInOrder(t *testing.T) {
	limit := api.SlidingWindow(200, time.Hour)
	srv := newServer(t, func(o *api.Options) { o.Reminders, o.Log = limit, nil })
	var ticks atomic.Int64
	srv.API.Store = store.New(func() time.Time {
		now := srv.now.Add(time.Duration(ticks.Add(1)) * time.Millisecond)
		runtime.Gosched() // lets others overtake
		return now
	})
	require.NoError(t, srv.API.Store.Update(func(tx *store.Tx) error {
		tx.PutService(store.Service{WorkspaceID: workspace})
		tx.PutKey(apiKey)
		return nil
	}))
	r := load(t, "send_reminder")
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() { r.send(srv) })
	}
	wg.Wait()
	var came []time.Time
	require.NoError(t, json.Unmarshal(limit.State(apiKey), &came))
	require.Len(t, came, 200)
	require.True(t, slices.IsSortedFunc(came, time.Time.Compare))
}

func remind(t testing.TB, srv *server, change func(*request)) *httptest.ResponseRecorder {
	r := load(t, "send_reminder")
	if change != nil {
		change(&r)
	}
	return r.send(srv)
}

func TestReminderLimit_overHTTP(t *testing.T) {
	srv := newServer(t, nil)
	start := srv.now
	for i, change := range []func(*request){ // refused ones count too, whatever refused them
		nil,
		both("documentId", completed),
		raw("{"),
		header("Content-Type", "text/plain"),
		both("documentId", "x"),
	} {
		srv.now = start.Add(time.Duration(i) * time.Second)
		require.NotEqual(t, http.StatusTooManyRequests, remind(t, srv, change).Code)
		require.True(t, srv.last().Counted)
	}
	srv.now = start.Add(time.Minute + 400*time.Millisecond)
	for range 3 {
		w := remind(t, srv, nil)
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, "840", w.Header().Get("Retry-After"), "13 min 59.6 s, rounded up")
		require.Equal(t, wantAnswer(t, "error_429"), parse(t, w.Body.Bytes()))
		require.False(t, srv.last().Counted, "what is answered 429 does not count")
		require.Equal(t, "limit", srv.last().Rule)
	}
	require.NoError(t, srv.store.Update(func(tx *store.Tx) error { tx.PutKey("second key"); return nil }))
	w := remind(t, srv, header("x-api-key", "second key"))
	require.Equal(t, http.StatusOK, w.Code, "each key of a workspace has a limit of its own")
	w = remind(t, srv, header("x-api-key", "wrong"))
	require.Equal(t, http.StatusForbidden, w.Code, "who has no key learns nothing of the limit")
	require.Equal(t, http.StatusOK, load(t, "void_document").send(srv).Code, "other operations have no limit")

	srv.now = start.Add(15 * time.Minute)
	require.Equal(t, http.StatusConflict, remind(t, srv, nil).Code, "the first one left the window; the document is void by now")
	w = remind(t, srv, nil)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
}

// TestReminderLimit_lostAndFaultyResponsesCount drops some answers and answers others with a 429 of its own.
func TestReminderLimit_lostAndFaultyResponsesCount(t *testing.T) {
	status := 0
	srv := newServer(t, func(o *api.Options) {
		o.Intercept = func(_ context.Context, _ *api.Call, work func() api.Answer) api.Answer {
			if status == 0 {
				work()
				return api.Answer{}
			}
			return api.Answer{Status: status, Header: http.Header{}}
		}
	})
	status = http.StatusTooManyRequests
	for range 9 {
		require.Equal(t, http.StatusTooManyRequests, remind(t, srv, nil).Code)
		require.Empty(t, srv.last().Rule, "it was not the limit that refused it")
	}
	status = 0
	for range 3 {
		require.PanicsWithValue(t, http.ErrAbortHandler, func() { remind(t, srv, nil) })
		require.True(t, srv.last().Counted)
		require.True(t, srv.last().AnswerLost)
	}
	status = http.StatusBadGateway
	for range 2 {
		require.Equal(t, http.StatusBadGateway, remind(t, srv, nil).Code)
	}
	w := remind(t, srv, nil)
	require.Equal(t, "limit", srv.last().Rule)
	require.Equal(t, strconv.Itoa(15*60), w.Header().Get("Retry-After"))
}

// TestReminderLimit_concurrentReminders sends many at once: exactly five are let in.
func TestReminderLimit_concurrentReminders(t *testing.T) {
	var admitted, refused atomic.Int64
	srv := newServer(t, func(o *api.Options) {
		o.Log = func(r api.Record) {
			if r.StatusCode == http.StatusOK {
				admitted.Add(1)
			} else if r.StatusCode == http.StatusTooManyRequests {
				refused.Add(1)
			}
		}
	})
	r := load(t, "send_reminder")
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() { r.send(srv) })
	}
	wg.Wait()
	require.EqualValues(t, 5, admitted.Load())
	require.EqualValues(t, 195, refused.Load())
}
