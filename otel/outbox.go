package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// OutboxDepth is the state of an outbox that WatchOutbox reports.
type OutboxDepth struct {
	Pending   int           // messages that wait to be sent
	InDoubt   int           // messages that are being sent or have an unknown outcome
	Undecided int           // messages that wait for a person
	Oldest    time.Duration // age of the oldest of all these messages
}

// WatchOutbox reports the depth of an outbox each time metrics are collected. The metrics are
// signforms.outbox.pending, signforms.outbox.in_doubt, signforms.outbox.undecided and
// signforms.outbox.oldest. The function stats calls Box.Stats of package outbox and converts the
// result. If stats returns an error or panics, the collection reports an error. stop ends
// WatchOutbox.
func (t *Telemetry) WatchOutbox(stats func(context.Context) (OutboxDepth, error)) (stop func() error, err error) {
	pending, err1 := t.meter.Int64ObservableGauge("signforms.outbox.pending",
		metric.WithDescription("Messages that wait to be sent."), metric.WithUnit("{message}"))
	inDoubt, err2 := t.meter.Int64ObservableGauge("signforms.outbox.in_doubt",
		metric.WithDescription("Messages that are being sent, or whose outcome is unknown."), metric.WithUnit("{message}"))
	undecided, err3 := t.meter.Int64ObservableGauge("signforms.outbox.undecided",
		metric.WithDescription("Messages that wait for a person."), metric.WithUnit("{message}"))
	oldest, err4 := t.meter.Float64ObservableGauge("signforms.outbox.oldest",
		metric.WithDescription("The age of the oldest message that is not settled."), metric.WithUnit("s"))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	registration, err := t.meter.RegisterCallback(guarded(func(ctx context.Context, o metric.Observer) error {
		depth, err := stats(ctx)
		if err != nil {
			return err
		}
		o.ObserveInt64(pending, int64(depth.Pending))
		o.ObserveInt64(inDoubt, int64(depth.InDoubt))
		o.ObserveInt64(undecided, int64(depth.Undecided))
		o.ObserveFloat64(oldest, depth.Oldest.Seconds())
		return nil
	}), pending, inDoubt, undecided, oldest)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
