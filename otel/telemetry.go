package otel

import (
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scope names this package in what it reports.
const scope = "github.com/signforms/signforms-go/otel"

// Options are the optional settings of New. The zero value, like nil, gives the defaults.
type Options struct {
	// TracerProvider makes the tracer. Default: the global one, as it is when New is called.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. Default: the global one, as it is when New is called.
	MeterProvider metric.MeterProvider
}

// Telemetry holds the tracer and the instruments. It is safe for concurrent use.
type Telemetry struct {
	tracer trace.Tracer
	meter  metric.Meter

	client clientInstruments
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
		tracer: o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version())),
		meter:  o.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(version())),
	}
	if err := t.client.make(t.meter); err != nil {
		return nil, fmt.Errorf("otel: making instruments: %w", err)
	}
	return t, nil
}
