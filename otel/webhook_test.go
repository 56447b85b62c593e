package otel_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	apitrace "go.opentelemetry.io/otel/trace"

	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

const secret = "whsec_of_a_test"

// receive delivers a body, signed by key, to a watched handler whose function returns err, and returns the status.
func receive(t *testing.T, r *recorder, key string, body []byte, err error) int {
	t.Helper()
	verifier, verr := webhook.NewVerifier([]string{secret}, nil)
	require.NoError(t, verr)
	handler := r.Deliveries(webhook.NewHandler(verifier, webhook.Funcs{
		Other: func(context.Context, webhook.Event) error { return err },
	}, r.Handler(&webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, webhooktest.NewRequest("/webhook", key, time.Now(), body))
	return w.Code
}

func TestEventIsASpanBelowItsDelivery(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	require.Equal(t, http.StatusOK, receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), nil))
	deliveries, events := r.ended("signforms.delivery"), r.ended("process new_form_response")
	require.Len(t, deliveries, 1)
	require.Len(t, events, 1)
	require.Equal(t, apitrace.SpanKindServer, deliveries[0].SpanKind())
	require.Equal(t, int64(200), attributesOf(deliveries[0])["http.response.status_code"])
	require.Equal(t, deliveries[0].SpanContext().SpanID(), events[0].Parent().SpanID())
	require.Equal(t, map[attribute.Key]any{"signforms.event.type": "new_form_response", "signforms.outcome": "processed"}, attributesOf(events[0]))
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
		kind, _ := point.Attributes.Value("signforms.event.type")
		outcome, _ := point.Attributes.Value("signforms.outcome")
		counts[kind.AsString()+" "+outcome.AsString()] = point.Value
	}
	return counts
}

func TestFailedEventIsAnErrorWithoutItsText(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	require.Equal(t, http.StatusInternalServerError, receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), errors.New("zoe@example.com is unknown")))
	event := r.ended("process new_form_response")[0]
	require.Equal(t, codes.Error, event.Status().Code)
	require.Equal(t, "failed", event.Status().Description)
	require.Equal(t, codes.Error, r.ended("signforms.delivery")[0].Status().Code)
	require.Equal(t, map[string]int64{"new_form_response failed": 1}, r.eventCounts(t))
}

func TestRefusalNamesItsReason(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	require.Equal(t, http.StatusUnauthorized, receive(t, r, "another secret", webhooktest.Sample(webhook.TypeFormResponse), nil))
	require.Equal(t, "ErrSignature", attributesOf(r.ended("signforms.delivery")[0])["signforms.refusal"])
	points := r.metric(t, "signforms.webhook.refusals").(metricdata.Sum[int64]).DataPoints
	require.Equal(t, int64(1), points[0].Value)
}

func TestSubjectIDsOnRequestOnly(t *testing.T) {
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
			receive(t, r, secret, webhooktest.Sample(webhook.TypeFormResponse), nil)
			_, found := attributesOf(r.ended("process new_form_response")[0])["signforms.subject.id"]
			require.Equal(t, c.want, found)
		})
	}
}

func TestUnknownTypesAreOneValue(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	receive(t, r, secret, []byte(`[{"webhookEvent":"something_new","documentId":"d1"}]`), nil)
	require.Equal(t, map[string]int64{"_OTHER processed": 1}, r.eventCounts(t))
}

func TestQueueIsReported(t *testing.T) {
	r := newRecorder(t, otel.Options{})
	r.QueueReceived(t.Context(), http.StatusOK, 3)
	r.QueueSettled(t.Context(), webhook.TypeTemplateResponse, "retrying", 2, 50*time.Millisecond, errors.New("zoe@example.com"))
	stop, err := r.WatchQueue(func(context.Context) (otel.QueueDepth, error) {
		return otel.QueueDepth{Pending: 7, Failed: 2, Lag: 90 * time.Second}, nil
	})
	require.NoError(t, err)

	span := r.ended("process new_template_response")[0]
	require.Equal(t, apitrace.SpanKindConsumer, span.SpanKind())
	require.Equal(t, int64(2), attributesOf(span)["signforms.queue.try"])
	require.Equal(t, 50*time.Millisecond, span.EndTime().Sub(span.StartTime()))
	require.Equal(t, "retrying", span.Status().Description)
	require.Equal(t, int64(3), r.metric(t, "signforms.queue.stored").(metricdata.Sum[int64]).DataPoints[0].Value)
	require.Equal(t, int64(1), r.metric(t, "signforms.queue.tries").(metricdata.Sum[int64]).DataPoints[0].Value)
	require.Equal(t, int64(7), r.metric(t, "signforms.queue.pending").(metricdata.Gauge[int64]).DataPoints[0].Value)
	require.Equal(t, 90.0, r.metric(t, "signforms.queue.lag").(metricdata.Gauge[float64]).DataPoints[0].Value)
	require.NoError(t, stop())
}
