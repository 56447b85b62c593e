package signforms_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Log every attempt with slog.
func ExampleOptions_logging() {
	srv, _ := startExample()
	defer srv.Close()
	srv.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Nth: 1, Status: 503, Body: `{"message":"Down for maintenance"}`})
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))

	client, err := signforms.New(srv.URL, srv.APIKey, &signforms.Options{
		RetryWaitMin: time.Millisecond, // the default, 500 ms, would delay an example for nothing
		OnAttempt: func(ctx context.Context, a signforms.Attempt) {
			level := slog.LevelDebug
			if a.Err != nil || a.StatusCode >= 500 || a.Number > 1 {
				level = slog.LevelInfo
			}
			logger.LogAttrs(ctx, level, "signforms", slog.String("operation", string(a.Operation)), slog.Int("attempt", a.Number),
				slog.Int("status", a.StatusCode), slog.Duration("took", a.Duration), slog.String("request_id", a.RequestID), slog.Any("err", a.Err))
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Documents.List(context.Background(), signforms.DocumentListParams{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=INFO msg=signforms operation="list documents" attempt=1 status=503 err=<nil>
	// level=INFO msg=signforms operation="list documents" attempt=2 status=200 err=<nil>
}

// Trace every attempt with OpenTelemetry. An attempt is over when OnAttempt is called, so its span is given both times.
func ExampleOptions_tracing() {
	// With tracer := otel.Tracer("…"), trace, attribute and codes from go.opentelemetry.io/otel:
	//
	//	OnAttempt: func(ctx context.Context, a signforms.Attempt) {
	//		end := time.Now()
	//		_, span := tracer.Start(ctx, string(a.Operation),
	//			trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(end.Add(-a.Duration)))
	//		span.SetAttributes(
	//			attribute.Int("http.response.status_code", a.StatusCode),
	//			attribute.Int("http.request.resend_count", a.Number-1),
	//			attribute.String("signforms.request_id", a.RequestID),
	//		)
	//		if a.Err != nil {
	//			span.SetStatus(codes.Error, a.Err.Error())
	//		}
	//		span.End(trace.WithTimestamp(end))
	//	},
}

// withoutTime leaves out what differs from run to run.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "took" || a.Key == "request_id" {
		return slog.Attr{}
	}
	return a
}

// Call what this package has no method for.
func ExampleClient_Do() {
	srv, client := startExample()
	defer srv.Close()

	var counts struct {
		Documents int `json:"documentsCount"`
	}
	_, err := client.Do(context.Background(), signforms.Request{
		Path: "/get-documents", Query: url.Values{"documentType": {"PDF"}, "limit": {"1"}},
	}, &counts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts.Documents)
	// Output: 0
}
