package onboarding_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	onboarding "github.com/signforms/signforms-go/examples/testing"
	"github.com/signforms/signforms-go/signformstest"
)

// start returns the program, the service it talks to, and a switch that takes its receiver down.
func start(t *testing.T) (*onboarding.Onboarding, *signformstest.Server, *atomic.Bool) {
	service := signformstest.NewServer(t, &signformstest.Options{VirtualTimestamps: true})
	o := &onboarding.Onboarding{
		Client:  service.Client(),
		LeaseID: service.AddTemplate(signformstest.Template{Name: "Lease", Roles: []signformstest.Role{{Title: "Tenant"}}}),
	}
	handler, err := o.Handler(service.WebhookSecret, service.Now)
	if err != nil {
		t.Fatal(err)
	}
	var down atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(receiver.Close)
	service.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})
	return o, service, &down
}

func invite(t *testing.T, o *onboarding.Onboarding, name, email string) *signforms.TemplateSendResult {
	t.Helper()
	sent, err := o.Invite(t.Context(), name, email)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestTenantSigns(t *testing.T) {
	o, service, _ := start(t)
	ann, ben := invite(t, o, "Ann", "ann@example.com"), invite(t, o, "Ben", "ben@example.com")
	signer := service.Signer(ann.DocumentID, "ann@example.com")
	if err := errors.Join(signer.View(), signer.Sign(), service.WaitDeliveries(t.Context())); err != nil {
		t.Fatal(err)
	}
	if pdf, ok := o.Lease(ann.Signers[0].ID); !ok || pdf == "" {
		t.Fatalf("Ann has no lease; deliveries: %v", service.Deliveries())
	}
	if pdf, ok := o.Lease(ben.Signers[0].ID); ok {
		t.Fatalf("Ben, who has not signed, has the lease %s", pdf)
	}
}

// The receiver is down for two hours. The service delivers again, and the tenant is not forgotten.
func TestReceiverIsDown(t *testing.T) {
	o, service, down := start(t)
	ann := invite(t, o, "Ann", "ann@example.com")
	down.Store(true)
	err := service.Signer(ann.DocumentID, "ann@example.com").Sign()
	if err := errors.Join(err, service.WaitDeliveries(t.Context())); err != nil {
		t.Fatal(err)
	}
	service.Advance(2 * time.Hour)
	if _, ok := o.Lease(ann.Signers[0].ID); ok {
		t.Fatal("the lease arrived while the receiver was down")
	}
	down.Store(false)
	service.Advance(2 * time.Hour)
	if _, ok := o.Lease(ann.Signers[0].ID); !ok {
		t.Fatalf("Ann has no lease; deliveries: %v", service.Deliveries())
	}
}

// The answer to an invitation is lost. Whoever calls Invite must learn that it may have been sent.
func TestAnswerIsLost(t *testing.T) {
	o, service, _ := start(t)
	service.Fail(signformstest.Fault{Operation: signforms.OpSend, AfterWork: true, Reset: true})
	_, err := o.Invite(t.Context(), "Ann", "ann@example.com")
	if !errors.Is(err, signforms.ErrOutcomeUnknown) {
		t.Fatalf("got %v, want ErrOutcomeUnknown", err)
	}
	if mail := service.Messages(); len(mail) != 1 {
		t.Fatalf("%d invitations went out, want 1", len(mail))
	}
}
