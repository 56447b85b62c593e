package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// addPDF acts as a user who uploads a document to the service and sends it to one signer. It first moves the clock by a
// minute, so that documents have different times.
func (t tour) addPDF(name string) string {
	t.service.Advance(time.Minute)
	return t.service.AddDocument(signformstest.Document{
		Name: name, Signers: []signformstest.Signer{{Name: "Cy", Email: "cy@example.com"}},
	})
}

func (t tour) pdf(ctx context.Context) error {
	id := t.addPDF("House rules")
	cy := t.service.Signer(id, "cy@example.com")
	if err := errors.Join(cy.View(), cy.Sign(), t.service.WaitDeliveries(ctx)); err != nil {
		return err
	}
	document, err := t.client.Documents.Get(ctx, id)
	if err != nil {
		return err
	}
	fmt.Printf("   %q is %s\n", document.Name, document.Status)
	if document.Status != signforms.StatusSigned {
		return errors.New("it should be SIGNED")
	}
	return nil
}

func (t tour) list(ctx context.Context) error {
	for i := range 4 {
		t.addPDF(fmt.Sprintf("Notice %d", i+1))
	}
	page, err := t.client.Documents.List(ctx, signforms.DocumentListParams{Limit: 2})
	if err != nil {
		return err
	}
	fmt.Printf("   page 1 holds %d documents; next is page %d\n", len(page.Items), page.Next)
	count := 0
	for document, err := range t.client.Documents.All(ctx, signforms.DocumentListParams{Limit: 2}) {
		if err != nil {
			return err
		}
		count++
		fmt.Printf("   %s  %s\n", document.Status, document.Name)
	}
	if count != 5 {
		return fmt.Errorf("listed %d documents, want 5", count)
	}
	return nil
}

func (t tour) void(ctx context.Context) error {
	ref := signforms.PDFDocument(t.addPDF("Sent by mistake"))
	for i := range 2 {
		voided, err := t.client.Documents.Void(ctx, ref)
		if err != nil {
			return err
		}
		if voided.AlreadyVoided != (i == 1) {
			return fmt.Errorf("the answer to void %d is %q", i+1, voided.Message)
		}
		fmt.Printf("   %s (already voided: %t)\n", voided.Message, voided.AlreadyVoided)
	}
	return nil
}

func (t tour) refusals(ctx context.Context) error {
	id := t.addPDF("Signed and done")
	if err := errors.Join(t.service.Signer(id, "cy@example.com").Sign(), t.service.WaitDeliveries(ctx)); err != nil {
		return err
	}
	_, voidErr := t.client.Documents.Void(ctx, signforms.PDFDocument(id))
	_, remindErr := t.client.Documents.Remind(ctx, signforms.PDFDocument(id))
	for _, err := range []error{voidErr, remindErr} {
		if !errors.Is(err, signforms.ErrRefused) {
			return fmt.Errorf("got %v, want a refusal", err)
		}
		fmt.Printf("   error: %v\n", err)
	}
	return nil
}
