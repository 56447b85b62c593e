package webhook

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Funcs are the functions of a [Handler]. Each may be nil, but not all of them. At most one
// function runs for each event: the function for its type, or else Default. Functions run
// concurrently for different deliveries and should be idempotent.
//
// The ctx of a function has the values of the request's context. It ends after
// [HandlerOptions.Timeout] or at the request's deadline, but not when the sender hangs up. If a
// function returns an error, panics or calls [runtime.Goexit], the response is 500; see [Permanent]
// for the exception.
type Funcs struct {
	FormResponse       func(context.Context, *FormResponse) error
	SignatureViewed    func(context.Context, *SignatureViewed) error
	SignatureSigned    func(context.Context, *SignatureSigned) error
	SignatureCompleted func(context.Context, *SignatureCompleted) error
	TemplateViewed     func(context.Context, *TemplateViewed) error
	TemplateSigned     func(context.Context, *TemplateSigned) error
	TemplateResponse   func(context.Context, *TemplateResponse) error

	// Unknown gets events of types that this package does not know, and events that could not be
	// decoded; see [UnknownEvent]. If Unknown is nil, Default gets the events of unknown types, and
	// events that could not be decoded cause the response 500.
	Unknown func(context.Context, *UnknownEvent) error

	// Default gets every event for which no function above is set, except events that could not be
	// decoded.
	Default func(context.Context, Event) error
}

func (f *Funcs) empty() bool {
	return f.FormResponse == nil && f.SignatureViewed == nil && f.SignatureSigned == nil &&
		f.SignatureCompleted == nil && f.TemplateViewed == nil && f.TemplateSigned == nil &&
		f.TemplateResponse == nil && f.Unknown == nil && f.Default == nil
}

// ErrNoFunction is returned by [Funcs.Dispatch] for an event for which no function is set.
var ErrNoFunction = errors.New("webhook: no function for this event: set the one for its type, or Funcs.Default for all events")

// Dispatch runs the function that is set for e and returns its error. It is for programs that get
// events from another source than a Handler, such as a queue. The function gets ctx unchanged and
// runs on a goroutine of its own. Dispatch waits for the function, sets no time limit and does not
// detect repeated events. It is safe for concurrent use.
//
// The error of Dispatch:
//
//   - An error of the function is returned as it is; see [IsPermanent].
//   - A panic becomes a *[PanicError].
//   - A call of [runtime.Goexit] becomes an error.
//   - An error with a method that panics, such as a nil pointer, is replaced by an error that names
//     its type and is not permanent.
//   - The error matches [ErrNoFunction] if no function is set for e.
//   - The error matches the Err of e if e could not be decoded and Funcs.Unknown is nil.
//   - If e is nil or a nil pointer, Dispatch returns an error and no function runs.
func (f Funcs) Dispatch(ctx context.Context, e Event) error {
	if isNil(e) {
		return errNilEvent
	}
	run, err := f.choose(e)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { ended <- err }()
		err = guarded(func() error { return run(ctx) })
	}()
	return <-ended
}

var errNilEvent = errors.New("webhook: event is nil: the code that stored or passed the event has lost it")

// isNil reports whether ev is nil or a nil pointer.
func isNil(ev Event) bool {
	if ev == nil {
		return true
	}
	v := reflect.ValueOf(ev)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

var errGoexit = errors.New("webhook: function ended its goroutine with runtime.Goexit, as FailNow of a test does")

// function is one of Funcs, bound to its event.
type function func(context.Context) error

// choose returns the function to run for an event, or the reason why no function runs.
func (f *Funcs) choose(ev Event) (function, error) {
	if run := f.pick(ev); run != nil {
		return run, nil
	}
	if u, ok := ev.(*UnknownEvent); ok && u.Err != nil {
		return nil, fmt.Errorf("%w; Funcs.Unknown would take the event", u.Err)
	}
	return nil, ErrNoFunction
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
			// Default does not get it, because a function that ignores unknown events would lose
			// it.
			return nil
		}
	}
	if run == nil {
		run = bind(f.Default, ev)
	}
	return run
}

func bind[E Event](run func(context.Context, E) error, ev E) function {
	if run == nil {
		return nil
	}
	return func(ctx context.Context) error { return run(ctx, ev) }
}
