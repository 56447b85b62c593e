package otel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	apitrace "go.opentelemetry.io/otel/trace"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

const secret = "whsec_of_a_test"

// receive delivers a body, signed by key, to a watched handler that calls run, and returns the status.
func receive(t *testing.T, r *recorder, key string, body []byte, run func(context.Context) error) int {
	t.Helper()
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	require.NoError(t, err)
	handler := r.Deliveries(webhook.NewHandler(verifier, r.Funcs(webhook.Funcs{
		Default: func(ctx context.Context, _ webhook.Event) error { return run(ctx) },
	}, nil), r.Handler(&webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, webhooktest.NewRequest("/webhook?token=t", key, time.Now(), body))
	return w.Code
}

func succeed(context.Context) error { return nil }

func TestFuncs_spanBelowItsDelivery(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	var inside apitrace.SpanContext
	require.Equal(t, http.StatusOK, receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), func(ctx context.Context) error {
		inside = apitrace.SpanContextFromContext(ctx)
		return nil
	}))
	deliveries, events := r.ended("signforms.delivery"), r.ended("process new_form_response")
	require.Len(t, deliveries, 1)
	require.Len(t, events, 1)
	require.Equal(t, apitrace.SpanKindServer, deliveries[0].SpanKind())
	require.Equal(t, map[attribute.Key]any{
		"http.request.method": "POST", "http.response.status_code": int64(200), "url.scheme": "http", "url.path": "/webhook",
	}, attributesOf(deliveries[0]))
	require.Equal(t, apitrace.SpanKindConsumer, events[0].SpanKind())
	require.Equal(t, deliveries[0].SpanContext().SpanID(), events[0].Parent().SpanID())
	require.Equal(t, events[0].SpanContext(), inside)
	require.Equal(t, map[attribute.Key]any{
		"messaging.system": "signforms", "messaging.operation.name": "process", "messaging.operation.type": "process",
		"messaging.destination.name": "new_form_response", "signforms.outcome": "processed",
	}, attributesOf(events[0]))
	require.Equal(t, map[string]int64{"new_form_response processed": 1}, r.eventCounts(t))
	lag := r.metric(t, "signforms.webhook.lag").(metricdata.Histogram[float64]).DataPoints
	require.Equal(t, uint64(1), lag[0].Count)
	require.Less(t, lag[0].Sum, 60.0)
}

// eventCounts returns the counter of events by type and outcome.
func (r *recorder) eventCounts(t *testing.T) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, point := range r.metric(t, "signforms.webhook.events").(metricdata.Sum[int64]).DataPoints {
		kind, _ := point.Attributes.Value("messaging.destination.name")
		outcome, _ := point.Attributes.Value("signforms.outcome")
		counts[kind.AsString()+" "+outcome.AsString()] = point.Value
	}
	return counts
}

func TestFuncs_failureWithoutItsText(t *testing.T) {
	for _, c := range []struct {
		name               string
		run                func(context.Context) error
		errorType, outcome string
		status             int
	}{
		{name: "an error", run: func(context.Context) error { return errors.New("zoe@example.com is unknown") }, errorType: "_OTHER", outcome: "failed", status: 500},
		{name: "a call's", run: func(context.Context) error { return fmt.Errorf("sending: %w", signforms.ErrOutcomeUnknown) }, errorType: "ErrOutcomeUnknown", outcome: "failed", status: 500},
		{name: "permanent", run: func(context.Context) error { return webhook.Permanent(context.DeadlineExceeded) }, errorType: "context.DeadlineExceeded", outcome: "failed_permanently", status: 200},
		{name: "a panic", run: func(context.Context) error { panic("zoe@example.com") }, errorType: "panic", outcome: "failed", status: 500},
		{name: "an end", run: func(context.Context) error { runtime.Goexit(); return nil }, errorType: "panic", outcome: "failed", status: 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRecorder(t, otel.Options{})
			done := make(chan int, 1)
			go func() { // which Goexit ends
				w := 500
				defer func() { done <- w }()
				w = receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), c.run)
			}()
			require.Equal(t, c.status, <-done)
			event := r.ended("process new_form_response")[0]
			require.Equal(t, codes.Error, event.Status().Code)
			require.Equal(t, c.outcome, event.Status().Description)
			require.Equal(t, c.errorType, attributesOf(event)["error.type"])
			delivery := r.ended("signforms.delivery")[0]
			require.Equal(t, c.status == 500, delivery.Status().Code == codes.Error)
			if c.status == 500 {
				require.Equal(t, "500", attributesOf(delivery)["error.type"])
			}
			require.Equal(t, map[string]int64{"new_form_response " + c.outcome: 1}, r.eventCounts(t))
			requireNothingPersonal(t, r, signformstest.NewServer(t, nil))
		})
	}
}

func TestFuncs_noSpanWithoutAFunction(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	require.Equal(t, webhook.Funcs{}, r.Funcs(webhook.Funcs{}, nil))
}

// Anybody can send any method, and the service any type of event.
func TestDeliveries_unknownValuesShareOneLabel(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	receive(t, r, secret, []byte(`[{"webhookEvent":"something_new","documentId":"d1"}]`), succeed)
	require.Equal(t, map[string]int64{"_OTHER processed": 1}, r.eventCounts(t))
	require.Equal(t, "_OTHER", attributesOf(r.ended("process _OTHER")[0])["messaging.destination.name"])
	for _, row := range []struct{ method, want string }{{method: "QUERY", want: "QUERY"}, {method: "get", want: "_OTHER"}, {method: "BREW", want: "_OTHER"},
		{method: strings.Repeat("A", 1000), want: "_OTHER"}} {
		t.Run(row.method, func(t *testing.T) {
			request := httptest.NewRequest(row.method, "https://here.example/", nil)
			r.Deliveries(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), request)
			deliveries := r.ended("signforms.delivery")
			require.Equal(t, row.want, attributesOf(deliveries[len(deliveries)-1])["http.request.method"])
			require.Equal(t, "https", attributesOf(deliveries[len(deliveries)-1])["url.scheme"])
			original, found := attributesOf(deliveries[len(deliveries)-1])["http.request.method_original"]
			require.Equal(t, row.want == "_OTHER", found)
			require.True(t, !found || original == row.method[:min(len(row.method), 64)], original)
		})
	}
}

func TestHandler_refusalNamesItsReason(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	require.Equal(t, http.StatusUnauthorized, receive(t, r, "another secret", webhooktest.Sample(webhook.TypeFormResponse), succeed))
	require.Equal(t, "ErrSignature", attributesOf(r.ended("signforms.delivery")[0])["signforms.refusal"])
	points := r.metric(t, "signforms.webhook.refusals").(metricdata.Sum[int64]).DataPoints
	require.Equal(t, int64(1), points[0].Value)
}

func TestFuncs_subjectIDsOnRequest(t *testing.T) {
	for _, c := range []struct {
		name string
		opts otel.Options
		want bool
	}{
		{name: "by default"},
		{name: "on request", opts: otel.Options{SubjectIDs: true}, want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRecorder(t, c.opts)
			receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), succeed)
			_, found := attributesOf(r.ended("process new_form_response")[0])["signforms.subject.id"]
			require.Equal(t, c.want, found)
		})
	}
}

// A function of a queue runs after its delivery was answered, often in another process.
func TestFuncs_ofAQueueLinkToTheDelivery(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	var note string
	receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), func(context.Context) error { return nil })
	r.Deliveries(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { note = otel.TraceParent(q.Context()) })).
		ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
	delivery := r.ended("signforms.delivery")[1].SpanContext()
	require.Empty(t, otel.TraceParent(t.Context()))

	links := map[string]int{note: 1, "": 0, "00-nonsense": 0}
	for note, want := range links {
		var inside apitrace.SpanContext
		funcs := r.Funcs(webhook.Funcs{FormResponse: func(ctx context.Context, _ *webhook.FormResponse) error {
			inside = apitrace.SpanContextFromContext(ctx)
			return nil
		}}, func(context.Context) otel.Stored { return otel.Stored{Key: "4f", Try: 2, TraceParent: note} })
		require.NoError(t, funcs.Dispatch(t.Context(), &webhook.FormResponse{FormResponseID: "r"}))
		spans := r.ended("process new_form_response")
		span := spans[len(spans)-1]
		require.Equal(t, span.SpanContext(), inside)
		require.False(t, span.Parent().IsValid())
		require.Equal(t, "4f", attributesOf(span)["messaging.message.id"])
		require.Equal(t, int64(2), attributesOf(span)["signforms.queue.try"])
		require.Len(t, span.Links(), want, note)
		if want > 0 {
			linked := span.Links()[0].SpanContext
			require.Equal(t, delivery.TraceID(), linked.TraceID())
			require.Equal(t, delivery.SpanID(), linked.SpanID())
		}
	}
}

func TestWatchQueue(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	r.QueueReceived(t.Context(), http.StatusOK, 3)
	r.QueueSettled(t.Context(), webhook.TypeTemplateResponse, "retrying", 50*time.Millisecond)
	stop, err := r.WatchQueue(func(context.Context) (otel.QueueDepth, error) {
		return otel.QueueDepth{Pending: 7, Failed: 2, Lag: 90 * time.Second}, nil
	})
	require.NoError(t, err)

	require.Equal(t, int64(3), r.metric(t, "signforms.queue.stored").(metricdata.Sum[int64]).DataPoints[0].Value)
	require.Equal(t, int64(1), r.metric(t, "signforms.queue.tries").(metricdata.Sum[int64]).DataPoints[0].Value)
	require.Equal(t, int64(7), r.metric(t, "signforms.queue.pending").(metricdata.Gauge[int64]).DataPoints[0].Value)
	require.Equal(t, 90.0, r.metric(t, "signforms.queue.lag").(metricdata.Gauge[float64]).DataPoints[0].Value)
	require.NoError(t, stop())
}

func TestWatchOutbox(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	stop, err := r.WatchOutbox(func(context.Context) (otel.OutboxDepth, error) {
		return otel.OutboxDepth{Pending: 7, InDoubt: 3, Undecided: 2, Oldest: 90 * time.Second}, nil
	})
	require.NoError(t, err)
	for _, row := range []struct {
		name string
		want int64
	}{{name: "pending", want: 7}, {name: "in_doubt", want: 3}, {name: "undecided", want: 2}} {
		t.Run(row.name, func(t *testing.T) {
			require.Equal(t, row.want, r.metric(t, "signforms.outbox."+row.name).(metricdata.Gauge[int64]).DataPoints[0].Value)
		})
	}
	require.Equal(t, 90.0, r.metric(t, "signforms.outbox.oldest").(metricdata.Gauge[float64]).DataPoints[0].Value)
	require.NoError(t, stop())
}

// The values that a program passes cannot create labels or decrease a counter.
func TestQueueSettled_oddValues(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	r.QueueReceived(t.Context(), http.StatusOK, 3)
	for odd := range 10 {
		r.QueueReceived(t.Context(), 1000+odd, -odd)
		r.QueueSettled(t.Context(), webhook.TypeFormResponse, strings.Repeat("odd", odd), time.Second)
	}
	for _, outcome := range []string{"processed", "retrying", "failed_permanently", "released", "stale"} {
		r.QueueSettled(t.Context(), webhook.TypeFormResponse, outcome, time.Second)
	}
	require.Equal(t, int64(3), r.metric(t, "signforms.queue.stored").(metricdata.Sum[int64]).DataPoints[0].Value)
	require.Len(t, r.metric(t, "signforms.queue.deliveries").(metricdata.Sum[int64]).DataPoints, 2)
	require.Len(t, r.metric(t, "signforms.queue.tries").(metricdata.Sum[int64]).DataPoints, 6)
}

func TestFuncs_everyFunctionIsWrapped(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	var funcs webhook.Funcs
	fields := reflect.ValueOf(&funcs).Elem()
	for _, field := range fields.Fields() {
		field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
		}))
	}
	wrapped := reflect.ValueOf(r.Funcs(funcs, nil))
	for field, function := range wrapped.Fields() {
		require.False(t, function.IsNil(), field.Name)
	}
}
