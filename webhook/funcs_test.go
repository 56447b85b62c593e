package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDispatch(t *testing.T) {
	type key struct{}
	cause := errors.New("disk full")
	decode := func(body string) webhook.Event { return parseOne(t, body) }
	for _, c := range []struct {
		name      string
		on        webhook.Funcs
		event     webhook.Event
		is        error  // what the error matches
		text      string // the error's, or a part of it; empty when there is none
		permanent bool
	}{
		{name: "done", on: webhook.Funcs{FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error {
			assert.Equal(t, "value", ctx.Value(key{}))
			assert.Equal(t, "r", ev.FormResponseID)
			return nil
		}}, event: decode(form)},
		{name: "made by hand", on: webhook.Funcs{Default: ignore}, event: &webhook.TemplateSigned{}},
		{name: "error", on: failing(func() error { return cause }), event: decode(form), is: cause, text: "disk full"},
		{name: "permanent", on: failing(func() error { return fmt.Errorf("saving: %w", webhook.Permanent(cause)) }),
			event: decode(form), is: cause, text: "saving: disk full", permanent: true},
		{name: "panic", on: failing(func() error { panic(cause) }), event: decode(form), is: cause, text: "panic: disk full"},
		{name: "panic permanent", on: failing(func() error { panic(webhook.Permanent(cause)) }), event: decode(form), is: cause, text: "panic: disk full"},
		{name: "abort", on: failing(func() error { panic(http.ErrAbortHandler) }), event: decode(form), is: http.ErrAbortHandler, text: "panic: net/http: abort"},
		{name: "Goexit", on: failing(func() error { runtime.Goexit(); return nil }), event: decode(form), text: "runtime.Goexit"},
		{name: "no function", on: webhook.Funcs{FormResponse: func(context.Context, *webhook.FormResponse) error { return cause }},
			event: decode(unknown), is: webhook.ErrNoFunction, text: "no function for this event"},
		{name: "undecodable", on: webhook.Funcs{Default: ignore}, event: decode(undecodable), text: "webhookEvent is not a string; Funcs.Unknown would take"},
		{name: "undecodable taken", on: webhook.Funcs{Unknown: func(context.Context, *webhook.UnknownEvent) error { return nil }}, event: decode(undecodable)},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.on.Dispatch(context.WithValue(t.Context(), key{}, "value"), c.event)
			require.Equal(t, c.permanent, webhook.IsPermanent(err))
			if c.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.text)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			if p, ok := errors.AsType[*webhook.PanicError](err); ok {
				require.Contains(t, string(p.Stack), "TestDispatch")
			}
			require.Equal(t, strings.HasPrefix(c.text, "panic"), errors.As(err, new(*webhook.PanicError)))
		})
	}
}

func failing(fail func() error) webhook.Funcs {
	return webhook.Funcs{Default: func(context.Context, webhook.Event) error { return fail() }}
}

func TestIsPermanent(t *testing.T) {
	cause := errors.New("no such customer")
	require.True(t, webhook.IsPermanent(webhook.Permanent(cause)))
	require.True(t, webhook.IsPermanent(webhook.Permanent(errors.Join(errors.New("first"), cause))))
	require.True(t, webhook.IsPermanent(fmt.Errorf("two: %w", errors.Join(webhook.Permanent(cause), fmt.Errorf("second: %w", webhook.Permanent(cause))))))
	require.True(t, webhook.IsPermanent(errors.Join(nil, webhook.Permanent(cause))))
	for _, transient := range []error{
		cause,
		errors.Join(webhook.Permanent(cause), cause),
		errors.Join(cause, webhook.Permanent(cause)),
		fmt.Errorf("%w and %w", webhook.Permanent(cause), cause),
		errors.Join(webhook.Permanent(cause), errors.Join(webhook.Permanent(cause), cause)),
		errors.Join(webhook.Permanent(cause), webhook.Permanent(&webhook.PanicError{Value: cause})),
		wrapsNone{},
	} {
		t.Run(fmt.Sprint(transient), func(t *testing.T) {
			require.False(t, webhook.IsPermanent(transient), transient)
		})
	}
	require.False(t, webhook.IsPermanent(nil))
	require.False(t, webhook.IsPermanent(webhook.Permanent(nil)))
}

// wrapsNone is an error that could wrap several and wraps none.
type wrapsNone struct{}

func (wrapsNone) Error() string   { return "none" }
func (wrapsNone) Unwrap() []error { return nil }

func TestDispatch_nilEvent(t *testing.T) {
	var ran []string
	for _, ev := range []webhook.Event{
		nil, (*webhook.FormResponse)(nil), (*webhook.SignatureViewed)(nil), (*webhook.SignatureSigned)(nil), (*webhook.SignatureCompleted)(nil),
		(*webhook.TemplateViewed)(nil), (*webhook.TemplateSigned)(nil), (*webhook.TemplateResponse)(nil), (*webhook.UnknownEvent)(nil),
	} {
		for _, on := range []webhook.Funcs{record(&ran), {Default: record(&ran).Default}, {}} {
			require.EqualError(t, on.Dispatch(t.Context(), ev), "webhook: event is nil: the code that stored or passed the event has lost it")
		}
		events := []webhook.Event{&webhook.FormResponse{}, ev}
		require.PanicsWithValue(t, "webhook: ReplayKeys: event 1 is nil", func() { webhook.ReplayKeys(events) })
		require.PanicsWithValue(t, "webhooktest: Payload: event 1 is nil", func() { webhooktest.Payload(events...) })
	}
	require.Empty(t, ran)
}
