package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// nilError is an error whose method reads a field, so that it panics for a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// hostileError is an error with methods that panic or end the goroutine.
type hostileError struct{ text, unwrap, is func() }

func (e hostileError) Error() string {
	if e.text != nil {
		e.text()
	}
	return "hostile"
}

func (e hostileError) Unwrap() error {
	if e.unwrap != nil {
		e.unwrap()
	}
	return nil
}

func (e hostileError) Is(error) bool {
	if e.is != nil {
		e.is()
	}
	return false
}

// listError is an error that cannot be compared.
type listError []string

func (e listError) Error() string { return e[0] }

func hostileFailures() map[string]func() error {
	bad := func() { panic(errors.New("bad")) }
	return map[string]func() error{
		"nil pointer":           func() error { return (*nilError)(nil) },
		"permanent nil pointer": func() error { return webhook.Permanent((*nilError)(nil)) },
		"joined":                func() error { return errors.Join(errors.New("one"), (*nilError)(nil)) },
		"text":                  func() error { return hostileError{text: bad} },
		"unwrap":                func() error { return hostileError{unwrap: bad} },
		"is":                    func() error { return hostileError{is: bad} },
		"exit":                  func() error { return hostileError{text: runtime.Goexit} },
		"panic with unwrap":     func() error { panic(hostileError{unwrap: bad}) },
		"panic with text":       func() error { panic(hostileError{text: bad}) },
		"panic uncomparable":    func() error { panic(listError{"one"}) },
		"panic with exit":       func() error { panic(hostileError{unwrap: runtime.Goexit}) },
	}
}

// An error whose methods panic is a failure of its own event: reported, answered 500, and not recorded as processed.
func TestHandler_hostileErrors(t *testing.T) {
	for name, fail := range hostileFailures() {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var problems []error
			var results []webhook.EventResult
			ran := map[string]int{}
			body := `[{"webhookEvent":"a"},{"webhookEvent":"b"},{"webhookEvent":"c"}]`
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(_ context.Context, ev webhook.Event) error {
				ran[string(ev.EventType())]++
				if ev.EventType() == "b" {
					return fail()
				}
				return nil
			}}, &webhook.HandlerOptions{
				Logger:  slog.New(slog.NewTextHandler(&log, nil)),
				OnError: func(_ context.Context, err error) { problems = append(problems, err) },
				OnEvent: func(_ context.Context, res webhook.EventResult) { results = append(results, res) },
			})
			for range 2 {
				status, _ := h.Receive(t.Context(), signed(secret, "1795176000", body), []byte(body))
				require.Equal(t, 500, status)
			}
			require.Equal(t, map[string]int{"a": 1, "b": 2, "c": 1}, ran)
			require.Len(t, problems, 2)
			require.NotEmpty(t, fmt.Sprint(problems[0].Error(), errors.Is(problems[0], context.Canceled)))
			require.False(t, webhook.IsPermanent(problems[0]))
			require.Len(t, results, 6)
			require.Equal(t, webhook.OutcomeFailed, results[1].Outcome)
			require.Contains(t, log.String(), "event failed")
		})
	}
}

func TestDispatch_hostileErrors(t *testing.T) {
	for name, fail := range hostileFailures() {
		t.Run(name, func(t *testing.T) {
			on := webhook.Funcs{Default: func(context.Context, webhook.Event) error { return fail() }}
			err := on.Dispatch(t.Context(), &webhook.FormResponse{})
			require.Error(t, err)
			require.NotEmpty(t, fmt.Sprint(err.Error(), errors.Is(err, context.Canceled), webhook.IsPermanent(err)))
		})
	}
}
