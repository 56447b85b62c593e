package queue_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// nilError is an error whose methods read its fields, so that they panic for a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// hostileError is an error with methods that panic or end the goroutine.
type hostileError struct{ error, unwrap, is func() }

func (e hostileError) Error() string {
	if e.error != nil {
		e.error()
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

// An error that cannot be read, and a hook that panics, fail their own try and nothing else.
func TestHostileErrorsAndHooks(t *testing.T) {
	bad := func() { panic(errors.New("bad")) }
	failures := map[string]error{
		"nil":     (*nilError)(nil),
		"text":    hostileError{error: bad},
		"unwrap":  hostileError{unwrap: bad},
		"is":      hostileError{is: bad},
		"exit":    hostileError{error: runtime.Goexit},
		"wrapped": fmt.Errorf("all: %w", errors.Join(errors.New("one"), hostileError{unwrap: bad})),
		"after":   queue.RetryAfter(hostileError{error: bad}, time.Hour),
	}
	eachStore(t, func(s stage) {
		var mu sync.Mutex
		outcomes := map[string][]queue.Outcome{}
		var log logged
		q := s.queue(&queue.Options{
			Retries: []time.Duration{0}, Logger: log.logger(),
			OnReceived: func(context.Context, queue.Received) { panic("received") },
			OnSettled: func(_ context.Context, set queue.Settled) {
				mu.Lock()
				outcomes[set.Entry.Subject] = append(outcomes[set.Entry.Subject], set.Outcome)
				mu.Unlock()
				if set.Entry.Subject == "sound" {
					runtime.Goexit()
				}
				panic("settled")
			},
		})
		s.run(q, webhook.Funcs{Other: func(_ context.Context, e webhook.Event) error {
			if e.SubjectID() == "panics" {
				panic(hostileError{unwrap: bad})
			}
			return failures[e.SubjectID()]
		}})
		events := []webhook.Event{completed("sound", 1), completed("panics", 1)}
		for name := range failures {
			events = append(events, completed(name, 1), completed(name, 2))
		}
		s.accept(q, events...) // 200 although the hook panics
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.Equal(s, http.StatusOK, s.deliver(q, []byte("[]")).Code)
		for _, e := range s.list(q, queue.Filter{Failed: true}) {
			require.NotEqual(s, "sound", e.Subject)
			require.True(s, e.Subject == "panics" || strings.Contains(e.Error, "cannot be read") || strings.Contains(e.Error, "ended its goroutine"), e.Error)
			require.Equal(s, 2, e.Attempts)
		}
		require.Len(s, s.list(q, queue.Filter{Failed: true}), 1+2*len(failures))
		require.Eventually(s, func() bool { return log.count("hook=OnSettled") == 1+2+4*len(failures) }, time.Minute, time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(s, []queue.Outcome{queue.Retrying, queue.GivenUp, queue.Retrying, queue.GivenUp}, outcomes["nil"])
		require.Equal(s, []queue.Outcome{queue.Processed}, outcomes["sound"])
	})
}

func TestNotePanics(t *testing.T) {
	eachStore(t, func(s stage) {
		for name, end := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
			var log logged
			q := s.queue(&queue.Options{Logger: log.logger(), Note: func(context.Context) string {
				end()
				return "text"
			}})
			s.accept(q, completed(name, 1))
			stored := s.list(q, queue.Filter{Document: name})
			require.Len(s, stored, 1)
			require.Empty(s, stored[0].Note)
			require.Equal(s, 1, log.count("hook=Note"))
		}
	})
}
