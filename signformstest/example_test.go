package signformstest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// A template is sent, signed and reported by webhook, all in this process. In a test, use NewServer(t, nil) instead of Start and
// Close.
func Example() {
	ctx := context.Background()
	srv, err := signformstest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	receiver := httptest.NewServer(webhook.NewHandler(verifier, webhook.Funcs{
		TemplateResponse: func(_ context.Context, e *webhook.TemplateResponse) error {
			fmt.Println("signed by all:", e.DocumentName)
			return nil
		},
		Default: func(_ context.Context, e webhook.Event) error {
			fmt.Println(e.EventType())
			return nil
		},
	}, nil))
	defer receiver.Close()
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})

	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: template,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ann := srv.Signer(sent.DocumentID, "ann@example.com")
	if err := errors.Join(ann.View(), ann.Sign(), srv.WaitDeliveries(ctx)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// new_template_response_individual_viewed
	// new_template_response_individual_signed
	// signed by all: Offer
}

// A receiver is down for a day. The test does not wait: it moves the clock, and the retries happen meanwhile.
func ExampleServer_Advance() {
	srv, err := signformstest.Start(&signformstest.Options{VirtualTimestamps: true})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, &webhook.VerifierOptions{Now: srv.Now})
	if err != nil {
		log.Fatal(err)
	}
	sent := srv.Now()
	receiver := httptest.NewServer(webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(_ context.Context, e *webhook.FormResponse) error {
			after := srv.Now().Sub(sent).Truncate(time.Hour)
			if after < 12*time.Hour {
				return errors.New("the database is down")
			}
			fmt.Println(e.FormTitle, "arrived after", after)
			return nil
		},
	}, &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}))
	defer receiver.Close()

	form := srv.AddForm(signformstest.Form{Title: "Intake", Questions: []signformstest.Question{{Question: "Name?"}}})
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyFormResponse})
	if _, err := srv.SubmitForm(form, signformstest.Submission{Answers: map[string]string{"Name?": "Ann"}}); err != nil {
		log.Fatal(err)
	}
	srv.Advance(48 * time.Hour)
	fmt.Println("attempts:", len(srv.Deliveries()[0].Attempts))
	// Output:
	// Intake arrived after 17h0m0s
	// attempts: 8
}

// An answer is lost after the work was done. The client cannot know that, and says so.
func ExampleServer_Fail() {
	ctx := context.Background()
	srv, err := signformstest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, AfterWork: true})

	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	_, err = srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: template,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	fmt.Println(errors.Is(err, signforms.ErrOutcomeUnknown))
	fmt.Println("requests:", len(srv.Requests()), "invitations:", len(srv.Messages()))
	// Output:
	// true
	// requests: 1 invitations: 1
}
