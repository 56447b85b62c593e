// Command program is the program that coldbuild builds: a receiver of webhooks that also calls the service. It is not meant to be
// run.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

func main() {
	client, err := signforms.New(os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY"), nil)
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		SignatureSigned: func(ctx context.Context, e *webhook.SignatureSigned) error {
			_, err := client.Documents.Remind(ctx, signforms.PDFDocument(e.DocumentID))
			return err
		},
	}, nil)
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler))
}
