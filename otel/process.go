package otel

import (
	"context"
	"errors"

	"github.com/signforms/signforms-go/webhook"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Stored is the data of a queue about the event whose function is called.
type Stored struct {
	Key         string // Entry.Key of package queue
	Try         int    // the number of the try, from 1
	TraceParent string // the result of TraceParent when the delivery was received; empty if unknown
}

// Funcs returns functions that run the functions of on inside a span of kind consumer, such as
// "process new_form_response". A function that is not set stays unset, and an event without a
// function has no span.
//
// stored is nil for a webhook.Handler. The span is then below the span of the delivery.
//
// For Queue.Run, stored converts the result of queue.EntryFromContext. The span then begins a trace
// of its own and links to the delivery. This package does not import package queue, so that
// programs without a queue do not depend on its database drivers. If stored panics, the function
// runs all the same, in a span without a key and a link.
//
// The attribute signforms.outcome of the span is the result of the function: processed, failed, or
// failed_permanently for an error that is marked by webhook.Permanent. In the metrics of
// QueueSettled, the outcome is the one that the queue has stored. So a try that was abandoned can
// have a span with the outcome processed.
func (t *Telemetry) Funcs(on webhook.Funcs, stored func(context.Context) Stored) webhook.Funcs {
	return webhook.Funcs{
		FormResponse:       inSpan(t, stored, on.FormResponse),
		SignatureViewed:    inSpan(t, stored, on.SignatureViewed),
		SignatureSigned:    inSpan(t, stored, on.SignatureSigned),
		SignatureCompleted: inSpan(t, stored, on.SignatureCompleted),
		TemplateViewed:     inSpan(t, stored, on.TemplateViewed),
		TemplateSigned:     inSpan(t, stored, on.TemplateSigned),
		TemplateResponse:   inSpan(t, stored, on.TemplateResponse),
		Unknown:            inSpan(t, stored, on.Unknown),
		Default:            inSpan(t, stored, on.Default),
	}
}

// TraceParent returns the span of ctx in the format of the W3C header traceparent, or "" if ctx has none. It is for
// Options.Note of package queue.
func TraceParent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

func inSpan[E webhook.Event](t *Telemetry, stored func(context.Context) Stored, run func(context.Context, E) error) func(context.Context, E) error {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, e E) (err error) {
		ctx, span := t.startProcess(ctx, e, stored)
		err = errDidNotReturn
		defer func() { endProcess(span, err) }() // also after a panic and runtime.Goexit, which are not stopped here
		err = run(ctx, e)
		return err
	}
}

var errDidNotReturn = errors.New("the function panicked or ended its goroutine")

// startProcess starts the span of one call of a function for an event. Without a span in ctx, the span
// begins a new trace, which links to the trace that stored reports.
func (t *Telemetry) startProcess(ctx context.Context, e webhook.Event, stored func(context.Context) Stored) (context.Context, trace.Span) {
	kind := typeOf(e.EventType())
	attributes := []attribute.KeyValue{
		keySystem.String("signforms"), keyOperationName.String("process"), keyOperationType.String("process"), keyDestination.String(kind),
	}
	if t.subjectIDs {
		attributes = append(attributes, keySubject.String(e.SubjectID()))
	}
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithSpanKind(trace.SpanKindConsumer))
	if stored != nil {
		s := ask(stored, ctx)
		attributes = append(attributes, keyMessageID.String(s.Key), keyTry.Int(s.Try))
		from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": s.TraceParent})
		if delivery := trace.SpanContextFromContext(from); delivery.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: delivery}))
		}
	}
	return t.tracer.Start(ctx, "process "+kind, append(options, trace.WithAttributes(attributes...))...)
}

// ask calls stored. If stored panics, the event's function must still run.
func ask(stored func(context.Context) Stored, ctx context.Context) (s Stored) {
	defer func() { recover() }()
	return stored(ctx)
}

const keyTry = attribute.Key("signforms.queue.try")

func endProcess(span trace.Span, err error) {
	defer span.End() // also when a method of err ends the goroutine
	if !span.IsRecording() {
		return
	}
	outcome, kind := outcomeOf(err)
	span.SetAttributes(keyOutcome.String(outcome.String()))
	if err != nil {
		span.SetAttributes(keyErrorType.String(kind))
		span.SetStatus(codes.Error, outcome.String())
	}
}

// outcomeOf returns the outcome and the error.type for the error of a function. If a method of err
// panics, the outcome is failed.
func outcomeOf(err error) (outcome webhook.Outcome, kind string) {
	if err == nil {
		return webhook.OutcomeProcessed, ""
	}
	outcome, kind = webhook.OutcomeFailed, other
	defer func() { recover() }()
	kind = processError(err)
	if webhook.IsPermanent(err) {
		outcome = webhook.OutcomeFailedPermanently
	}
	return outcome, kind
}

// processError returns the error.type of a function that failed. It is "panic" if the function
// panicked or ended its goroutine, and otherwise the name of the sentinel that its error matches.
func processError(err error) string {
	if err == errDidNotReturn {
		return "panic"
	}
	return sentinels.of(err)
}
