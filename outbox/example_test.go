package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"time"

	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/outbox"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// The README's lines.
func readmeSendOnce(ctx context.Context, db *sql.DB, tx *sql.Tx, client *signforms.Client, verifier *webhook.Verifier,
	offer signforms.TemplateSendParams, changed func(context.Context, *sql.Tx, outbox.Entry) error) error {
	box, err := outbox.Open(ctx, db, client, &outbox.Options{OnChange: changed}) // in your SQLite or Postgres database
	if err != nil {
		return err
	}
	go box.Run(ctx)
	http.Handle("/webhook", webhook.NewHandler(verifier, box.Funcs(webhook.Funcs{}), nil))

	return box.Add(ctx, tx, outbox.Message{Key: "offer-17", Send: offer, RemindAfter: []time.Duration{72 * time.Hour}})
}

var _ = readmeSendOnce

func ExampleBox_Add() {
	srv, err := signformstest.Start(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	db.SetMaxOpenConns(1) // for a database in memory only
	defer db.Close()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	changes := make(chan outbox.Entry, 10)
	box, err := outbox.Open(ctx, db, srv.Client(), &outbox.Options{OnChange: func(_ context.Context, _ *sql.Tx, e outbox.Entry) error {
		changes <- e
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	go box.Run(ctx)
	err = box.Add(ctx, db, outbox.Message{Key: "offer-17", Send: signforms.TemplateSendParams{
		TemplateID: template,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := <-changes
	fmt.Println(e.Key, e.State, e.Status)
	// Output: offer-17 sent PENDING
}
