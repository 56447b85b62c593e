// Package onboarding is an example of your own program. It lets new tenants sign their lease, and
// stores who has signed. The example is its test, which runs the package against the whole service,
// in one process and without waiting.
//
//	go test ./examples/testing
package onboarding

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

// Onboarding needs a client of the service. The test gives it a client of the embedded service and changes nothing
// else.
type Onboarding struct {
	Client  *signforms.Client
	LeaseID string // id of the template

	mu     sync.Mutex
	leases map[string]string // finished PDF by signer
}

// Invite sends the lease to a tenant. The result has the ids of the new document and of its signer.
func (o *Onboarding) Invite(ctx context.Context, name, email string) (*signforms.TemplateSendResult, error) {
	return o.Client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: o.LeaseID,
		Receivers:  []signforms.Receiver{{Name: name, Email: email, RoleTitle: "Tenant"}},
	})
}

// Handler receives the webhooks. now is the clock of the verifier; nil is the wall clock.
func (o *Onboarding) Handler(secret string, now func() time.Time) (http.Handler, error) {
	verifier, err := webhook.NewVerifier([]string{secret}, &webhook.VerifierOptions{Now: now})
	if err != nil {
		return nil, err
	}
	return webhook.NewHandler(verifier, webhook.Funcs{TemplateResponse: o.signed}, nil), nil
}

// signed stores the lease by its signer's id. It cannot use e.DocumentID, which is the template's id and the same for
// every tenant.
func (o *Onboarding) signed(_ context.Context, e *webhook.TemplateResponse) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.leases == nil {
		o.leases = map[string]string{}
	}
	for _, s := range e.Signers {
		o.leases[s.ID] = e.FinishedPDFURL
	}
	return nil
}

// Lease returns the URL of the lease that this signer has signed, or false until everyone has
// signed.
func (o *Onboarding) Lease(signerID string) (finishedPDF string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	finishedPDF, ok = o.leases[signerID]
	return finishedPDF, ok
}
