package otel_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
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
	handler := webhook.NewHandler(verifier, telemetry.Funcs(webhook.Funcs{Other: process}, nil), telemetry.Handler(nil))
	http.Handle("/webhook", telemetry.Deliveries(handler))
}

func process(context.Context, webhook.Event) error { return nil }
