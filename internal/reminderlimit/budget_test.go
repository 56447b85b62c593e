package reminderlimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

func TestSlot_freesAfterTheResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(20 * time.Second)
			return httpmock.NewStringResponse(http.StatusOK, `{"message":"ok"}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{})
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.NoError(t, err)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 4})
		time.Sleep(15*time.Minute + time.Second - 1)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 4})
		time.Sleep(time.Nanosecond)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
	})
}

func TestBudget_nextSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{})
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
		for left := 4; left > 0; left-- {
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			require.NoError(t, err)
			clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: left})
			time.Sleep(time.Minute)
		}
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.NoError(t, err)
		clienttest.RequireBudget(t, documents, signforms.Budget{NextIn: 11*time.Minute + time.Second})
		time.Sleep(12*time.Minute + time.Second)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 2})
	})
}

// A transport that reports nothing proves nothing, whatever its error looks like.
func TestSlot_heldWithoutTrace(t *testing.T) {
	for _, failure := range []error{
		io.EOF, errors.New("scripted"), &net.OpError{Op: "dial", Err: errors.New("connection refused")}, &net.DNSError{IsNotFound: true},
	} {
		t.Run(fmt.Sprint(failure), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := httpmock.NewMockTransport()
				service.RegisterNoResponder(httpmock.NewErrorResponder(failure))
				documents := clienttest.BudgetClient(t, service, signforms.Options{})
				for n := range 5 {
					_, err := documents.Remind(t.Context(), clienttest.DocNumber(n))
					require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
					require.Equal(t, n+1, service.GetTotalCallCount(), "requests after %d calls that failed with %v", n+1, failure)
				}
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(5))
				clienttest.RequireLocal(t, err, signforms.ErrRateLimited, 16*time.Minute+time.Second)
				require.Equal(t, 5, service.GetTotalCallCount())
			})
		})
	}
}

func TestSlot_returnedAfterARefusedDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, errors.New("connection refused")
		}}
		documents := clienttest.BudgetClient(t, transport, signforms.Options{MaxAttempts: 8, RetryWaitMax: time.Second})
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.ErrorIs(t, err, signforms.ErrUnavailable)
		require.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 8, dials, "more attempts than slots")
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
	})
}

func TestSlot_oneForEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) { return clienttest.Answers429("1"), nil }}
		documents := clienttest.BudgetClient(t, service, signforms.Options{MaxAttempts: 9, ReminderMaxWait: 5 * time.Minute})
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		var e *signforms.Error
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, signforms.ErrRateLimited)
		require.Equal(t, 5, e.Attempts, "the sixth had no slot")
		require.Equal(t, http.StatusTooManyRequests, e.StatusCode)
		require.NotZero(t, e.Attempts)
		require.Equal(t, 15*time.Minute+time.Second-4*time.Second, e.RetryAfter, "from when the first of five was answered")
		require.Equal(t, 5, service.Count())
	})
}

func TestReminderMaxWait_exceededFailsAtOnce(t *testing.T) {
	const full = 15*time.Minute + time.Second
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, signforms.NewMemoryLimitStore(nil)
		impatient := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		patient := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		middling := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: 10 * time.Minute})
		clienttest.UseUp(t, impatient)
		start := time.Now()

		_, err := impatient.Remind(t.Context(), clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrRateLimited, full)
		require.ErrorContains(t, err, "ReminderMaxWait")
		require.NotErrorIs(t, err, context.DeadlineExceeded)

		soon, cancel := context.WithTimeout(t.Context(), full-1)
		defer cancel()
		_, err = patient.Remind(soon, clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrRateLimited, full)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, time.Since(start), "time that failing at once took")

		time.Sleep(5 * time.Minute)
		_, err = middling.Remind(t.Context(), clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrRateLimited, full-5*time.Minute)
		time.Sleep(time.Second)
		_, err = middling.Remind(t.Context(), clienttest.DocNumber(0))
		require.NoError(t, err)
		require.Equal(t, full, time.Since(start))
		require.Equal(t, 6, service.Count())
	})
}

// The allowance is one for the call: what it waited before its first attempt is gone before its second.
func TestReminderMaxWait_coversAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 5 {
				return clienttest.Answers429("600"), nil
			}
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{ReminderMaxWait: 20 * time.Minute})
		clienttest.UseUp(t, documents)
		start := time.Now()
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.ErrorIs(t, err, signforms.ErrRateLimited)
		require.Equal(t, 15*time.Minute+time.Second, time.Since(start), "10 minutes more were not left")
	})
}

func TestBudget_fiveNeedNoWait(t *testing.T) {
	for range 50 { // each in an order of its own
		synctest.Test(t, fiveAtOnceNeedNoWait)
	}
}

func fiveAtOnceNeedNoWait(t *testing.T) {
	service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
	}}
	documents := clienttest.BudgetClient(t, service, signforms.Options{})
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() {
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			errs <- err
		}()
	}
	sent, start := 0, time.Now()
	for range cap(errs) {
		err := <-errs
		if err == nil {
			sent++
			continue
		}
		var e *signforms.Error
		require.ErrorAs(t, err, &e)
		require.Zero(t, e.Attempts)
		require.GreaterOrEqual(t, e.RetryAfter, clienttest.Cycle) // more when the five before it are under way already
	}
	require.Equal(t, 5, sent)
	require.Equal(t, time.Second, time.Since(start))
}

func TestBudget_closedBy429(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  string // Retry-After of an answer after 1 s
		second string // and of one after 2 s; "-" is a success
		want   time.Duration
	}{
		{name: "seconds", first: "600", second: "-", want: 10*time.Minute - time.Second},
		{name: "absent", second: "-", want: 15*time.Minute - time.Second},
		{name: "not understood", first: "soon", second: "-", want: 15*time.Minute - time.Second},
		{name: "a date", first: "Sat, 01 Jan 2000 01:00:00 GMT", second: "-", want: time.Hour - 2*time.Second},
		{name: "at most a day", first: "31536000", second: "-", want: 24*time.Hour - time.Second},
		{name: "a shorter one after a longer", first: "3600", second: "1", want: time.Hour - time.Second},
		{name: "a longer one after a shorter", first: "1", second: "3600", want: time.Hour},
		{name: "a date gone by after a longer one", first: "3600", second: "Fri, 31 Dec 1999 01:00:00 GMT", want: time.Hour - time.Second},
		{name: "zero", first: "0", second: "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &clienttest.UntracedTransport{Answer: func(n int, _ *http.Request) (*http.Response, error) {
					time.Sleep(time.Duration(n+1) * time.Second)
					if value := []string{c.first, c.second}[n]; value != "-" {
						return clienttest.Answers429(value), nil
					}
					return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
				}}
				documents := clienttest.BudgetClient(t, service, signforms.Options{MaxAttempts: 1})
				var both sync.WaitGroup
				for range 2 {
					both.Go(func() { documents.Remind(t.Context(), clienttest.DocNumber(0)) })
				}
				both.Wait()
				got, err := documents.ReminderBudget(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.want, got.NextIn)
				require.Equal(t, c.want == 0, got.Remaining == 3)
			})
		})
	}
}

func TestBudget_429FreesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 4 {
				return clienttest.Answers429("60"), nil
			}
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{MaxAttempts: 1})
		for range 5 {
			documents.Remind(t.Context(), clienttest.DocNumber(0))
		}
		clienttest.RequireBudget(t, documents, signforms.Budget{NextIn: 15*time.Minute + time.Second})
	})
}

func TestBudget_errorText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{})
		clienttest.UseUp(t, documents)
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.EqualError(t, err, "send reminder: rate limited: the reminder budget is used up for longer than Options.ReminderMaxWait (0s): wait, use RemindAll, or allow more (retry after 15m1s)")
	})
}
