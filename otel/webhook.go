package otel

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The attributes of deliveries that the semantic conventions do not define.
const (
	keySubject = attribute.Key("signforms.subject.id")
	keyRefusal = attribute.Key("signforms.refusal")
)

type webhookInstruments struct {
	deliveries metric.Int64Counter
	refusals   metric.Int64Counter
	events     metric.Int64Counter
	duration   metric.Float64Histogram
	lag        metric.Float64Histogram
}

func (m *maker) webhook() webhookInstruments {
	return webhookInstruments{
		deliveries: m.counter("signforms.webhook.deliveries", "Deliveries, by the status that they were answered with.", "{delivery}"),
		refusals:   m.counter("signforms.webhook.refusals", "Deliveries that were refused as a whole, by reason.", "{delivery}"),
		events:     m.counter("signforms.webhook.events", "Events, by type and outcome.", "{event}"),
		duration:   m.seconds("signforms.webhook.event.duration", "Time that an event's function took."),
		lag:        m.seconds("signforms.webhook.lag", "Time from the service's signature to the end of an event's function."),
	}
}

// Handler returns a copy of opts that counts every event and every refused delivery. opts may be nil. Functions in opts
// are kept and run as before. For the spans, wrap the functions in [Telemetry.Funcs] and the webhook.Handler in
// [Telemetry.Deliveries].
func (t *Telemetry) Handler(opts *webhook.HandlerOptions) *webhook.HandlerOptions {
	var o webhook.HandlerOptions
	if opts != nil {
		o = *opts
	}
	onEvent, onError := o.OnEvent, o.OnError
	o.OnEvent = func(ctx context.Context, r webhook.EventResult) {
		t.measureEvent(ctx, r)
		if onEvent != nil {
			onEvent(ctx, r)
		}
	}
	o.OnError = func(ctx context.Context, err error) {
		t.refused(ctx, err)
		if onError != nil {
			onError(ctx, err)
		}
	}
	return &o
}

// Deliveries wraps next. It makes a span of kind server, signforms.delivery, for each request, and
// counts the requests. Use Deliveries in place of an HTTP middleware that makes such spans, or
// below one. The span contains the path of the request, so the path should contain no secret.
func (t *Telemetry) Deliveries(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := t.tracer.Start(r.Context(), "signforms.delivery", serverSpan...)
		answer := &statusWriter{ResponseWriter: w, status: http.StatusInternalServerError} // the status if next does not return
		defer func() { t.endDelivery(ctx, span, r, answer.status) }()
		next.ServeHTTP(answer, r.WithContext(ctx))
		if !answer.wrote {
			answer.status = http.StatusOK
		}
	})
}

func (t *Telemetry) endDelivery(ctx context.Context, span trace.Span, r *http.Request, status int) {
	if span.IsRecording() {
		span.SetAttributes(deliveryAttributes(r, status)...)
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	if t.webhook.deliveries.Enabled(ctx) {
		t.webhook.deliveries.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(keyStatusCode.Int(status))))
	}
}

func deliveryAttributes(r *http.Request, status int) []attribute.KeyValue {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	attributes := withMethod([]attribute.KeyValue{keyScheme.String(scheme), keyPath.String(r.URL.Path), keyStatusCode.Int(status)}, r.Method)
	if status >= http.StatusInternalServerError {
		attributes = append(attributes, keyErrorType.String(strconv.Itoa(status)))
	}
	return attributes
}

var serverSpan = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.wrote && status >= http.StatusOK {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.status, w.wrote = http.StatusOK, true
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController access to the server's own writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (t *Telemetry) measureEvent(ctx context.Context, r webhook.EventResult) {
	if !t.webhook.events.Enabled(ctx) {
		return
	}
	set := metric.WithAttributeSet(attribute.NewSet(keyDestination.String(typeOf(r.Event.EventType())), keyOutcome.String(r.Outcome.String())))
	t.webhook.events.Add(ctx, 1, set)
	t.webhook.duration.Record(ctx, r.Duration.Seconds(), set)
	if !r.SignedAt.IsZero() {
		t.webhook.lag.Record(ctx, max(time.Since(r.SignedAt), 0).Seconds(), set)
	}
}

// typeOf returns the type of a documented event, and other for all other events. Otherwise any text
// that the service sends could become a new value in the metrics.
func typeOf(t webhook.EventType) string {
	switch t {
	case webhook.TypeFormResponse, webhook.TypeSignatureViewed, webhook.TypeSignatureSigned, webhook.TypeSignatureCompleted,
		webhook.TypeTemplateViewed, webhook.TypeTemplateSigned, webhook.TypeTemplateResponse:
		return string(t)
	}
	return other
}

// refused reports why a delivery was refused. It ignores errors of single events, because the
// method event reports these.
func (t *Telemetry) refused(ctx context.Context, err error) {
	refused := (*webhook.RefusedError)(nil)
	if !errors.As(err, &refused) {
		return
	}
	reason := refusals.of(refused.Err)
	trace.SpanFromContext(ctx).SetAttributes(keyRefusal.String(reason))
	if t.webhook.refusals.Enabled(ctx) {
		t.webhook.refusals.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(keyRefusal.String(reason))))
	}
}

// refusals are the reasons why a delivery is refused.
var refusals = errorNames{
	{webhook.ErrBodyConsumed, "ErrBodyConsumed"},
	{webhook.ErrHeaderMissing, "ErrHeaderMissing"},
	{webhook.ErrHeaderRepeated, "ErrHeaderRepeated"},
	{webhook.ErrHeaderMalformed, "ErrHeaderMalformed"},
	{webhook.ErrSignature, "ErrSignature"},
	{webhook.ErrTimestamp, "ErrTimestamp"},
	{webhook.ErrNoSecret, "ErrNoSecret"},
	{webhook.ErrTooLarge, "ErrTooLarge"},
	{webhook.ErrPayload, "ErrPayload"},
}
