package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Funcs are the functions of a [Handler]; each may be nil, but not all. Exactly one runs per event: the one for its type,
// else Other; for an [UnknownEvent] Unknown, else, if it could be decoded, Other. An event without a function is
// acknowledged and logged. One that could not be decoded is answered 500 as long as Unknown is nil, unless its type is one
// that no function is set for.
//
// A function's ctx has the values of the request's and its deadline, but does not end when the sender hangs up; it ends
// after [HandlerOptions.Timeout]. Functions are called concurrently, for events of different deliveries.
//
// An error, unless it is wrapped by [Permanent], a panic and a [runtime.Goexit] are answered 500, which asks the service to
// deliver again; whether and when it does, it does not document. Then only what did not succeed runs again. Functions
// should be idempotent: a process that dies between a function's work and the record of it in the replay store leaves an
// event that will run again.
type Funcs struct {
	FormResponse       func(context.Context, *FormResponse) error
	SignatureViewed    func(context.Context, *SignatureViewed) error
	SignatureSigned    func(context.Context, *SignatureSigned) error
	SignatureCompleted func(context.Context, *SignatureCompleted) error
	TemplateViewed     func(context.Context, *TemplateViewed) error
	TemplateSigned     func(context.Context, *TemplateSigned) error
	TemplateResponse   func(context.Context, *TemplateResponse) error
	Unknown            func(context.Context, *UnknownEvent) error // types this package does not know, and what could not be decoded
	Other              func(context.Context, Event) error         // every event that none of the above is there for
}

func (f *Funcs) empty() bool {
	return f.FormResponse == nil && f.SignatureViewed == nil && f.SignatureSigned == nil &&
		f.SignatureCompleted == nil && f.TemplateViewed == nil && f.TemplateSigned == nil &&
		f.TemplateResponse == nil && f.Unknown == nil && f.Other == nil
}

// ErrNoFunction is returned by [Funcs.Dispatch] for an event that no function is set for.
var ErrNoFunction = errors.New("webhook: no function for this event: set the one for its type, or Funcs.Other for all events")

// Dispatch runs the one function that is set for e, as a [Handler] does, and returns its error. It is for programs that
// take events from somewhere else than a Handler, such as a queue. It returns when the function has returned.
//
// The error is a *[PanicError] when the function panics, and an error of its own when the function ends its goroutine
// with [runtime.Goexit]. It matches [ErrNoFunction] when no function is set for e, and the Err of an [UnknownEvent] that
// could not be decoded when Funcs.Unknown is nil. [IsPermanent] tells whether it is worth to run the event again.
//
// Dispatch does not look for repeats, sets no time limit and is safe for concurrent use: the function gets ctx as it is,
// on a goroutine of its own.
func (f Funcs) Dispatch(ctx context.Context, e Event) error {
	run, err := f.choose(e)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { ended <- err }()
		err = call(ctx, run)
	}()
	return <-ended
}

var errGoexit = errors.New("webhook: function ended its goroutine with runtime.Goexit, as FailNow of a test does")

// call runs a function and returns a panic as an error.
func call(ctx context.Context, run function) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return run(ctx)
}

// function is one of Funcs together with its event.
type function func(context.Context) error

// choose returns the function to run for an event, or the reason why there is none.
func (f *Funcs) choose(ev Event) (function, error) {
	if run := f.pick(ev); run != nil {
		return run, nil
	}
	if u, ok := ev.(*UnknownEvent); ok && u.Err != nil && f.wants(u.Type) {
		return nil, fmt.Errorf("%w; Funcs.Unknown would take the event", u.Err)
	}
	return nil, ErrNoFunction
}

// wants reports whether an event of that type, had it been decoded, would have had a function. An event without a type
// may be of any.
func (f *Funcs) wants(eventType EventType) bool {
	if f.Other != nil {
		return true
	}
	switch eventType {
	case TypeFormResponse:
		return f.FormResponse != nil
	case TypeSignatureViewed:
		return f.SignatureViewed != nil
	case TypeSignatureSigned:
		return f.SignatureSigned != nil
	case TypeSignatureCompleted:
		return f.SignatureCompleted != nil
	case TypeTemplateViewed:
		return f.TemplateViewed != nil
	case TypeTemplateSigned:
		return f.TemplateSigned != nil
	case TypeTemplateResponse:
		return f.TemplateResponse != nil
	}
	return true
}

// pick returns the function to run for an event, or nil.
func (f *Funcs) pick(ev Event) function {
	var run function
	switch e := ev.(type) {
	case *FormResponse:
		run = bind(f.FormResponse, e)
	case *SignatureViewed:
		run = bind(f.SignatureViewed, e)
	case *SignatureSigned:
		run = bind(f.SignatureSigned, e)
	case *SignatureCompleted:
		run = bind(f.SignatureCompleted, e)
	case *TemplateViewed:
		run = bind(f.TemplateViewed, e)
	case *TemplateSigned:
		run = bind(f.TemplateSigned, e)
	case *TemplateResponse:
		run = bind(f.TemplateResponse, e)
	case *UnknownEvent:
		run = bind(f.Unknown, e)
		if run == nil && e.Err != nil {
			// Other is not meant for it: a function that ignores what it does not know would lose it.
			return nil
		}
	}
	if run == nil {
		run = bind(f.Other, ev)
	}
	return run
}

func bind[E Event](run func(context.Context, E) error, ev E) function {
	if run == nil {
		return nil
	}
	return func(ctx context.Context) error { return run(ctx, ev) }
}
