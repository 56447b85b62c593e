package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// The README's first lines.
func readmeFirst(ctx context.Context, client *signforms.Client, offer string, store func(id string) error) error {
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: offer,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	switch {
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		return fmt.Errorf("it may have been sent, so look with SentCandidates before you send again: %w", err)
	case err != nil:
		return err
	}
	return store(sent.CreatedDocumentID)
}

// They do what they say.
func TestREADMEFirst(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	offer := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	stored := ""
	require.NoError(t, readmeFirst(t.Context(), service.Client(), offer, func(id string) error { stored = id; return nil }))
	require.NoError(t, service.Signer(stored, "ann@example.com").Sign())
}

// The README's program that sends.
func Example_send() {
	client, err := signforms.New(os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY"), nil)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := client.Templates.Send(context.Background(), signforms.TemplateSendParams{
		TemplateID: os.Getenv("SIGNFORMS_TEMPLATE_ID"),
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if errors.Is(err, signforms.ErrOutcomeUnknown) {
		log.Fatal("Ann may have it: look with Templates.SentCandidates before sending again: ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("document %s is %s\n", sent.CreatedDocumentID, sent.CreatedDocumentStatus)
}

// The README's program that receives.
func Example_receive() {
	client, err := signforms.New(os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY"), nil)
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/webhook", webhook.NewHandler(verifier, webhook.Funcs{
		TemplateResponse: func(ctx context.Context, e *webhook.TemplateResponse) error {
			for _, signer := range e.SignerIDs() {
				id, err := os.ReadFile(filepath.Join("sends", filepath.Base(signer)))
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return err // the event comes again
				}
				document, err := client.Templates.Respondent(ctx, string(id)) // the event is a hint: the document tells
				if err == nil {
					fmt.Printf("%q: document %s is %s\n", e.DocumentName, id, document.Status)
				}
				return err
			}
			fmt.Printf("%q: somebody else's document\n", e.DocumentName) // an error would ask for it again and again
			return nil
		},
	}, nil))
	server := &http.Server{Addr: ":8080", ReadTimeout: 20 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// The README's test.
func TestOfferIsSigned(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	offer := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	client := service.Client() // or signforms.New(service.URL, service.APIKey, service.ClientOptions())
	sent, err := client.Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: offer,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Signer(sent.CreatedDocumentID, "ann@example.com").Sign(); err != nil {
		t.Fatal(err)
	}
	signed, err := client.Templates.Respondent(t.Context(), sent.CreatedDocumentID)
	if err != nil || signed.Status != signforms.StatusSigned {
		t.Fatalf("got %+v, %v; want it signed", signed, err)
	}
}

// The README's first program does what it says when it is given a service.
func TestREADMEProgramSends(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	t.Setenv("SIGNFORMS_BASE_URL", service.URL)
	t.Setenv("SIGNFORMS_API_KEY", service.APIKey)
	t.Setenv("SIGNFORMS_TEMPLATE_ID", service.AddTemplate(signformstest.Template{
		Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}},
	}))
	Example_send()
	mail := service.Messages()
	require.Len(t, mail, 1)
	require.Equal(t, "ann@example.com", mail[0].To)
}
