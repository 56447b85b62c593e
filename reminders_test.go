package signforms_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

func TestRemindAll_anyNumberInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{}
		documents := clienttest.BudgetClient(t, service, signforms.Options{}) // ReminderMaxWait 0 does not matter here
		refs, start, n := clienttest.DocNumbers(1000), time.Now(), 0
		for out, err := range documents.RemindAll(t.Context(), refs) {
			require.NoError(t, err)
			require.Equal(t, refs[n], out.Ref)
			require.Equal(t, n, out.Index)
			require.Equal(t, "Reminder sent successfully", out.Result.Message)
			n++
		}
		require.Equal(t, 1000, n)
		require.Equal(t, 199*clienttest.Cycle, time.Since(start))
		require.Equal(t, 1000, service.Count())
	})
}

func TestRemindAll_continuesAfterADocumentsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(n int, req *http.Request) (*http.Response, error) {
			switch n {
			case 0:
				return httpmock.NewStringResponse(http.StatusConflict, `{"message":"status is SIGNED","code":"invalid_status"}`), nil
			case 1:
				return nil, errors.New("reset")
			case 2:
				return clienttest.Answers429("600"), nil
			case 4:
				<-req.Context().Done() // by AttemptTimeout, which is not the end of the caller's context
				return nil, req.Context().Err()
			}
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{})
		refs := []signforms.DocumentRef{clienttest.DocNumber(0), clienttest.DocNumber(1), clienttest.DocNumber(2), {}, clienttest.DocNumber(4), clienttest.DocNumber(5)}
		var errs []error
		for out, err := range documents.RemindAll(t.Context(), refs) {
			require.Equal(t, refs[len(errs)], out.Ref)
			require.Equal(t, err == nil, out.Result != nil)
			errs = append(errs, err)
		}
		require.Len(t, errs, len(refs))
		require.ErrorIs(t, errs[0], signforms.ErrRefused)
		require.ErrorIs(t, errs[1], signforms.ErrOutcomeUnknown)
		require.NoError(t, errs[2], "tried again when the 429 allows")
		require.ErrorIs(t, errs[3], signforms.ErrInvalid)
		require.ErrorIs(t, errs[4], signforms.ErrOutcomeUnknown)
		require.NoError(t, errs[5])
	})
}

func TestRemindAll_contextErrorOnce(t *testing.T) {
	cancelled := errors.New("no more")
	for _, c := range []struct {
		name  string
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		kind  error
		after time.Duration
		sent  int
	}{
		{name: "cancelled while waiting", ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(20*time.Minute, func() { cancel(cancelled) })
			return ctx, func() { cancel(nil) }
		}, kind: context.Canceled, after: 20 * time.Minute, sent: 10},
		{name: "deadline before the next slot", ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Minute)
		}, kind: context.DeadlineExceeded, after: clienttest.Cycle, sent: 10},
		{name: "over before it began", ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, kind: context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &clienttest.UntracedTransport{}
				documents := clienttest.BudgetClient(t, service, signforms.Options{})
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				refs, start, done := clienttest.DocNumbers(100), time.Now(), 0
				var last error
				for out, err := range documents.RemindAll(ctx, refs) {
					require.NoError(t, last, "an outcome after the context's error")
					require.Equal(t, done, out.Index)
					if last = err; err == nil {
						require.Equal(t, refs[done], out.Ref)
						done++
					} else {
						require.Zero(t, out.Ref)
					}
				}
				require.ErrorIs(t, last, c.kind)
				require.NotErrorIs(t, last, signforms.ErrOutcomeUnknown)
				require.Equal(t, c.after, time.Since(start))
				require.Equal(t, c.sent, done)
				require.Equal(t, c.sent, service.Count(), "so that refs[%d:] are what is left", done)
			})
		})
	}
}

// A reminder whose outcome is unknown has its own element, and the end of the sequence comes after it.
func TestRemindAll_contextEndsDuringAReminder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	service := &clienttest.UntracedTransport{Answer: func(n int, req *http.Request) (*http.Response, error) {
		if n == 1 {
			cancel()
			return nil, req.Context().Err()
		}
		return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
	}}
	documents := clienttest.BudgetClient(t, service, signforms.Options{})
	refs := clienttest.DocNumbers(4)
	var outs []signforms.RemindOutcome
	var errs []error
	for out, err := range documents.RemindAll(ctx, refs) {
		outs, errs = append(outs, signforms.RemindOutcome{Ref: out.Ref, Index: out.Index}), append(errs, err)
	}
	require.Equal(t, []signforms.RemindOutcome{{Ref: refs[0], Index: 0}, {Ref: refs[1], Index: 1}, {Index: 2}}, outs)
	require.NoError(t, errs[0])
	clienttest.RequireMatches(t, errs[1], signforms.ErrOutcomeUnknown)
	clienttest.RequireMatches(t, errs[2])
	require.ErrorIs(t, errs[2], context.Canceled)
	require.Equal(t, 2, service.Count())
}

// The call that a 429 stops before the deadline is the last, though it had an attempt.
func TestRemindAll_retryAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) { return clienttest.Answers429(""), nil }}
		documents := clienttest.BudgetClient(t, service, signforms.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		outcomes := 0
		for _, err := range documents.RemindAll(ctx, clienttest.DocNumbers(3)) {
			require.ErrorIs(t, err, signforms.ErrRateLimited)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			outcomes++
		}
		require.Equal(t, 1, outcomes)
		require.Equal(t, 1, service.Count())
	})
}

// A refusal that comes as the context ends is that document's own; the context's error belongs to the next.
func TestRemindAll_refusalAsTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) {
			cancel()
			return httpmock.NewStringResponse(http.StatusConflict, `{"code":"invalid_status"}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{})
		var errs []error
		for _, err := range documents.RemindAll(ctx, clienttest.DocNumbers(5)) {
			errs = append(errs, err)
		}
		require.Len(t, errs, 2)
		require.ErrorIs(t, errs[0], signforms.ErrRefused)
		require.ErrorIs(t, errs[1], context.Canceled)
		require.Equal(t, 1, service.Count())
	})
}

func TestRemindAll_break(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{}
		documents := clienttest.BudgetClient(t, service, signforms.Options{})
		for out, err := range documents.RemindAll(t.Context(), clienttest.DocNumbers(50)) {
			require.NoError(t, err)
			if out.Index == 6 {
				break
			}
		}
		require.Equal(t, 7, service.Count())
		for range documents.RemindAll(t.Context(), nil) {
			t.Error("an outcome without a reference")
		}
	})
}

// An error that every later reminder would get too ends the sequence, so that the rest can be resumed.
func TestRemindAll_endsWhereTheRestWouldFail(t *testing.T) {
	away := clienttest.NewOddStore()
	away.BeforeTake = func(context.Context) error { return errors.New("connection refused") }
	awayLater := clienttest.NewOddStore()
	taken := 0
	awayLater.BeforeTake = func(context.Context) error {
		if taken++; taken > 1 {
			return errors.New("connection refused")
		}
		return nil
	}
	for _, c := range []struct {
		name   string
		store  signforms.LimitStore
		status int
		kind   error
		sent   int
	}{
		{name: "wrong key", store: signforms.NewMemoryLimitStore(nil), status: 401, kind: signforms.ErrForbidden, sent: 1},
		{name: "wrong workspace", store: signforms.NewMemoryLimitStore(nil), status: 403, kind: signforms.ErrForbidden, sent: 1},
		{name: "store away", store: away, status: 200, kind: signforms.ErrUnavailable},
		{name: "store away before a repeat", store: awayLater, status: 429, kind: signforms.ErrRateLimited, sent: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) {
					resp := httpmock.NewStringResponse(c.status, `{"message":"as it is"}`)
					resp.Header.Set("Retry-After", "1")
					return resp, nil
				}}
				documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: c.store})
				outcomes := 0
				for out, err := range documents.RemindAll(t.Context(), clienttest.DocNumbers(146)) {
					require.ErrorIs(t, err, c.kind)
					require.Equal(t, signforms.RemindOutcome{}, out)
					outcomes++
				}
				require.Equal(t, 1, outcomes)
				require.Equal(t, c.sent, service.Count())
			})
		})
	}
}
