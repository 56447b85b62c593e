package signforms

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// Options are the settings of a [Client]. Nil and the zero value mean the defaults.
type Options struct {
	// WorkspaceID is sent as the workspaceid header when not empty. Default: no header.
	WorkspaceID string
	// Transport sends the requests. Nil means http.DefaultTransport as it is when a request is sent.
	//
	// A Transport must send each request once, and must not return while one that it wraps is still at work: one that
	// falls back to another protocol may send twice. Requests of its own, such as for a token, need context.Background:
	// in the call's context they count as the request. GetBody of a request is nil, so that nothing repeats its body: a
	// Transport that reads the body, for instance to sign it, must put its bytes back.
	Transport http.RoundTripper
	// UserAgent precedes the SDK's own token, signforms-go/Version, in the User-Agent header.
	UserAgent string
	// AttemptTimeout bounds each attempt, from looking up the host to the last byte of the answer. The time that the
	// LimitStore takes to give a slot counts; waiting for a slot, or between attempts, does not. Default: 30 s. At most 24
	// h: a process that crashes during a reminder holds its slot for AttemptTimeout + 16 min 1 s.
	AttemptTimeout time.Duration
	// MaxAttempts is the largest number of requests for one call; 1 means no retries. Default: 4. The package
	// documentation says after what an operation is repeated.
	MaxAttempts int
	// RetryWaitMin and RetryWaitMax bound the wait before a retry. It is random, from half of RetryWaitMin to an end that
	// is RetryWaitMin at first and doubles with each retry. A Retry-After of up to RetryWaitMax is obeyed instead; with a
	// longer one the call returns at once. Defaults: 500 ms and 30 s, each moved to keep RetryWaitMin at or below
	// RetryWaitMax.
	RetryWaitMin, RetryWaitMax time.Duration
	// ReminderMaxWait is how long one Remind call may wait for slots of the reminder budget, all its attempts together. 0,
	// the default, means not at all. Negative means as long as the context allows.
	ReminderMaxWait time.Duration
	// LimitStore keeps the reminder budget. Default: one in-memory store for the whole process, in which clients with the
	// same base URL and API key share one budget. Processes that share a key need a shared store. Each [testing/synctest]
	// bubble needs a store of its own, such as that of [NewMemoryLimitStore] or of signformstest's options. Calls wake each
	// other, and a wake-up from outside the bubble is fatal. A store in a file follows the clock of the machine.
	LimitStore LimitStore
	// Endpoints overrides where operations are. Operations that are not in it keep their defaults.
	Endpoints map[Operation]Endpoint
	// OnAttempt is called after each attempt, with the call's context, for logs, metrics and traces. It runs in the
	// goroutine of the call. It must be safe for concurrent use and should return quickly.
	OnAttempt func(context.Context, Attempt)
	// OnCall is called at the start of each operation. Each page of a list is one, and so is each reminder of RemindAll.
	// It returns the context for the operation and a function, and neither may be nil. The function is called at the end
	// with the operation's error. If a hook or the Transport panicked, the error reports that. A list without the record, for which a Get
	// method returns ErrNotFound, is no error here. Both run in the goroutine of the call, must be safe for concurrent use
	// and should return quickly.
	OnCall func(context.Context, Operation) (_ context.Context, end func(error))
}

// Attempt describes one request and its result, for [Options.OnAttempt]. It has no inputs and no body, and printing it
// shows no secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Err says why there was no answer, or why a 2xx could not be read to its end. It is an [*Error] that matches its
	// cause and no sentinel. It is nil after any complete answer, even one for which the call returns an error.
	Err error
	// SlotWait is how long a reminder waited for a slot of the reminder budget.
	SlotWait time.Duration
	// Duration runs from the start of the attempt, after SlotWait, to the call of OnAttempt, right after the end of the
	// answer. For a reminder it includes the time that the LimitStore takes to give the slot and to store the outcome.
	Duration time.Duration
}

func (o Options) withDefaults() Options {
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, 30*time.Second)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 4)
	if o.RetryWaitMin == 0 {
		o.RetryWaitMin = 500 * time.Millisecond
		if o.RetryWaitMax > 0 {
			o.RetryWaitMin = min(o.RetryWaitMin, o.RetryWaitMax)
		}
	}
	if o.RetryWaitMax == 0 {
		o.RetryWaitMax = max(30*time.Second, o.RetryWaitMin)
	}
	if o.LimitStore == nil {
		o.LimitStore = process.store
	}
	return o
}

// maxAttemptTimeout keeps the hold of a slot within the range of time.Duration.
const maxAttemptTimeout = 24 * time.Hour

// options checks what withDefaults returns, but for the endpoints.
func (c *checks) options(o Options) {
	c.header("Options.WorkspaceID", o.WorkspaceID)
	c.header("Options.UserAgent", o.UserAgent)
	if o.AttemptTimeout < 0 || o.AttemptTimeout > maxAttemptTimeout {
		c.add("Options.AttemptTimeout", "must be from 0 (which means 30 s) to 24 h")
	}
	if o.MaxAttempts < 0 {
		c.add("Options.MaxAttempts", "must be 1 or more (0 means 4)")
	}
	if o.RetryWaitMax < 0 {
		c.add("Options.RetryWaitMax", "must not be negative")
	}
	if o.RetryWaitMin < 0 || o.RetryWaitMax >= 0 && o.RetryWaitMax < o.RetryWaitMin {
		c.add("Options.RetryWaitMin", "must not be negative, nor above RetryWaitMax")
	}
	if nilPointer(o.Transport) {
		c.add("Options.Transport", fmt.Sprintf("is a nil %T: leave it out for the default", o.Transport))
	}
	if nilPointer(o.LimitStore) {
		c.add("Options.LimitStore", fmt.Sprintf("is a nil %T: leave it out for the default", o.LimitStore))
	} else if !reflect.ValueOf(o.LimitStore).Comparable() {
		c.add("Options.LimitStore", fmt.Sprintf("%T is not comparable: use a pointer", o.LimitStore))
	}
}
