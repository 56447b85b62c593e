package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHandler_Receive gives deliveries to one handler, one after the other.
func TestHandler_Receive(t *testing.T) {
	ran := 0
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: func(context.Context, *webhook.FormResponse) error {
		ran++
		return nil
	}}, nil)
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		status int
		answer string
		ran    int
	}{
		{name: "genuine", header: signed(secret, "1795176000", form), body: form, status: 200, answer: `{"status":"ok"}`, ran: 1},
		{name: "again", header: signed(secret, "1795176000", form), body: form, status: 200, answer: `{"status":"duplicate"}`},
		{name: "reformatted", header: signed(secret, "1795176000", form), body: " " + form, status: 200, answer: `{"status":"duplicate"}`},
		{name: "forged", header: signed("another secret", "1795176000", form), body: form, status: 401, answer: `{"status":"unauthorized"}`},
		{name: "no header", body: form, status: 401, answer: `{"status":"unauthorized"}`},
		{name: "no body", status: 401, header: signed(secret, "1795176000", form), answer: `{"status":"unauthorized"}`},
		{name: "no JSON", header: signed(secret, "1795176000", "x"), body: "x", status: 400, answer: `{"status":"invalid_payload"}`},
		{name: "too large", header: signed(secret, "1795176000", form), body: strings.Repeat(" ", maxBody+1), status: 413, answer: `{"status":"too_large"}`},
		{name: "undecodable", header: signed(secret, "1795176000", undecodable), body: undecodable, status: 500, answer: `{"status":"failed"}`},
	} {
		ran = 0
		status, answer := h.Receive(t.Context(), c.header, []byte(c.body))
		require.Equal(t, c.status, status)
		require.Equal(t, c.answer, string(answer))
		require.Equal(t, c.ran, ran)
	}
}

// TestHandler_deadlineOfTheRequest has a request whose time ends before a function's does, as on a platform that stops a function
// after a while, and one that has more time. Cancelling the request ends neither.
func TestHandler_deadlineOfTheRequest(t *testing.T) {
	for _, c := range []struct {
		name         string
		parent, want time.Duration
	}{
		{name: "earlier", parent: 3 * time.Second, want: 3 * time.Second},
		{name: "later", parent: time.Hour, want: time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var left time.Duration
				store := &fakeStore{}
				h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
					Default: func(ctx context.Context, _ webhook.Event) error {
						deadline, ok := ctx.Deadline()
						assert.True(t, ok)
						left = time.Until(deadline)
						begun := time.Now()
						<-ctx.Done()
						assert.Equal(t, c.want, time.Since(begun))
						assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
						return nil // what was done must be recorded all the same
					},
				}, &webhook.HandlerOptions{Timeout: time.Minute, ReplayStore: store})
				store.done = func(ctx context.Context) error { return ctx.Err() }
				ctx, cancel := context.WithTimeout(t.Context(), c.parent)
				defer cancel()
				status, _ := h.Receive(ctx, webhooktest.NewRequest(target, secret, noon, []byte(form)).Header, []byte(form))
				require.Equal(t, 200, status)
				require.Equal(t, c.want, left)
				require.Equal(t, []string{"begin", "done"}, store.calls)
			})
		})
	}
}

func TestVerifier_Events(t *testing.T) {
	v := newVerifier(t, nil)
	body := []byte(`[` + form + `,{"webhookEvent":"new_thing"}]`)
	events, err := v.Events(signed(secret, "1795176000", string(body)), body)
	require.NoError(t, err)
	clear(body)
	require.Len(t, events, 2)
	require.Equal(t, "r", events[0].SubjectID())
	require.Equal(t, webhook.EventType("new_thing"), events[1].EventType())

	_, err = v.Events(signed("another secret", "1795176000", form), []byte(form))
	require.ErrorIs(t, err, webhook.ErrSignature)
	_, err = v.Events(signed(secret, "1795176000", "x"), []byte("x"))
	require.ErrorIs(t, err, webhook.ErrPayload)
	require.False(t, errors.Is(err, webhook.ErrSignature))
	events, err = v.Events(signed(secret, "1795176000", form), []byte(" "+form))
	require.NoError(t, err)
	require.Equal(t, form, string(events[0].Raw()), "what was authenticated is what is decoded")
}

// The memory of a body is used again for the next delivery. The events of the one before must not change with it.
func TestHandler_eventsMayBeKept(t *testing.T) {
	var kept []webhook.Event
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(_ context.Context, ev webhook.Event) error {
		kept = append(kept, ev)
		return nil
	}}, nil)
	for i := range 20 {
		requireAnswer(t, serve(h, fmt.Sprintf(`[{"formResponseId":"r%02d"}]`, i)), 200, `{"status":"ok"}`)
	}
	for i, ev := range kept {
		require.Equal(t, fmt.Sprintf("r%02d", i), ev.SubjectID())
		require.Equal(t, fmt.Sprintf(`{"formResponseId":"r%02d"}`, i), string(ev.Raw()))
	}
}
