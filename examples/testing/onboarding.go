// Package onboarding stands for a program of yours: it has new tenants sign their lease, and remembers who has. Its test
// is the example: it runs the package against the whole service, in one process and without waiting.
//
//	go test ./examples/testing
package onboarding

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

// Onboarding is made with a client of the service; everything else is as in production.
type Onboarding struct {
	Client  *signforms.Client
	LeaseID string // the template

	mu     sync.Mutex
	leases map[string]string // finished PDF by document
}

// Invite sends the lease, and returns the id of the document that was made for the tenant.
func (o *Onboarding) Invite(ctx context.Context, name, email string) (string, error) {
	sent, err := o.Client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: o.LeaseID,
		Receivers:  []signforms.Receiver{{Name: name, Email: email, RoleTitle: "Tenant"}},
	})
	if err != nil {
		return "", err
	}
	return sent.CreatedDocumentID, nil
}

// Handler receives the webhooks. now is the clock of the verifier; nil is the wall clock.
func (o *Onboarding) Handler(secret string, now func() time.Time) (http.Handler, error) {
	verifier, err := webhook.NewVerifier([]string{secret}, &webhook.VerifierOptions{Now: now})
	if err != nil {
		return nil, err
	}
	return webhook.NewHandler(verifier, webhook.Funcs{TemplateResponse: o.signed}, &webhook.HandlerOptions{
		Logger: slog.New(slog.DiscardHandler),
	}), nil
}

func (o *Onboarding) signed(_ context.Context, e *webhook.TemplateResponse) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.leases == nil {
		o.leases = map[string]string{}
	}
	o.leases[e.DocumentID] = e.FinishedPDFURL
	return nil
}

// Signed returns how many leases are signed by all.
func (o *Onboarding) Signed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.leases)
}
