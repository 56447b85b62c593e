package webhook

import (
	"context"
	"fmt"
)

// Funcs are the functions of a [Handler]; each may be nil, but not all. Exactly one runs per event: the one for its type,
// else Other; for an [UnknownEvent] Unknown, else, if it could be decoded, Other. An event without a function is
// acknowledged and logged, but one that could not be decoded is answered 500 as long as Unknown is nil.
//
// A function's ctx has the values of the request's, but does not end with it; it ends after [HandlerOptions.Timeout].
// An error, unless it is wrapped by [Permanent], and a panic are answered 500, which asks the service to deliver again;
// whether and when it does, it does not document. Then only what did not succeed runs again. Functions should be
// idempotent: a process that dies between a function's work and the record of it in the replay store leaves an event
// that will run again. They are called concurrently, for events of different deliveries.
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

// function is one of Funcs together with its event.
type function func(context.Context) error

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

// Permanent marks an error that delivering the event again would not mend. The event is acknowledged as if it had been
// processed, and the error reported. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// EventError is what [HandlerOptions.OnError] gets for an event that failed. Its text holds the index, the event type
// and the text of Err, nothing else of the event.
type EventError struct {
	Index int    // position in the delivery, from 0
	Event Event  // holds personal data
	Err   error  // of the function, the decoder or the replay store
	Stack []byte // where the function panicked, else nil
}

// Error returns a text such as: event 2 (new_form_response): disk full.
func (e *EventError) Error() string {
	return fmt.Sprintf("event %d (%s): %v", e.Index, e.Event.EventType(), e.Err)
}

// Unwrap returns Err.
func (e *EventError) Unwrap() error { return e.Err }

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}
