package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// runDemo has an embedded service deliver to both routes of the router.
func runDemo(ctx context.Context) error {
	srv, err := signformstest.Start(nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
	if err != nil {
		return err
	}
	receiver := httptest.NewServer(newRouter(verifier))
	defer receiver.Close()
	for _, path := range []string{"/webhook", "/own"} {
		srv.AddWebhook(signformstest.Webhook{URL: receiver.URL + path, Event: signformstest.TemplateResponse})
	}
	offer := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: offer, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(srv.Signer(sent.CreatedDocumentID, "ann@example.com").Sign(), srv.Settle(ctx)); err != nil {
		return err
	}
	for _, d := range srv.Deliveries() {
		last := d.Attempts[len(d.Attempts)-1]
		fmt.Println(d.EventTypes, "was answered", last.StatusCode, string(last.Answer))
		if last.StatusCode != http.StatusOK {
			return errors.New("a delivery was refused")
		}
	}
	return nil
}
