package otel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/signforms/signforms-go/internal/buildinfo"
)

// scope is the name of this package in spans and metrics.
const scope = "github.com/signforms/signforms-go/otel"

// Options are the optional settings of New. The zero value, like nil, gives the defaults.
type Options struct {
	// TracerProvider makes the tracer. The default is the global provider at the time when New is
	// called.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. The default is the global provider at the time when New is
	// called.
	MeterProvider metric.MeterProvider
	// SubjectIDs adds the ids of documents and form responses to the spans of events, as
	// signforms.subject.id. By default these ids are left out.
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

// New makes the tracer and the instruments. opts may be nil. New returns an error if the meter
// refuses an instrument.
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
		tracer: o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(buildinfo.Version(scope)), trace.WithSchemaURL(schema)),
		meter:  o.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(buildinfo.Version(scope)), metric.WithSchemaURL(schema)),

		subjectIDs: o.SubjectIDs,
	}
	m := maker{meter: t.meter}
	t.client, t.webhook, t.queue = m.client(), m.webhook(), m.queue()
	if err := errors.Join(m.errs...); err != nil {
		return nil, fmt.Errorf("otel: making instruments: %w", err)
	}
	return t, nil
}

// maker makes instruments and collects their errors.
type maker struct {
	meter metric.Meter
	errs  []error
}

func (m *maker) counter(name, description, unit string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithDescription(description), metric.WithUnit(unit))
	m.errs = append(m.errs, err)
	return c
}

// seconds makes a histogram of durations.
func (m *maker) seconds(name, description string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithDescription(description), metric.WithUnit("s"))
	m.errs = append(m.errs, err)
	return h
}

// guarded returns a callback that turns a panic into an error. Otherwise the panic would end the
// program that collects metrics.
func guarded(callback metric.Callback) metric.Callback {
	return func(ctx context.Context, o metric.Observer) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("otel: reading a metric: panic: %v", p)
			}
		}()
		return callback(ctx, o)
	}
}
