package otel_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// A client whose calls and attempts are spans of the program's global providers.
func ExampleTelemetry_Client() {
	telemetry, err := otel.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := signforms.New("https://api.example.com", os.Getenv("SIGNFORMS_API_KEY")+"example", telemetry.Client(nil))
	fmt.Println(client != nil, err)
	// Output: true <nil>
}

// A receiver whose deliveries and events are spans.
func ExampleTelemetry_Handler() {
	telemetry, err := otel.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier([]string{"the webhook's secret"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, telemetry.Funcs(webhook.Funcs{Default: process}, nil), telemetry.Handler(nil))
	http.Handle("/webhook", telemetry.Deliveries(handler))
}

func process(context.Context, webhook.Event) error { return nil }

// The spans of a send and of the event that its signature causes. A program gives the provider an exporter of its own.
func Example() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter()
	telemetry, err := otel.New(&otel.Options{TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans))})
	if err != nil {
		log.Fatal(err)
	}
	service, err := signformstest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	verifier, err := webhook.NewVerifier([]string{service.WebhookSecret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, telemetry.Funcs(webhook.Funcs{Default: process}, nil), telemetry.Handler(nil))
	receiver := httptest.NewServer(telemetry.Deliveries(handler))
	defer receiver.Close()
	service.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})
	offer := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	client, err := signforms.New(service.URL, service.APIKey, telemetry.Client(service.ClientOptions()))
	if err != nil {
		log.Fatal(err)
	}
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: offer, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := service.Signer(sent.DocumentID, "ann@example.com").Sign(); err != nil {
		log.Fatal(err)
	}
	if err := service.WaitDeliveries(ctx); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name)
	}
	// Unordered output:
	// POST
	// signforms.send
	// process new_template_response_individual_signed
	// signforms.delivery
	// process new_template_response
	// signforms.delivery
}
