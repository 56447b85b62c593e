package signforms_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// Behind net/http's router. Others wrap the same handler.
func Example_router() {
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
		TemplateSigned: func(_ context.Context, e *webhook.TemplateSigned) error {
			log.Printf("%q signed %q", e.SignedBy.RoleTitle, e.DocumentName)
			return nil
		},
	}, nil))
	server := &http.Server{Addr: ":8080", Handler: mux, ReadTimeout: 20 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// A signed sample for a receiver on this machine.
func Example_sample() {
	secret := os.Getenv("SIGNFORMS_WEBHOOK_SECRET")
	delivery := webhooktest.NewRequest("http://localhost:8080/webhook", secret, time.Now(), webhooktest.Sample(webhook.TypeTemplateResponse))
	resp, err := http.DefaultClient.Do(delivery)
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
}
