package offers_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/offers"
	"github.com/signforms/signforms-go/outbox"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/webhook"
)

// A program opens its database, runs the box, receives events, and adds offers.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
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
	db, err := sql.Open("sqlite", filepath.Join(folder, "offers.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	o, err := offers.Open(ctx, db, client, outbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	o.Hosts = []string{srv.URL}
	ended := make(chan error, 1)
	go func() { ended <- o.Box.Run(ctx) }()
	defer func() { cancel(); <-ended }() // before the database is closed
	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	receiver := httptest.NewServer(webhook.NewHandler(verifier, o.Box.Funcs(webhook.Funcs{}), nil))
	defer receiver.Close()
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})

	err = o.Add(ctx, offers.Offer{Ref: "offer-1", Template: template, Role: "Buyer", Name: "Ann", Email: "ann@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	sent := wait(ctx, o, "state = 'sent'")
	fmt.Println(sent.State, sent.Status)
	if err := srv.Signer(sent.Document, "ann@example.com").Sign(); err != nil {
		log.Fatal(err)
	}
	signed := wait(ctx, o, "state = 'ended'")
	fmt.Println(signed.State, signed.Status)
	if err := o.KeepPDFs(ctx); err != nil {
		log.Fatal(err)
	}
	pdf, err := o.PDF(ctx, "offer-1")
	fmt.Println(len(pdf) > 0, err)
	// Output:
	// sent PENDING
	// ended SIGNED
	// true <nil>
}

// wait waits for a row.
func wait(ctx context.Context, o *offers.Offers, where string) offers.Row {
	for {
		found, err := o.Find(ctx, where)
		if err != nil {
			log.Fatal(err)
		}
		if len(found) > 0 {
			return found[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
}
