package offers_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/offers"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/webhook"
)

// A program opens its database, receives events, and calls Pass every few seconds.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "offers-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	srv, err := signformstest.Start(nil) // stands for the service
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})

	limits := filestore.NewLimitStore(filepath.Join(folder, "reminders"))
	client, err := signforms.New(srv.URL, srv.APIKey, &signforms.Options{LimitStore: limits})
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "offers.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	o, err := offers.Prepare(ctx, db, client)
	if err != nil {
		log.Fatal(err)
	}
	o.Hosts = []string{srv.URL}
	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	receiver := httptest.NewServer(webhook.NewHandler(verifier, webhook.Funcs{
		TemplateSigned:   func(ctx context.Context, e *webhook.TemplateSigned) error { return o.Look(ctx, e.Signers) },
		TemplateResponse: func(ctx context.Context, e *webhook.TemplateResponse) error { return o.Look(ctx, e.Signers) },
	}, nil))
	defer receiver.Close()
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})

	err = o.Add(ctx, offers.Offer{Ref: "offer-1", Template: template, Role: "Buyer", Name: "Ann", Email: "ann@example.com"})
	if err == nil {
		err = o.Pass(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	sent, err := o.Find(ctx, "ref = ?", "offer-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent[0].State)
	if err := srv.Signer(sent[0].Document, "ann@example.com").Sign(); err != nil {
		log.Fatal(err)
	}
	if err := srv.WaitDeliveries(ctx); err != nil { // the event has arrived
		log.Fatal(err)
	}
	if err := o.KeepPDFs(ctx); err != nil {
		log.Fatal(err)
	}
	pdf, err := o.PDF(ctx, "offer-1")
	fmt.Println(len(pdf) > 0, err)
	// Output:
	// open
	// true <nil>
}
