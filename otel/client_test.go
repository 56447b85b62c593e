package otel_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	apitrace "go.opentelemetry.io/otel/trace"
)

// recorder keeps the spans and metrics of one test.
type recorder struct {
	*otel.Telemetry
	spans  *tracetest.SpanRecorder
	reader *metric.ManualReader
}

func newRecorder(t *testing.T, opts otel.Options) *recorder {
	t.Helper()
	r := &recorder{spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	opts.TracerProvider = trace.NewTracerProvider(trace.WithSpanProcessor(r.spans))
	opts.MeterProvider = metric.NewMeterProvider(metric.WithReader(r.reader))
	var err error
	r.Telemetry, err = otel.New(&opts)
	require.NoError(t, err)
	return r
}

// ended returns the spans of a name in the order in which they ended.
func (r *recorder) ended(name string) []trace.ReadOnlySpan {
	var spans []trace.ReadOnlySpan
	for _, span := range r.spans.Ended() {
		if span.Name() == name {
			spans = append(spans, span)
		}
	}
	return spans
}

// metric collects and returns what one instrument holds.
func (r *recorder) metric(t *testing.T, name string) metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name == name {
				return m.Data
			}
		}
	}
	require.Fail(t, "no metric "+name)
	return nil
}

func attributesOf(span trace.ReadOnlySpan) map[attribute.Key]any {
	values := map[attribute.Key]any{}
	for _, a := range span.Attributes() {
		values[a.Key] = a.Value.AsInterface()
	}
	return values
}

// newClient returns a client of a service in the test, watched by r.
func newClient(t *testing.T, service *signformstest.Server, r *recorder) *signforms.Client {
	t.Helper()
	client, err := signforms.New(service.URL, service.APIKey, r.Client(service.ClientOptions()))
	require.NoError(t, err)
	return client
}

func TestClient_spanOfACallAndItsAttempts(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	r := newRecorder(t, otel.Options{})
	client := newClient(t, service, r)
	service.Fail(signformstest.Fault{Status: http.StatusServiceUnavailable, Times: 1})

	_, err := client.Documents.List(t.Context(), signforms.DocumentListParams{Query: "Zoë's secret offer"})
	require.NoError(t, err)

	calls, attempts := r.ended("signforms.list_documents"), r.ended("GET")
	require.Len(t, calls, 1)
	require.Len(t, attempts, 2)
	require.Equal(t, apitrace.SpanKindInternal, calls[0].SpanKind())
	require.Equal(t, codes.Unset, calls[0].Status().Code)
	require.Equal(t, map[attribute.Key]any{"signforms.operation": "list documents", "signforms.attempts": int64(2)}, attributesOf(calls[0]))
	for _, attempt := range attempts {
		require.Equal(t, apitrace.SpanKindClient, attempt.SpanKind())
		require.Equal(t, calls[0].SpanContext().SpanID(), attempt.Parent().SpanID())
	}
	first, second := attributesOf(attempts[0]), attributesOf(attempts[1])
	require.Equal(t, "503", first["error.type"])
	require.NotContains(t, first, attribute.Key("http.request.resend_count"))
	require.Equal(t, int64(200), second["http.response.status_code"])
	require.Equal(t, int64(1), second["http.request.resend_count"])
	require.Equal(t, service.URL+"/get-documents", second["url.full"], "without the query")
	require.NotContains(t, second, attribute.Key("error.type"))
}

func TestClient_failedCallNamesItsSentinel(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	r := newRecorder(t, otel.Options{})
	client := newClient(t, service, r)
	for _, c := range []struct {
		name, span, errorType string
		call                  func(context.Context) error
	}{
		{name: "refused by the service", span: "signforms.void_document", errorType: "ErrNotFound", call: func(ctx context.Context) error {
			_, err := client.Documents.Void(ctx, signforms.PDFDocument("0d8e3a4c-5a4e-4c55-9a2b-3f1f0c6d7e88"))
			return err
		}},
		{name: "doubtful", span: "signforms.send", errorType: "ErrOutcomeUnknown", call: func(ctx context.Context) error {
			service.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, Times: 1})
			_, err := client.Forms.Send(ctx, signforms.FormSendParams{
				FormID: "f1", Receivers: []signforms.Receiver{{Name: "Zoë Secret", Email: "zoe@example.com"}},
			})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Error(t, c.call(t.Context()))
			calls := r.ended(c.span)
			require.Len(t, calls, 1)
			require.Equal(t, codes.Error, calls[0].Status().Code)
			require.Equal(t, c.errorType, attributesOf(calls[0])["error.type"])
		})
	}
	requireNothingPersonal(t, r, service)
}

func requireNothingPersonal(t *testing.T, r *recorder, service *signformstest.Server) {
	t.Helper()
	var texts strings.Builder
	for _, span := range r.spans.Ended() {
		texts.WriteString(span.Name() + " " + span.Status().Description + " ")
		for _, a := range span.Attributes() {
			texts.WriteString(string(a.Key) + "=" + a.Value.String() + " ")
		}
	}
	for _, secret := range []string{"Zoë", "zoe@", "0d8e3a4c", service.APIKey} {
		require.NotContains(t, texts.String(), secret)
	}
}

func TestClient_countsAttempts(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	r := newRecorder(t, otel.Options{})
	client := newClient(t, service, r)
	service.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Status: http.StatusBadGateway, Times: 2})
	_, err := client.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	_, err = client.Documents.Remind(t.Context(), signforms.PDFDocument("0d8e3a4c-5a4e-4c55-9a2b-3f1f0c6d7e88"))
	require.Error(t, err)

	counts := map[string]int64{}
	for _, point := range r.metric(t, "signforms.client.attempts").(metricdata.Sum[int64]).DataPoints {
		operation, _ := point.Attributes.Value("signforms.operation")
		outcome, _ := point.Attributes.Value("signforms.outcome")
		counts[operation.AsString()+" "+outcome.AsString()] = point.Value
	}
	require.Equal(t, map[string]int64{"list documents 502": 2, "list documents ok": 1, "send reminder 404": 1}, counts)
	durations := r.metric(t, "signforms.client.attempt.duration").(metricdata.Histogram[float64]).DataPoints
	require.Len(t, durations, 3)
	waits := r.metric(t, "signforms.client.slot_wait").(metricdata.Histogram[float64]).DataPoints
	require.Equal(t, uint64(1), waits[0].Count)
}

func TestWatchBudget(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	r := newRecorder(t, otel.Options{})
	client := newClient(t, service, r)
	stop, err := r.WatchBudget(client)
	require.NoError(t, err)
	remaining := func() int64 {
		return r.metric(t, "signforms.client.reminder_budget.remaining").(metricdata.Gauge[int64]).DataPoints[0].Value
	}
	require.Equal(t, int64(5), remaining())
	_, err = client.Documents.Remind(t.Context(), signforms.PDFDocument("0d8e3a4c-5a4e-4c55-9a2b-3f1f0c6d7e88"))
	require.Error(t, err)
	require.Equal(t, int64(4), remaining())
	require.NoError(t, stop())
}

func TestClient_keepsTheCallersFunctions(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	r := newRecorder(t, otel.Options{})
	type key struct{}
	options := service.ClientOptions()
	var attempts int
	var ended error
	options.OnCall = func(ctx context.Context, _ signforms.Operation) (context.Context, func(error)) {
		require.True(t, apitrace.SpanContextFromContext(ctx).IsValid(), "the span is there already")
		return context.WithValue(ctx, key{}, "kept"), func(err error) { ended = err }
	}
	options.OnAttempt = func(ctx context.Context, _ signforms.Attempt) {
		require.Equal(t, "kept", ctx.Value(key{}))
		attempts++
	}
	client, err := signforms.New(service.URL, service.APIKey, r.Client(options))
	require.NoError(t, err)
	_, err = client.Documents.Void(t.Context(), signforms.PDFDocument("0d8e3a4c-5a4e-4c55-9a2b-3f1f0c6d7e88"))
	require.ErrorIs(t, err, signforms.ErrNotFound)
	require.Equal(t, 1, attempts)
	require.ErrorIs(t, ended, signforms.ErrNotFound)
}

func TestNew_defaultsRecordNothing(t *testing.T) {
	telemetry, err := otel.New(nil)
	require.NoError(t, err)
	service := signformstest.NewServer(t, nil)
	client, err := signforms.New(service.URL, service.APIKey, telemetry.Client(nil))
	require.NoError(t, err)
	_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
}
