package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// From an event to its send: store the intent, send, record, read the document. An event is a hint to read it again. Here Ann
// signs, and the event arrives, before the send's answer is recorded. docs/receiving.md explains each step.
func Example_eventsOfASend() {
	srv, client := startExample()
	defer srv.Close()
	offers := &offers{client: client, intents: map[string]string{}, documents: map[string][]string{}, signed: map[string]bool{}}
	receiver := httptest.NewServer(offers.receiver(srv.WebhookSecret))
	defer receiver.Close()
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.TemplateResponse})
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})

	ctx := context.Background()
	offers.intend("A-17", template)
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: template,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		log.Fatal(err) // after ErrOutcomeUnknown the intent stays open: look for the document, see Example_outcomeUnknown
	}
	if err := errors.Join(srv.Signer(sent.CreatedDocumentID, "ann@example.com").Sign(), srv.Settle(ctx)); err != nil {
		log.Fatal(err)
	}
	completed := func() signformstest.Delivery { return srv.Deliveries()[1] } // after that of the signature
	fmt.Println("answered", completed().Attempts[0].StatusCode)
	offers.record("A-17", sent.CreatedDocumentID, sent.SignerIDs())
	if err := offers.read(ctx, sent.CreatedDocumentID); err != nil {
		log.Fatal(err)
	}
	fmt.Println("A-17 is recorded")
	if err := errors.Join(srv.Resend(completed().ID), srv.Settle(ctx)); err != nil {
		log.Fatal(err)
	}
	fmt.Println("answered", completed().Attempts[1].StatusCode)
	// Output:
	// answered 500
	// the document is signed
	// A-17 is recorded
	// answered 200
}

// offers stands for tables in a program's database; each method that takes the lock is a transaction.
type offers struct {
	client    *signforms.Client
	mu        sync.Mutex
	intents   map[string]string   // the program's number of each send that is not recorded: its template's id
	documents map[string][]string // by signer id: whether two documents may share one is not documented by the service
	signed    map[string]bool     // by document id: what had to be done was done
}

func (o *offers) intend(number, templateID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.intents[number] = templateID
}

func (o *offers) record(number, documentID string, signerIDs []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range signerIDs {
		o.documents[id] = append(o.documents[id], documentID)
	}
	delete(o.intents, number)
}

// find returns the documents that an event may be about: none when this program has not sent it. An error says that it may be
// of a send that is not recorded yet.
func (o *offers) find(templateID string, signerIDs []string) (documentIDs []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range signerIDs {
		documentIDs = append(documentIDs, o.documents[id]...)
	}
	if len(documentIDs) > 0 {
		slices.Sort(documentIDs)
		return slices.Compact(documentIDs), nil
	}
	for number, template := range o.intents {
		if template == templateID {
			return nil, fmt.Errorf("the event may be of send %s, which is not recorded yet", number)
		}
	}
	return nil, nil
}

// read reads a document and acts on what it says. It is called when a send was recorded and for each event.
func (o *offers) read(ctx context.Context, documentID string) error {
	document, err := o.client.Templates.Respondent(ctx, documentID)
	if err != nil || document.Status != signforms.StatusSigned {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.signed[documentID] {
		fmt.Println("the document is signed")
	}
	o.signed[documentID] = true
	return nil
}

func (o *offers) receiver(secret string) http.Handler {
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return webhook.NewHandler(verifier, webhook.Funcs{Other: func(ctx context.Context, e webhook.Event) error {
		documentIDs, err := o.find(e.SubjectID(), e.SignerIDs())
		for _, id := range documentIDs {
			err = errors.Join(err, o.read(ctx, id))
		}
		return err
	}}, &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
}
