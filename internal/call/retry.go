package call

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// retryStatuses are the response statuses after which a repeatable operation is tried again.
var retryStatuses = []int{
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Class determines when an attempt may be repeated; see the table in the documentation of package
// signforms.
type Class uint8

// The classes of operations.
const (
	Safe          Class = iota // reads: net/http may repeat them too
	Idempotent                 // void
	NotRepeatable              // sends mail, or Client.Do with a method other than GET: repeated only if the service provably did not accept it
)

// retriable reports whether a failed attempt may be followed by another, as the documentation of
// package signforms describes. The file trace.go proves that a request was not written; call.go
// proves it if the store used up the time of the attempt. A context that has ended needs no case,
// because the loop stops then.
func (o Outcome) retriable(class Class) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](o.Err)
	switch {
	case o.tooLarge || untrusted: // another attempt would fail too
		return false
	case class == NotRepeatable:
		return o.unaccepted || o.Status == http.StatusTooManyRequests
	case o.Err != nil:
		return true
	}
	return slices.Contains(retryStatuses, o.Status)
}

// checkRetry decides whether another attempt follows, and sets how long to wait for it. It uses the
// outcome of the last attempt and ignores its arguments: the response has been read already, and an
// error of net/http's Client may quote the URL.
//
// A success is repeated if Request.RepeatSuccess returns true, as for a void whose response does not show
// that the document is void.
func checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	s := ctx.Value(stateKey{}).(*callState)
	repeat := s.outcome.Success() && s.RepeatSuccess != nil && s.RepeatSuccess(s.outcome)
	if s.outcome.Stopped != nil || s.closingFailed || !repeat && !s.outcome.retriable(s.Class) {
		return false, nil
	}
	s.wait = s.nextWait()
	deadline, ok := ctx.Deadline()
	return s.wait <= s.RetryWaitMax && (!ok || time.Until(deadline) > s.wait), nil
}

// nextWait returns how long to wait before the next attempt. The wait is the Retry-After of the
// response. Without one, it is a random time up to a limit that doubles with each attempt, and at
// least half of RetryWaitMin.
//
// A 429 response to a reminder has closed the budget. The next attempt then waits for a slot, at
// most Request.MaxWait. By default MaxWait is 0, and the call ends with the 429 unless its
// Retry-After is 0.
func (s *callState) nextWait() time.Duration {
	least, most := s.RetryWaitMin/2, s.RetryWaitMax
	if s.Budget != nil && s.outcome.Status == http.StatusTooManyRequests {
		if reminderlimit.ClosedFor(RetryAfter(s.outcome.Header)) >= least {
			return 0
		}
		return least
	}
	if d, ok := RetryAfter(s.outcome.Header); ok {
		return max(d, least)
	}
	ceiling := s.RetryWaitMin
	for i := 1; i < s.outcome.Attempts; i++ {
		ceiling += min(ceiling, most-ceiling) // doubles without overflow
	}
	return least + rand.N(ceiling-least)
}

// maxRetryAfter is the longest wait that a Retry-After can cause.
const maxRetryAfter = 24 * time.Hour

var secondsText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// RetryAfter reads both forms of Retry-After. Decimals are rounded up. A number of 1e9 or more is
// ignored, because it is a Unix time. A date is compared with the Date of the response; the local
// clock is used only if there is no Date.
func RetryAfter(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if secondsText.MatchString(v) {
		seconds, _ := strconv.ParseFloat(v, 64) // a number out of range becomes infinite
		if seconds >= 1e9 {
			return 0, false
		}
		return min(time.Duration(math.Ceil(seconds))*time.Second, maxRetryAfter), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}
