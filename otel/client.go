package otel

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The attributes of calls that the semantic conventions do not define.
const (
	keyOperation = attribute.Key("signforms.operation")
	keyAttempts  = attribute.Key("signforms.attempts")
	keyOutcome   = attribute.Key("signforms.outcome")
)

type clientInstruments struct {
	attempts metric.Int64Counter
	duration metric.Float64Histogram
	slotWait metric.Float64Histogram
}

func (m *maker) client() clientInstruments {
	return clientInstruments{
		attempts: m.counter("signforms.client.attempts", "Requests to the service, by operation and outcome.", "{request}"),
		duration: m.seconds("signforms.client.attempt.duration", "Time from the start of a request to the end of its answer."),
		slotWait: m.seconds("signforms.client.slot_wait", "Time for which a reminder waited for a slot of the reminder budget."),
	}
}

// Client returns a copy of opts that reports every call and attempt. A call whose input is refused
// before anything is sent may be missing. opts may be nil. Functions and a Transport in opts are
// kept and run as before.
//
// A call is a span of kind internal, named by its [signforms.Operation], such as signforms.send.
// Each page of a list is a call, and methods that read one record from a list are list calls too.
// The error.type of a call is the name of the sentinel that its error matches, such as ErrRefused.
//
// An attempt is a span of kind client below the call's span, named by its method.
func (t *Telemetry) Client(opts *signforms.Options) *signforms.Options {
	var o signforms.Options
	if opts != nil {
		o = *opts
	}
	o.OnCall = t.onCall(o.OnCall)
	o.OnAttempt = t.onAttempt(o.OnAttempt)
	o.Transport = &transport{t: t, base: o.Transport}
	return &o
}

// WatchBudget reports how many reminders the client could send at once, each time metrics are collected. The metric is
// signforms.client.reminder_budget.remaining. Call WatchBudget once for all clients that share a budget. stop ends it.
func (t *Telemetry) WatchBudget(client *signforms.Client) (stop func() error, err error) {
	gauge, err := t.meter.Int64ObservableGauge("signforms.client.reminder_budget.remaining",
		metric.WithDescription("Reminders that could be sent at once."), metric.WithUnit("{request}"))
	if err != nil {
		return nil, err
	}
	registration, err := t.meter.RegisterCallback(guarded(func(ctx context.Context, o metric.Observer) error {
		budget, err := client.Documents.ReminderBudget(ctx)
		if err != nil {
			return err
		}
		o.ObserveInt64(gauge, int64(budget.Remaining))
		return nil
	}), gauge)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// callState is shared by the attempts of one call, through its context. The attempts of a call run
// one after the other, so callState needs no lock.
type callState struct {
	span     trace.Span
	attempts int
	attempt  trace.Span // the span of the running attempt, or nil
}

type callKey struct{}

// The options of spans. They are made once, to save allocations.
var (
	internalSpan = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindInternal)}
	clientSpan   = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
)

func (t *Telemetry) onCall(next func(context.Context, signforms.Operation) (context.Context, func(error))) func(context.Context, signforms.Operation) (context.Context, func(error)) {
	return func(ctx context.Context, op signforms.Operation) (context.Context, func(error)) {
		ctx, span := t.tracer.Start(ctx, spanName(op), internalSpan...)
		state := &callState{span: span}
		ctx = context.WithValue(ctx, callKey{}, state)
		nextEnd := func(error) {}
		if next != nil {
			ctx, nextEnd = next(ctx, op)
		}
		return ctx, func(err error) {
			nextEnd(err)
			state.end(op, err)
		}
	}
}

// spanNames has the names of spans, so that no name is allocated for a call that is not recorded.
var spanNames = func() map[signforms.Operation]string {
	names := map[signforms.Operation]string{}
	for _, op := range []signforms.Operation{
		signforms.OpListDocuments, signforms.OpVoidDocument, signforms.OpRemind, signforms.OpSend, signforms.OpListRespondents, signforms.OpListFormResponses,
	} {
		names[op] = "signforms." + strings.ReplaceAll(string(op), " ", "_")
	}
	return names
}()

func spanName(op signforms.Operation) string {
	if name, ok := spanNames[op]; ok {
		return name
	}
	return "signforms.call"
}

func (s *callState) end(op signforms.Operation, err error) {
	if s.span.IsRecording() {
		s.span.SetAttributes(keyOperation.String(string(op)), keyAttempts.Int(s.attempts))
		if err != nil {
			name := sentinels.of(err)
			s.span.SetAttributes(keyErrorType.String(name))
			s.span.SetStatus(codes.Error, name)
		}
	}
	s.span.End()
}

// transport starts the span of each attempt. onAttempt ends the span when the response has been
// read.
type transport struct {
	t    *Telemetry
	base http.RoundTripper // nil: the value of http.DefaultTransport at the time of the call
}

func (tr *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := tr.base
	if base == nil {
		base = http.DefaultTransport
	}
	state, ok := req.Context().Value(callKey{}).(*callState)
	if !ok {
		return base.RoundTrip(req)
	}
	ctx, span := tr.t.tracer.Start(req.Context(), clientSpanName(req.Method), clientSpan...)
	state.attempt = span
	state.attempts++
	if !span.IsRecording() && !span.SpanContext().IsValid() {
		return base.RoundTrip(req) // if the span is not recorded, do not copy the request
	}
	if span.IsRecording() {
		span.SetAttributes(requestAttributes(req, state.attempts-1)...)
	}
	return base.RoundTrip(req.WithContext(ctx))
}

func requestAttributes(req *http.Request, resent int) []attribute.KeyValue {
	// The query contains ids and search text, so leave it out.
	address := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}
	attributes := withMethod([]attribute.KeyValue{
		keyServer.String(req.URL.Hostname()), keyPort.Int(portOf(req.URL)), keyURL.String(address.String()),
	}, req.Method)
	if resent > 0 {
		attributes = append(attributes, keyResend.Int(resent))
	}
	return attributes
}

func (t *Telemetry) onAttempt(next func(context.Context, signforms.Attempt)) func(context.Context, signforms.Attempt) {
	return func(ctx context.Context, a signforms.Attempt) {
		if state, ok := ctx.Value(callKey{}).(*callState); ok && state.attempt != nil {
			endAttempt(state.attempt, a)
			state.attempt = nil
		}
		t.measure(ctx, a)
		if next != nil {
			next(ctx, a)
		}
	}
}

func endAttempt(span trace.Span, a signforms.Attempt) {
	if span.IsRecording() {
		if a.StatusCode != 0 {
			span.SetAttributes(keyStatusCode.Int(a.StatusCode))
		}
		if failed := attemptError(a); failed != "" {
			span.SetAttributes(keyErrorType.String(failed))
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

func (t *Telemetry) measure(ctx context.Context, a signforms.Attempt) {
	if !t.client.attempts.Enabled(ctx) && !t.client.duration.Enabled(ctx) && !t.client.slotWait.Enabled(ctx) {
		return
	}
	outcome := attemptError(a)
	if outcome == "" {
		outcome = "ok"
	}
	set := metric.WithAttributeSet(attribute.NewSet(keyOperation.String(string(a.Operation)), keyOutcome.String(outcome)))
	t.client.attempts.Add(ctx, 1, set)
	t.client.duration.Record(ctx, a.Duration.Seconds(), set)
	if a.Operation == signforms.OpRemind {
		t.client.slotWait.Record(ctx, a.SlotWait.Seconds())
	}
}

// attemptError returns the error.type of an attempt: a status other than 2xx, or the name of the
// error. It is "" for a success.
func attemptError(a signforms.Attempt) string {
	switch {
	case errors.Is(a.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(a.Err, context.Canceled):
		return "canceled"
	case a.Err != nil:
		return "no_answer"
	case a.StatusCode < 200 || a.StatusCode >= 300:
		return strconv.Itoa(a.StatusCode)
	}
	return ""
}

// errorNames are errors with their names. If an error matches several, the first one counts.
type errorNames []struct {
	err  error
	name string
}

func (all errorNames) of(err error) string {
	for _, n := range all {
		if errors.Is(err, n.err) {
			return n.name
		}
	}
	return other
}

// sentinels are the errors that the error of a call may match.
var sentinels = errorNames{
	{signforms.ErrOutcomeUnknown, "ErrOutcomeUnknown"},
	{signforms.ErrRateLimited, "ErrRateLimited"},
	{signforms.ErrRefused, "ErrRefused"},
	{signforms.ErrInvalid, "ErrInvalid"},
	{signforms.ErrForbidden, "ErrForbidden"},
	{signforms.ErrNotFound, "ErrNotFound"},
	{signforms.ErrUnavailable, "ErrUnavailable"},
	{signforms.ErrBadResponse, "ErrBadResponse"},
	{signforms.ErrIncomplete, "ErrIncomplete"},
	{context.Canceled, "context.Canceled"},
	{context.DeadlineExceeded, "context.DeadlineExceeded"},
}
