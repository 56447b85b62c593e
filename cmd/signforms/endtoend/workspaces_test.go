package endtoend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

// TestFiftyWorkspacesInParallel runs a suite in each of 50 workspaces of one program, all at once. Each sees what it did itself and
// nothing else, also after a restart.
func TestFiftyWorkspacesInParallel(t *testing.T) {
	suites := 50
	if testing.Short() {
		suites = 8
	}
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data, "--plain-pdfs")
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Of the first"), nil))
	names := make([]string, suites)
	failures := make([]error, suites)
	var running sync.WaitGroup
	for i := range suites {
		names[i] = fmt.Sprintf("suite-%d", i)
		running.Go(func() { failures[i] = suite(t.Context(), s, names[i], i) })
	}
	running.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Equal(t, 1, documents(t, s))
	s.stop(t)
	s = start(t, "--data", data, "--plain-pdfs")
	require.Equal(t, 1, documents(t, s))
	for _, name := range names {
		require.NoError(t, after(t.Context(), s.client.In(name), name))
	}
}

// suite sends, fails, signs, receives webhooks, moves the clock and resets in a workspace of its own.
func suite(ctx context.Context, s *sandbox, name string, number int) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	var w wire.CreatedWorkspace
	err = s.client.Post(ctx, "/workspaces", wire.NewWorkspace{Name: name, Seed: &wire.Seed{
		Templates: []wire.Template{{Template: refserver.Template{Name: "Offer of " + name, Roles: []refserver.Role{{Title: "Buyer"}}}}},
	}}, &w)
	if err != nil {
		return err
	}
	c := s.client.In(w.ID)
	got := make(chan string, 100)
	verifier, err := webhook.NewVerifier([]string{w.WebhookSecret}, nil)
	if err != nil {
		return err
	}
	receiver := receive(verifier, got)
	defer receiver.Close()
	if err := c.Post(ctx, "/webhooks", refserver.Webhook{URL: receiver.URL, Event: refserver.TemplateResponse}, nil); err != nil {
		return err
	}
	sdk, err := signforms.New(w.BaseURL, w.APIKey, &signforms.Options{
		WorkspaceID: w.WorkspaceID, MaxAttempts: 1, LimitStore: signforms.NewMemoryLimitStore(nil),
	})
	if err != nil {
		return err
	}
	sent := map[string]bool{}
	for range 1 + number%3 { // so that the suites differ
		one, err := sdk.Templates.Send(ctx, signforms.TemplateSendParams{
			TemplateID: w.Seeded.Templates[0], Mail: signforms.Mail{Subject: "s", Message: "m"},
			Receivers: []signforms.Receiver{{Name: "Ann", Email: name + "@example.com", RoleTitle: "Buyer"}},
		})
		if err != nil {
			return err
		}
		sent[one.DocumentID] = true
	}
	if err := c.Post(ctx, "/faults/requests", map[string]any{"operation": "list documents", "status": 503, "times": 1}, nil); err != nil {
		return err
	}
	if _, err := sdk.Documents.List(ctx, signforms.DocumentListParams{}); !errors.Is(err, signforms.ErrUnavailable) {
		return fmt.Errorf("the fault gave %v", err)
	}
	for id := range sent {
		if err := c.Post(ctx, "/documents/"+id+"/sign", wire.Signature{Signer: name + "@example.com"}, nil); err != nil {
			return err
		}
	}
	if err := errors.Join(c.Post(ctx, "/clock/settle", nil, nil), c.Post(ctx, "/clock/advance", wire.Advance{By: wire.Duration(72 * time.Hour)}, nil)); err != nil {
		return err
	}
	return errors.Join(saw(ctx, c, sent, got, name), c.Post(ctx, "/reset", nil, nil), after(ctx, c, name))
}

// receive returns a receiver of webhooks that passes on the ids of their documents.
func receive(verifier *webhook.Verifier, got chan<- string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = verifier.Verify(r.Header, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			got <- err.Error()
			return
		}
		got <- string(body)
	}))
}

// saw returns how what a suite finds in its workspace differs from what it did.
func saw(ctx context.Context, c *wire.Client, sent map[string]bool, got chan string, name string) error {
	var status wire.Status
	var requests wire.Page[refserver.Request]
	var messages wire.Page[refserver.Message]
	var faults wire.Page[refserver.Fault]
	if err := errors.Join(c.Get(ctx, "/status", nil, &status), c.Get(ctx, "/requests", nil, &requests), c.Get(ctx, "/messages", nil, &messages),
		c.Get(ctx, "/faults", nil, &faults)); err != nil {
		return err
	}
	for _, m := range messages.Items {
		if m.Kind == "invitation" && m.To != name+"@example.com" {
			return fmt.Errorf("a message to %s", m.To)
		}
	}
	want := []int{len(sent), len(sent) + 1, 1, 1, len(sent) * 2}
	if found := []int{status.Documents, requests.Total, faults.Total, status.Templates, len(got)}; !slices.Equal(found, want) {
		return fmt.Errorf("documents, requests, faults, templates and deliveries are %v, not %v", found, want)
	}
	for range len(got) {
		if body := <-got; !strings.Contains(body, name+"@example.com") {
			return fmt.Errorf("it received %s", body)
		}
	}
	if ahead := time.Duration(status.Clock.Ahead); ahead < 71*time.Hour || ahead > 73*time.Hour {
		return fmt.Errorf("the clock is %v ahead", ahead)
	}
	return nil
}

// after returns how a workspace differs from one that was reset.
func after(ctx context.Context, c *wire.Client, name string) error {
	var status wire.Status
	var templates wire.Page[wire.TemplateRecord]
	if err := errors.Join(c.Get(ctx, "/status", nil, &status), c.Get(ctx, "/templates", nil, &templates)); err != nil {
		return err
	}
	if status.Documents != 0 || templates.Total != 1 || templates.Items[0].Name != "Offer of "+name || time.Duration(status.Clock.Ahead) < 71*time.Hour {
		return fmt.Errorf("after the reset: %+v, templates %+v", status, templates)
	}
	return nil
}

// createWorkspace makes a workspace with one document and returns its credentials.
func createWorkspace(t *testing.T, s *sandbox, name string) (created wire.CreatedWorkspace, err error) {
	t.Helper()
	err = s.client.Post(t.Context(), "/workspaces", wire.NewWorkspace{Name: name, Seed: &wire.Seed{Documents: []wire.Document{lease("Lease")}}}, &created)
	return created, err
}
