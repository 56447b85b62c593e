// Command telemetry prints the spans of a client and of a durable receiver to standard output, without a collector. It uses an
// embedded service, and ends when it has processed the event of a signature.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run sends a template, signs it, and processes the events that the service delivers.
func run(ctx context.Context, out io.Writer) error {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(out))
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	defer provider.Shutdown(ctx)
	telemetry, err := otel.New(&otel.Options{TracerProvider: provider})
	if err != nil {
		return err
	}
	service, err := signformstest.Start(nil)
	if err != nil {
		return err
	}
	defer service.Close()
	return receiveAndSign(ctx, telemetry, service)
}

func receiveAndSign(ctx context.Context, telemetry *otel.Telemetry, service *signformstest.Server) (err error) {
	folder, err := os.MkdirTemp("", "telemetry-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	events, err := queue.Open(filepath.Join(folder, "events.db"), queueOptions(telemetry))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	verifier, err := webhook.NewVerifier([]string{service.WebhookSecret}, nil)
	if err != nil {
		return err
	}
	receiver := httptest.NewServer(telemetry.Deliveries(events.Handler(verifier)))
	defer receiver.Close()
	service.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.TemplateResponse})
	if err := sign(ctx, telemetry, service); err != nil {
		return err
	}
	return workOff(ctx, telemetry, events)
}

// queueOptions connects the hooks of the queue to telemetry, and stores the trace context of each delivery with its events. Package otel does not import package queue.
func queueOptions(telemetry *otel.Telemetry) *queue.Options {
	return &queue.Options{
		Note:       otel.TraceParent,
		OnReceived: func(ctx context.Context, r queue.Received) { telemetry.QueueReceived(ctx, r.Status, r.Stored) },
		OnSettled: func(ctx context.Context, s queue.Settled) {
			telemetry.QueueSettled(ctx, s.Entry.Type, string(s.Outcome), s.Duration)
		},
	}
}

func sign(ctx context.Context, telemetry *otel.Telemetry, service *signformstest.Server) error {
	client, err := signforms.New(service.URL, service.APIKey, telemetry.Client(service.ClientOptions()))
	if err != nil {
		return err
	}
	offer := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: offer, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		return err
	}
	return service.Signer(sent.CreatedDocumentID, "ann@example.com").Sign()
}

// workOff runs the queue until the last event of the document was processed.
func workOff(ctx context.Context, telemetry *otel.Telemetry, events *queue.Queue) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	return events.Run(ctx, telemetry.Funcs(webhook.Funcs{
		TemplateResponse: func(_ context.Context, e *webhook.TemplateResponse) error {
			fmt.Fprintln(os.Stderr, "completed:", e.DocumentName)
			done()
			return nil
		},
	}, stored))
}

// stored converts what the queue knows about the event of a function.
func stored(ctx context.Context) otel.Stored {
	entry, _ := queue.EntryFrom(ctx)
	return otel.Stored{Key: entry.Key, Try: entry.Attempts + 1, TraceParent: entry.Note}
}
