package bench

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/webhook"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// answering is a transport without a network, so that the cost of a call is the client's own.
type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

const noDocuments = `{"message":"ok","documents":[],"documentsCount":0,"pagination":{"currentPage":1,"totalPages":0,"totalDocuments":0}}`

// MeasureTelemetry compares calls and deliveries that package otel reports with those that it does not. They are as small as they
// come: a list without documents and without a network, and a delivery of 1 KB to a function that does nothing.
func MeasureTelemetry(ctx context.Context, rounds int) (found []ClientMeasurement, err error) {
	for _, c := range []struct {
		name string
		opts *otel.Options
	}{
		{", nothing records", nil},
		{", spans and metrics recorded", &otel.Options{
			TracerProvider: trace.NewTracerProvider(),
			MeterProvider:  metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())),
		}},
	} {
		t, err := otel.New(c.opts)
		if err != nil {
			return nil, err
		}
		plain := &signforms.Options{HTTPClient: &http.Client{Transport: answering(noDocuments)}}
		call, err := compareCalls(ctx, "a call"+c.name, rounds, t.Client(plain), plain)
		if err != nil {
			return nil, err
		}
		delivery, err := compareHandlers("a delivery"+c.name, rounds, watchedHandler(t), ourHandler(&webhook.HandlerOptions{AllowRepeats: true})())
		if err != nil {
			return nil, err
		}
		found = append(found, call, delivery)
	}
	return found, nil
}

func compareCalls(ctx context.Context, name string, rounds int, watched, plain *signforms.Options) (ClientMeasurement, error) {
	var calls [2]func() error
	for i, opts := range []*signforms.Options{watched, plain} {
		client, err := signforms.New("https://service.example", APIKey, opts)
		if err != nil {
			return ClientMeasurement{}, err
		}
		calls[i] = repeat(ctx, 2000, func(ctx context.Context) error {
			_, err := client.Documents.List(ctx, signforms.DocumentListParams{})
			return err
		})
	}
	return compare(name, rounds, calls[0], calls[1])
}

func compareHandlers(name string, rounds int, watched, plain Receiver) (ClientMeasurement, error) {
	d := NewSender(Row{Sign: ourSign}, Payloads()[0]).Send(1)[0]
	many := func(receive Receiver) func() error {
		return repeat(context.Background(), 4000, func(context.Context) error {
			_, err := receive(d)
			return err
		})
	}
	return compare(name, rounds, many(watched), many(plain))
}

func watchedHandler(t *otel.Telemetry) Receiver {
	decoded := 0
	funcs := t.Funcs(webhook.Funcs{Other: func(context.Context, webhook.Event) error {
		decoded++
		return nil
	}}, nil)
	h := webhook.NewHandler(ourVerifier(), funcs, t.Handler(&webhook.HandlerOptions{AllowRepeats: true}))
	return serving(t.Deliveries(h), &decoded)
}
