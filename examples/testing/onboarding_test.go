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
	service.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.TemplateResponse})
	return o, service, &down
}

func TestTenantSigns(t *testing.T) {
	o, service, _ := start(t)
	id, err := o.Invite(t.Context(), "Ann", "ann@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ann := service.Signer(id, "ann@example.com")
	if err := errors.Join(ann.View(), ann.Sign(), service.Settle(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := o.Signed(); got != 1 {
		t.Fatalf("%d leases are signed, want 1; deliveries: %v", got, service.Deliveries())
	}
}

// The receiver is down for two hours. The service delivers again, and the tenant is not forgotten.
func TestReceiverIsDown(t *testing.T) {
	o, service, down := start(t)
	id, err := o.Invite(t.Context(), "Ann", "ann@example.com")
	if err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	if err := errors.Join(service.Signer(id, "ann@example.com").Sign(), service.Settle(t.Context())); err != nil {
		t.Fatal(err)
	}
	service.Advance(2 * time.Hour)
	if got := o.Signed(); got != 0 {
		t.Fatalf("%d leases are signed while the receiver is down", got)
	}
	down.Store(false)
	service.Advance(2 * time.Hour)
	if got := o.Signed(); got != 1 {
		t.Fatalf("%d leases are signed, want 1; deliveries: %v", got, service.Deliveries())
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
