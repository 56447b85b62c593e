package otel

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/signforms/signforms-go/internal/buildinfo"
)

// scope names this package in what it reports.
const scope = "github.com/signforms/signforms-go/otel"

// Options are the optional settings of New. The zero value, like nil, gives the defaults.
type Options struct {
	// TracerProvider makes the tracer. Default: the global one, as it is when New is called.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. Default: the global one, as it is when New is called.
	MeterProvider metric.MeterProvider
	// SubjectIDs adds the ids of documents and form responses to the spans of events, as signforms.subject.id.
	// Default: they are left out.
	SubjectIDs bool
}

// Telemetry holds the tracer and the instruments. It is safe for concurrent use.
type Telemetry struct {
	tracer trace.Tracer
	meter  metric.Meter

	subjectIDs bool

	client  clientInstruments
	webhook webhookInstruments
	queue   queueInstruments
}

// New makes the tracer and the instruments. opts may be nil. It fails when the meter refuses an instrument.
func New(opts *Options) (*Telemetry, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	t := &Telemetry{
		tracer: o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(buildinfo.Version(scope))),
		meter:  o.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(buildinfo.Version(scope))),

		subjectIDs: o.SubjectIDs,
	}
	if err := errors.Join(t.client.make(t.meter), t.webhook.make(t.meter), t.queue.make(t.meter)); err != nil {
		return nil, fmt.Errorf("otel: making instruments: %w", err)
	}
	return t, nil
}
