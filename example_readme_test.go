package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// The README's handler.
func readmeReceive(verifier *webhook.Verifier, signed func(context.Context, []string) error) {
	http.Handle("/webhook", webhook.NewHandler(verifier, webhook.Funcs{
		TemplateResponse: func(ctx context.Context, e *webhook.TemplateResponse) error {
			return signed(ctx, e.SignerIDs()) // nil acknowledges; an error asks for another delivery
		},
	}, nil))
}

// It gets the ids that were stored with the send.
func TestREADMEReceive(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	offer := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: offer,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	http.DefaultServeMux = http.NewServeMux() // the test may run again
	receiver := httptest.NewServer(http.DefaultServeMux)
	defer receiver.Close()
	service.AddWebhook(signformstest.Webhook{URL: receiver.URL + "/webhook", Event: signformstest.FamilyTemplateResponse})
	verifier, err := webhook.NewVerifier([]string{service.WebhookSecret}, nil)
	require.NoError(t, err)
	var got []string
	readmeReceive(verifier, func(_ context.Context, ids []string) error { got = append(got, ids...); return nil })
	require.NoError(t, service.Signer(sent.DocumentID, "ann@example.com").Sign())
	require.NoError(t, service.WaitDeliveries(t.Context()))
	require.Contains(t, got, sent.SignerIDs()[0])
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
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("document %s is %s\n", sent.DocumentID, sent.Status)
}

// The program of docs/receiving.md.
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
					return err // the event is delivered again
				}
				document, err := client.Respondents.Get(ctx, string(id)) // an event is only a hint
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
	if err := service.Signer(sent.DocumentID, "ann@example.com").Sign(); err != nil {
		t.Fatal(err)
	}
	signed, err := client.Respondents.Get(t.Context(), sent.DocumentID)
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
