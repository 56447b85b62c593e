package otel

import (
	"context"
	"errors"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

type queueInstruments struct {
	deliveries metric.Int64Counter
	stored     metric.Int64Counter
	tries      metric.Int64Counter
	duration   metric.Float64Histogram
}

func (m *maker) queue() queueInstruments {
	return queueInstruments{
		deliveries: m.counter("signforms.queue.deliveries", "Deliveries to a queue, by the status that they were answered with.", "{delivery}"),
		stored:     m.counter("signforms.queue.stored", "Events that were stored: new ones.", "{event}"),
		tries:      m.counter("signforms.queue.tries", "Runs of functions, by type of the event and outcome.", "{try}"),
		duration:   m.seconds("signforms.queue.try.duration", "Time that a run of a function took."),
	}
}

// QueueReceived reports one delivery to a queue. Call it from Options.OnReceived of package queue. This package does
// not import package queue, so that programs without a queue do not depend on its database drivers. A status other than
// 100 to 599 is left out.
func (t *Telemetry) QueueReceived(ctx context.Context, status, stored int) {
	if !t.queue.deliveries.Enabled(ctx) {
		return
	}
	var answered attribute.Set
	if 100 <= status && status <= 599 {
		answered = attribute.NewSet(keyStatusCode.Int(status))
	}
	t.queue.deliveries.Add(ctx, 1, metric.WithAttributeSet(answered))
	t.queue.stored.Add(ctx, int64(max(0, stored)))
}

// QueueSettled counts one run of a function, with the event's type, the outcome and the duration.
// outcome is Settled.Outcome of package queue; any other text is counted as "_OTHER". Call
// QueueSettled from Options.OnSettled. For the spans, wrap the functions of Queue.Run in
// [Telemetry.Funcs].
func (t *Telemetry) QueueSettled(ctx context.Context, event webhook.EventType, outcome string, took time.Duration) {
	if t.queue.tries.Enabled(ctx) {
		switch outcome {
		case "processed", "retrying", "failed_permanently", "released", "stale":
		default:
			outcome = other
		}
		set := metric.WithAttributeSet(attribute.NewSet(keyDestination.String(typeOf(event)), keyOutcome.String(outcome)))
		t.queue.tries.Add(ctx, 1, set)
		t.queue.duration.Record(ctx, took.Seconds(), set)
	}
}

// QueueDepth is the state of a queue that WatchQueue reports.
type QueueDepth struct {
	Pending int           // events that are not settled
	Failed  int           // failed events, which wait for a decision
	Lag     time.Duration // how long the oldest due event has been due
}

// WatchQueue reports a queue's depth, failed events and lag each time metrics are collected. The
// metrics are signforms.queue.pending, signforms.queue.failed and signforms.queue.lag. The function
// stats calls Queue.Stats of package queue and converts the result. If stats returns an error or
// panics, the collection reports an error. stop ends WatchQueue.
func (t *Telemetry) WatchQueue(stats func(context.Context) (QueueDepth, error)) (stop func() error, err error) {
	pending, err1 := t.meter.Int64ObservableGauge("signforms.queue.pending",
		metric.WithDescription("Events that are not settled."), metric.WithUnit("{event}"))
	failed, err2 := t.meter.Int64ObservableGauge("signforms.queue.failed",
		metric.WithDescription("Events that failed and wait for a decision."), metric.WithUnit("{event}"))
	lag, err3 := t.meter.Float64ObservableGauge("signforms.queue.lag",
		metric.WithDescription("For how long the oldest due event has been due."), metric.WithUnit("s"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	registration, err := t.meter.RegisterCallback(guarded(func(ctx context.Context, o metric.Observer) error {
		depth, err := stats(ctx)
		if err != nil {
			return err
		}
		o.ObserveInt64(pending, int64(depth.Pending))
		o.ObserveInt64(failed, int64(depth.Failed))
		o.ObserveFloat64(lag, depth.Lag.Seconds())
		return nil
	}), pending, failed, lag)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
