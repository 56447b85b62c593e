package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// RetryAfter wraps an error of a function so that the next try is due after d, whatever [Options.Retries] says. It is for a service
// that says when it will be back. The try counts as any other. An error that is also wrapped in [webhook.Permanent] is not tried again.
// RetryAfter(nil, d) is nil; a negative d counts as 0.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, max(0, d)}
}

type retryAfterError struct {
	err   error
	after time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// wait returns how long to wait after the given number of failed tries.
func (s *settings) wait(err error, failed int) time.Duration {
	if e, ok := errors.AsType[*retryAfterError](err); ok {
		return e.after
	}
	d := s.Retries[failed-1]
	return d - d/10 + rand.N(d/5+1)
}

// usable returns err, or another error if a method of err panics, as that of a nil pointer may.
func usable(err error) (result error) {
	if err == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			result = fmt.Errorf("the function failed with an error of type %T that cannot be read: %v", err, p)
		}
	}()
	_ = errorText(err)
	_, _ = errors.AsType[*retryAfterError](err) // asks every error in err
	_, _ = webhook.IsPermanent(err), errors.Is(err, webhook.ErrNoFunction)
	return err
}

// maxErrorText bounds the stored text of an error, in bytes.
const maxErrorText = 500

func errorText(err error) string {
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") // drops an incomplete character at the end
	}
	return strings.TrimSpace(storable(text))
}
