package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/signforms/signforms-go/signformstest"
)

// demo is an embedded service that delivers to this program.
type demo struct {
	*signformstest.Server
	webhook string
}

const newSecret = "whsec_made_up_for_the_demo"

// secrets returns the secrets in the order in which the receiver tries them, the new one first.
func (d demo) secrets() []string { return []string{newSecret, d.WebhookSecret} }

func startDemo(url string) (demo, error) {
	srv, err := signformstest.Start(nil)
	if err != nil {
		return demo{}, err
	}
	return demo{srv, srv.AddWebhook(signformstest.Webhook{URL: url, Event: signformstest.FamilySignatureCompleted})}, nil
}

// deliver makes the service deliver the events of a document that is signed. Meanwhile it delivers
// one event again, delivers a forged event, and changes the secret.
func (d demo) deliver(ctx context.Context) error {
	id := d.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{
		{Name: "Ann", Email: "ann@example.com"}, {Name: "Ben", Email: "ben@example.com"},
	}})
	ann, ben := d.Signer(id, "ann@example.com"), d.Signer(id, "ben@example.com")
	fmt.Println("\nAnn opens a document and signs it:")
	if err := errors.Join(ann.View(), ann.Sign(), d.WaitDeliveries(ctx)); err != nil {
		return err
	}
	fmt.Println("\nThe service delivers that she signed once more:")
	if err := errors.Join(d.Resend(d.Deliveries()[1].ID), d.WaitDeliveries(ctx)); err != nil {
		return err
	}
	fmt.Println("\nBen signs, but a delivery with a guessed signature comes first, and then one with the new secret:")
	d.FailWebhooks(signformstest.WebhookFault{Secret: "a guess", Nth: 1})
	d.FailWebhooks(signformstest.WebhookFault{Secret: newSecret})
	return errors.Join(ben.Sign(), d.WaitDeliveries(ctx))
}
