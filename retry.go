package signforms

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
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

// retriable is the table of the package documentation.
func (o outcome) retriable(class retryClass) bool {
	switch {
	case o.tooLarge || o.err != nil && isCertificateError(o.err): // will not get better
		return false
	case class == notRepeatable:
		return o.unwritten || o.status == http.StatusTooManyRequests
	case o.err != nil:
		return true
	}
	return slices.Contains(retryStatuses, o.status)
}

func isCertificateError(err error) bool {
	certErr := (*tls.CertificateVerificationError)(nil)
	return errors.As(err, &certErr)
}

// checkRetry decides whether there is another attempt, and sets r.nextWait.
func (r *run) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if r.refused != nil || !r.last.retriable(r.class) && !r.voidInDoubt() {
		return false, nil
	}
	r.nextWait = r.wait()
	if r.nextWait > r.c.options.RetryWaitMax {
		return false, nil
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > r.nextWait, nil
}

// voidInDoubt reports whether the answer to a void is repeated like a 5xx, which does no harm: the next one may say "already".
func (r *run) voidInDoubt() bool {
	var answer wireVoid
	return r.call.op == OpVoidDocument && r.last.success() && r.read(&answer) == nil && answer.ruling() == inDoubt
}

// wait returns how long to wait before the next attempt: Retry-After, or else full jitter, and at least half of RetryWaitMin.
// It is 0 for a reminder whose 429 has closed the budget for at least that half: the wait for the next slot is longer.
func (r *run) wait() time.Duration {
	least, most := r.c.options.RetryWaitMin/2, r.c.options.RetryWaitMax
	if r.call.op == OpSendReminder && r.last.status == http.StatusTooManyRequests {
		closed := closedFor(r.last.header)
		if r.closed && closed >= least {
			return 0
		}
		return max(closed, least)
	}
	if d, ok := retryAfter(r.last.header); ok {
		return max(d, least)
	}
	ceiling := r.c.options.RetryWaitMin
	for i := 1; i < r.attempts && ceiling < most; i++ {
		ceiling += min(ceiling, most-ceiling) // doubled without overflow
	}
	return least + rand.N(ceiling-least)
}

// retryAfter reads both forms of Retry-After. A date counts from the answer's own Date, whatever the local clock says.
func retryAfter(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(v, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second, true // out of range it is the most that fits: 68 years
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0), true
}

// maxClosed bounds what a Retry-After can do to the reminder budget.
const maxClosed = 24 * time.Hour

// closedFor is how long a 429 closes the reminder budget.
func closedFor(h http.Header) time.Duration {
	d, ok := retryAfter(h)
	if !ok {
		d = reminderlimit.Window
	}
	return min(d, maxClosed)
}
