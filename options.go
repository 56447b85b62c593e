package signforms

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// Options are the settings of a [Client]. nil and the zero value mean the defaults.
type Options struct {
	// WorkspaceID is sent as the workspaceid header if it is not empty. Default: no header.
	WorkspaceID string
	// Transport sends the requests. nil means the value of http.DefaultTransport when a request is
	// sent.
	//
	// A Transport must send each request once. It must not return while a Transport that it wraps
	// is still working; a Transport that falls back to another protocol, for example, may send a
	// request twice. Its own requests, such as for a token, must use context.Background, because in
	// the call's context they count as the call's request.
	//
	// GetBody of a request is nil, so that nothing repeats its body. A Transport that reads the
	// body, for instance to sign it, must put the bytes back.
	Transport http.RoundTripper
	// UserAgent precedes the SDK's own token, signforms-go/Version, in the User-Agent header.
	UserAgent string
	// AttemptTimeout limits each attempt, from looking up the host to the last byte of the
	// response. The time that the LimitStore takes to give a slot counts. Waiting for a slot, or
	// between attempts, does not count. Default: 30 s. At most 24 h: a process that crashes during
	// a reminder holds its slot for AttemptTimeout + 16 min 1 s.
	AttemptTimeout time.Duration
	// MaxAttempts is the largest number of requests for one call; 1 means no retries. Default: 4.
	// The package documentation lists when an operation is repeated.
	MaxAttempts int
	// RetryWaitMin and RetryWaitMax limit the wait before a retry. The wait is random. It is at
	// least half of RetryWaitMin. Its upper limit is RetryWaitMin before the first retry and
	// doubles with each further retry, up to RetryWaitMax. A Retry-After of up to RetryWaitMax is
	// used instead; with a longer one the call returns at once. Defaults: 500 ms and 30 s, each
	// moved to keep RetryWaitMin at or below RetryWaitMax.
	RetryWaitMin, RetryWaitMax time.Duration
	// ReminderMaxWait is how long one Remind call may wait for slots of the reminder budget, for
	// all its attempts together. The default is 0: the call does not wait. A negative value means
	// as long as the context allows.
	ReminderMaxWait time.Duration
	// LimitStore keeps the reminder budget. Default: one in-memory store for the whole process, in
	// which clients with the same base URL and API key share one budget. Processes that share a key
	// need a shared store. Each [testing/synctest] bubble needs its own store, such as that of
	// [NewMemoryLimitStore] or of signformstest's options. Calls that share a store wake each
	// other, and a wake-up from outside of the bubble is fatal. A store in a file follows the clock
	// of the machine.
	LimitStore LimitStore
	// Endpoints overrides the methods, paths and places of inputs of operations. Operations that
	// are not in the map keep their defaults.
	Endpoints map[Operation]Endpoint
	// OnAttempt is called after each attempt, with the call's context, for logs, metrics and traces. It runs in the
	// goroutine of the call. It must be safe for concurrent use and should return quickly.
	OnAttempt func(context.Context, Attempt)
	// OnCall is called at the start of each operation. Each page of a list is an operation, and so
	// is each reminder of RemindAll. OnCall returns the context for the operation and a function
	// end; neither may be nil. end is called at the end with the operation's error. If a hook or
	// the Transport panicked, the error reports that. If a Get method returns ErrNotFound because a
	// list lacks the record, end gets no error.
	//
	// OnCall and end run in the goroutine of the call, must be safe for concurrent use and should
	// return quickly.
	OnCall func(context.Context, Operation) (_ context.Context, end func(error))
}

// Attempt describes one request and its result, for [Options.OnAttempt]. It contains no inputs and
// no body, and printing it shows no secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is the HTTP status of the response; 0 if there was no response.
	StatusCode int
	// Err says why there was no response, or why a 2xx could not be read to its end. It is an
	// [*Error] that matches its cause and no sentinel. Err is nil after any complete response, even
	// if the call returns an error for it.
	Err error
	// SlotWait is how long a reminder waited for a slot of the reminder budget.
	SlotWait time.Duration
	// Duration is the time from the start of the attempt, after SlotWait, to the call of OnAttempt,
	// which follows the end of the response. For a reminder it includes the time that the
	// LimitStore takes to give the slot and to store the outcome.
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

// options checks the result of withDefaults, except the endpoints.
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
