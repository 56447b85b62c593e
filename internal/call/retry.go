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

// retryStatuses are the answers after which a repeatable operation is tried again.
var retryStatuses = []int{
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Class says when an attempt may be repeated; see the table in the documentation of package signforms.
type Class uint8

// The classes of operations.
const (
	Safe          Class = iota // reads: net/http may repeat them too
	Idempotent                 // void
	NotRepeatable              // sends mail, or a Client.Do that is no GET: repeated only when the service provably did not accept it
)

// retriable reports whether a failed attempt may be followed by another, as the documentation of package signforms
// says. Which request was provably not written, trace.go tells, and call.go where the store took the whole attempt. A
// context that has ended needs no case: the loop stops then.
func (o Outcome) retriable(class Class) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](o.Err)
	switch {
	case o.tooLarge || untrusted: // will not get better
		return false
	case class == NotRepeatable:
		return o.unaccepted || o.Status == http.StatusTooManyRequests
	case o.Err != nil:
		return true
	}
	return slices.Contains(retryStatuses, o.Status)
}

// checkRetry decides whether there is another attempt, and how long to wait for it, by the outcome of the last one. Its
// arguments do not count: a response has been read, and an error of net/http's Client may quote the URL. A success is
// repeated where Request.Again asks for it, as for a void whose response leaves a doubt.
func checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	r := ctx.Value(runKey{}).(*run)
	again := r.last.Success() && r.Again != nil && r.Again(r.last)
	if r.last.Stopped != nil || r.closingFailed || !again && !r.last.retriable(r.Class) {
		return false, nil
	}
	r.wait = r.nextWait()
	deadline, ok := ctx.Deadline()
	return r.wait <= r.RetryWaitMax && (!ok || time.Until(deadline) > r.wait), nil
}

// nextWait returns how long to wait before the next attempt: Retry-After, or else full jitter, and at least half of
// RetryWaitMin. A reminder that was answered 429 has closed the budget: the next attempt waits for a slot, at most
// Request.MaxWait. By default that is 0, and the call ends with the 429, unless its Retry-After is 0.
func (r *run) nextWait() time.Duration {
	least, most := r.RetryWaitMin/2, r.RetryWaitMax
	if r.Budget != nil && r.last.Status == http.StatusTooManyRequests {
		if reminderlimit.ClosedFor(RetryAfter(r.last.Header)) >= least {
			return 0
		}
		return least
	}
	if d, ok := RetryAfter(r.last.Header); ok {
		return max(d, least)
	}
	ceiling := r.RetryWaitMin
	for i := 1; i < r.last.Attempts; i++ {
		ceiling += min(ceiling, most-ceiling) // doubled without overflow
	}
	return least + rand.N(ceiling-least)
}

// maxRetryAfter bounds what a Retry-After says.
const maxRetryAfter = 24 * time.Hour

var secondsText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// RetryAfter reads both forms of Retry-After. Decimals are rounded up. A number of 1e9 or more is a Unix time, which has
// no meaning here. A date counts from the response's own Date, whatever the local clock says.
func RetryAfter(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if secondsText.MatchString(v) {
		seconds, _ := strconv.ParseFloat(v, 64) // beyond its range it is infinite
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
