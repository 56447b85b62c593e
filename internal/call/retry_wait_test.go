package call_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// waits makes a call in a bubble, against a transport that always gives the same answer, and returns when each attempt was
// made and when the call returned, all since its start.
func waits(t *testing.T, call clienttest.Call, deadline time.Duration, respond func(*http.Request) *http.Response, change ...func(*signforms.Options)) (attempts []time.Duration, end time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := &signforms.Options{LimitStore: signforms.NewMemoryLimitStore(nil)}
		o.Transport = clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			attempts = append(attempts, time.Since(start))
			return respond(req), nil
		})
		for _, f := range change {
			f(o)
		}
		c, newErr := signforms.New("https://api.example.com", clienttest.APIKey, o)
		require.NoError(t, newErr)
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if deadline > 0 {
			ctx, cancel = context.WithTimeout(ctx, deadline)
		}
		defer cancel()
		err = call.Do(ctx, c)
		end = time.Since(start)
	})
	return attempts, end, err
}

// retryAfter answers with this header and, unless it is empty, this Date.
func retryAfter(status int, value, date string) func(*http.Request) *http.Response {
	return func(req *http.Request) *http.Response {
		resp := clienttest.Reply(req, status, "")
		resp.Header.Set("Retry-After", value)
		if date != "" {
			resp.Header.Set("Date", date)
		}
		return resp
	}
}

func seconds(n ...int) (d []time.Duration) {
	for _, s := range n {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

func after(d ...time.Duration) []time.Duration { return d }

// least passes before any repeat: half of the default RetryWaitMin.
const least = 250 * time.Millisecond

// The clock of a bubble starts at midnight of the first of January 2000, a Saturday.
const (
	midnight   = "Sat, 01 Jan 2000 00:00:00 GMT"
	atTwenty   = "Sat, 01 Jan 2000 00:00:20 GMT"
	inJune     = "Thu, 01 Jun 2000 12:00:00 GMT"
	inJuneAt20 = "Thu, 01 Jun 2000 12:00:20 GMT"
)

func TestRetryAfter_isHonoured(t *testing.T) {
	for _, c := range []struct {
		name        string
		value, date string
		deadline    time.Duration
		attempts    []time.Duration
		retryAfter  time.Duration // in the error
	}{
		{name: "seconds", value: "20", attempts: seconds(0, 20, 40, 60), retryAfter: 20 * time.Second},
		{name: "as long as RetryWaitMax", value: "30", attempts: seconds(0, 30, 60, 90), retryAfter: 30 * time.Second},
		{name: "beyond RetryWaitMax", value: "31", attempts: seconds(0), retryAfter: 31 * time.Second},
		{name: "beyond a day", value: "999999999", attempts: seconds(0), retryAfter: 24 * time.Hour},
		{name: "decimals", value: "20.0", attempts: seconds(0, 20, 40, 60), retryAfter: 20 * time.Second},
		{name: "decimals, rounded up", value: "19.001", attempts: seconds(0, 20, 40, 60), retryAfter: 20 * time.Second},
		{name: "no wait", value: "0", attempts: after(0, least, 2*least, 3*least)},
		{name: "within the deadline", value: "20", deadline: 50 * time.Second, attempts: seconds(0, 20, 40), retryAfter: 20 * time.Second},
		{name: "beyond the deadline", value: "20", deadline: 20 * time.Second, attempts: seconds(0), retryAfter: 20 * time.Second},
		{name: "date", value: atTwenty, date: midnight, deadline: 30 * time.Second, attempts: seconds(0, 20), retryAfter: 20 * time.Second},
		{name: "date, by the service's clock", value: inJuneAt20, date: inJune, attempts: seconds(0, 20, 40, 60), retryAfter: 20 * time.Second},
		{name: "date without a Date", value: atTwenty, attempts: after(0, 20*time.Second, 20*time.Second+least, 20*time.Second+2*least)},
		{name: "date in the past", value: midnight, date: inJune, attempts: after(0, least, 2*least, 3*least)},
		{name: "date of another form", value: "Thursday, 01-Jun-00 12:00:20 GMT", date: inJune, attempts: seconds(0, 20, 40, 60), retryAfter: 20 * time.Second},
		{name: "date beyond RetryWaitMax", value: inJuneAt20, date: midnight, attempts: seconds(0), retryAfter: 24 * time.Hour},
		{name: "date of an unreadable Date", value: atTwenty, date: "today", attempts: after(0, 20*time.Second, 20*time.Second+least, 20*time.Second+2*least)},
		{name: "leading zeros are still a ten", value: "0010", attempts: seconds(0, 10, 20, 30), retryAfter: 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, inner := range []struct {
				method string
				status int
			}{{method: "Documents.List", status: 503}, {method: "Documents.Void", status: 429}, {method: "Templates.Send", status: 429}} {
				t.Run(inner.method, func(t *testing.T) {
					attempts, end, err := waits(t, clienttest.CallOf(t, inner.method), c.deadline, retryAfter(inner.status, c.value, c.date))
					require.Equal(t, c.attempts, attempts, "%s, %s", c.name, inner.method)
					require.Equal(t, attempts[len(attempts)-1], end, "%s: it returns at once", c.name)
					e := clienttest.AsError(t, err)
					require.Equal(t, cmp.Or(c.retryAfter, time.Second), e.RetryAfter)
					require.Equal(t, inner.status, e.StatusCode)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				})
			}
		})
	}
}

// TestRetryAfter_invalid is passed over for the usual wait.
func TestRetryAfter_invalid(t *testing.T) {
	for _, value := range []string{"", "-1", "soon", "+5", "5s", "1e3", "5.", ".5", "1,5", "1 000", "0x10", "Inf", "NaN",
		"1795168800", "1000000000", "1795168800.5", "1795168800000", "99999999999999999999", strings.Repeat("9", 400)} {
		t.Run(value[:min(len(value), 20)], func(t *testing.T) {
			attempts, _, err := waits(t, clienttest.CallOf(t, "Documents.List"), 0, retryAfter(503, value, ""))
			require.Len(t, attempts, 4)
			require.LessOrEqual(t, attempts[3], 3500*time.Millisecond)
			require.Equal(t, time.Second, clienttest.AsError(t, err).RetryAfter)
			require.NotContains(t, err.Error(), "retry after")
		})
	}
}

// TestRetryAfter_onlyWhereRetried: a send is not repeated after a 503 because it says when.
func TestRetryAfter_onlyWhereRetried(t *testing.T) {
	for _, method := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		t.Run(method, func(t *testing.T) {
			attempts, _, err := waits(t, clienttest.CallOf(t, method), 0, retryAfter(503, "1", ""))
			require.Len(t, attempts, 1)
			clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
			require.Equal(t, time.Second, clienttest.AsError(t, err).RetryAfter)
			require.NotContains(t, err.Error(), "retry after")
		})
	}
	attempts, _, err := waits(t, clienttest.CallOf(t, "Documents.List"), 0, retryAfter(404, "1", ""))
	require.Len(t, attempts, 1)
	clienttest.RequireMatches(t, err, signforms.ErrNotFound)
}

// TestRemind_waitsForTheBudget: a 429 blocks the budget, and ReminderMaxWait says whether the call waits there.
func TestRemind_waitsForTheBudget(t *testing.T) {
	remind := clienttest.CallOf(t, "Documents.Remind")
	attempts, end, err := waits(t, remind, 0, retryAfter(429, "20", ""))
	require.Equal(t, seconds(0), attempts)
	require.Zero(t, end)
	clienttest.RequireMatches(t, err, signforms.ErrRateLimited)
	e := clienttest.AsError(t, err)
	require.Equal(t, 429, e.StatusCode)
	require.NotZero(t, e.Attempts, "one request was sent")
	require.Equal(t, 20*time.Second, e.RetryAfter)

	_, _, err = waits(t, remind, 0, func(req *http.Request) *http.Response { return clienttest.Reply(req, 429, "") })
	require.Equal(t, 15*time.Minute, clienttest.AsError(t, err).RetryAfter, "how long the budget stays closed when the service does not say")

	attempts, _, err = waits(t, remind, 0, retryAfter(429, "20", ""), func(o *signforms.Options) { o.ReminderMaxWait = -1 })
	require.Equal(t, seconds(0, 20, 40, 60), attempts)
	require.Equal(t, 4, clienttest.AsError(t, err).Attempts)
	attempts, _, _ = waits(t, remind, 0, retryAfter(429, "20", ""), func(o *signforms.Options) { o.ReminderMaxWait = 50 * time.Second })
	require.Equal(t, seconds(0, 20, 40), attempts, "50 s in all")
	attempts, _, err = waits(t, remind, 50*time.Second, retryAfter(429, "20", ""), func(o *signforms.Options) { o.ReminderMaxWait = -1 })
	require.Equal(t, seconds(0, 20, 40), attempts)
	clienttest.RequireMatches(t, err, signforms.ErrRateLimited)
}

// TestRemind_notRepeatedAtOnce: a 429 that asks for no wait costs a slot each time.
func TestRemind_notRepeatedAtOnce(t *testing.T) {
	for _, value := range []string{"0", "Fri, 31 Dec 1999 23:00:00 GMT"} {
		t.Run(value, func(t *testing.T) {
			for _, maxWait := range []time.Duration{0, -1} {
				t.Run(fmt.Sprint(maxWait), func(t *testing.T) {
					attempts, _, err := waits(t, clienttest.CallOf(t, "Documents.Remind"), 0, retryAfter(429, value, ""), func(o *signforms.Options) { o.ReminderMaxWait = maxWait })
					require.Equal(t, after(0, least, 2*least, 3*least), attempts)
					clienttest.RequireMatches(t, err, signforms.ErrRateLimited)
				})
			}
		})
	}
	attempts, _, _ := waits(t, clienttest.CallOf(t, "Documents.Remind"), 0, retryAfter(429, "1", ""), func(o *signforms.Options) {
		o.ReminderMaxWait, o.RetryWaitMin = -1, 10*time.Second
	})
	require.Equal(t, seconds(0, 5, 10, 15), attempts, "the budget opens before half of RetryWaitMin has passed")
}

// TestRetry_jitter: before the n-th retry the wait is anything from half of RetryWaitMin to RetryWaitMin doubled n-1 times, at
// most RetryWaitMax.
func TestRetry_jitter(t *testing.T) {
	const calls, retries = 300, 9
	var shortest, most [retries]time.Duration
	for i := range calls {
		attempts, _, _ := waits(t, clienttest.CallOf(t, "Documents.List"), 0, func(req *http.Request) *http.Response { return clienttest.Reply(req, 503, "") },
			func(o *signforms.Options) { o.MaxAttempts, o.RetryWaitMax = retries+1, 20*time.Second })
		require.Len(t, attempts, retries+1)
		for n := range retries {
			wait := attempts[n+1] - attempts[n]
			if i == 0 || wait < shortest[n] {
				shortest[n] = wait
			}
			most[n] = max(most[n], wait)
		}
	}
	for n := range retries {
		bound := min(500*time.Millisecond<<n, 20*time.Second)
		require.LessOrEqual(t, most[n], bound, "retry %d", n+1)
		// One run in 10¹³ has 300 draws of which none is in the upper tenth, or none in the lower.
		require.GreaterOrEqual(t, shortest[n], least, "retry %d", n+1)
		require.Greater(t, most[n], bound-(bound-least)/10, "retry %d", n+1)
		require.Less(t, shortest[n], least+(bound-least)/10, "retry %d", n+1)
	}
}

// TestRetry_waitDoesNotOverflow: settings without an upper bound.
func TestRetry_waitDoesNotOverflow(t *testing.T) {
	attempts, end, err := waits(t, clienttest.CallOf(t, "Documents.List"), time.Hour, func(req *http.Request) *http.Response { return clienttest.Reply(req, 503, "") },
		func(o *signforms.Options) { o.MaxAttempts, o.RetryWaitMax = 1000, 1<<63-1 })
	require.Greater(t, len(attempts), 8)
	require.Less(t, end, time.Hour, "the next wait would outlast the deadline")
	clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
}

// onceStore gives one slot, and then does not answer.
type onceStore struct {
	*signforms.MemoryLimitStore
	takes int
}

func (s *onceStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	if s.takes++; s.takes > 1 {
		return "", 0, errors.New("connection refused")
	}
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

// TestRemind_refusedSlotEndsTheCall: a retry for which there is no slot is not tried again, which would try the store's patience.
func TestRemind_refusedSlotEndsTheCall(t *testing.T) {
	store := &onceStore{MemoryLimitStore: signforms.NewMemoryLimitStore(nil)}
	c := clienttest.Scripted(t, clienttest.Answers(429, "later"), func(o *signforms.Options) { o.LimitStore = store })
	err := clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c)
	require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
	require.Equal(t, 2, store.takes)
}
