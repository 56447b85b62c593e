package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

// hook is a program that receives webhooks.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	status int
	before func(n int)
	errs   []error
}

func newHook(t *testing.T, secret string) *hook {
	t.Helper()
	h := &hook{status: 200}
	v, err := webhook.NewVerifier([]string{secret}, nil)
	require.NoError(t, err)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = v.Events(r.Header, body)
		}
		h.mu.Lock()
		h.bodies = append(h.bodies, string(body))
		if err != nil {
			h.errs = append(h.errs, err)
		}
		n, before, status := len(h.bodies), h.before, h.status
		h.mu.Unlock()
		if before != nil {
			before(n)
		}
		w.Header().Set("X-From", "the hook")
		w.WriteHeader(status)
		io.WriteString(w, `{"status":"seen"}`)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.bodies...)
}

// listening is a running signforms listen.
type listening struct {
	stdout, stderr *syncBuffer
	stop           func() int
}

func listen(t *testing.T, args ...string) *listening {
	t.Helper()
	l := &listening{stdout: &syncBuffer{}, stderr: &syncBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, hasty, append([]string{"listen"}, args...), strings.NewReader(""), l.stdout, l.stderr)
	}()
	l.stop = sync.OnceValue(func() int {
		cancel()
		return <-code
	})
	t.Cleanup(func() { l.stop() })
	until(t, func() bool { return strings.Contains(l.stderr.String(), "connected: deliveries of ") })
	return l
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, done, 30*time.Second, 2*time.Millisecond)
}

// sandboxWith starts a sandbox and returns it with a client of its control API, and the secret of its webhooks.
func sandboxWith(t *testing.T) (s *served, c *wire.Client, secret string) {
	t.Helper()
	s = serveInProcess(t, "--memory")
	c, err := wire.NewClient(s.BaseURL, "")
	require.NoError(t, err)
	var credentials wire.Credentials
	require.NoError(t, c.Get(t.Context(), "/credentials", nil, &credentials))
	return s, c, credentials.WebhookSecret
}

// lease adds a document with two signers and returns its id.
func lease(t *testing.T, c *wire.Client) string {
	t.Helper()
	var made wire.ID
	require.NoError(t, c.Post(t.Context(), "/documents", wire.Document{Document: refserver.Document{Name: "Lease", Signers: []refserver.Signer{
		{Name: "Ann", Email: "ann@example.com"}, {Name: "Ben", Email: "ben@example.com"}}}}, &made))
	return made.ID
}

func signs(t *testing.T, c *wire.Client, id, signer string) {
	t.Helper()
	require.NoError(t, c.Post(t.Context(), "/documents/"+id+"/sign", wire.Signature{Signer: signer}, nil))
}

func deliveriesOf(t *testing.T, c *wire.Client) []wire.Delivery {
	t.Helper()
	var page wire.Page[wire.Delivery]
	require.NoError(t, c.Get(t.Context(), "/deliveries", nil, &page))
	return page.Items
}

func webhooksOf(t *testing.T, c *wire.Client) []refserver.WebhookState {
	t.Helper()
	var page wire.Page[refserver.WebhookState]
	require.NoError(t, c.Get(t.Context(), "/webhooks", nil, &page))
	return page.Items
}

func TestListenForwards(t *testing.T) {
	s, c, secret := sandboxWith(t)
	h := newHook(t, secret)
	l := listen(t, "--url", s.BaseURL, "--forward-to", h.URL+"/hook")
	require.Len(t, webhooksOf(t, c), 3)
	id := lease(t, c)
	signs(t, c, id, "ann@example.com")
	require.NoError(t, c.Post(t.Context(), "/clock/settle", wire.Wait{}, nil))
	require.Len(t, h.got(), 1)
	require.Empty(t, h.errs, "exact bytes and headers: the signature holds")
	d := deliveriesOf(t, c)[0]
	require.Equal(t, refserver.DeliveryDelivered, d.Status)
	require.Equal(t, d.Body, h.got()[0])
	require.Equal(t, 200, d.Attempts[0].StatusCode)
	require.Equal(t, `{"status":"seen"}`, string(d.Attempts[0].Answer))
	require.Equal(t, "the hook", d.Attempts[0].AnswerHeader.Get("X-From"))

	h.mu.Lock()
	h.status = 500
	h.mu.Unlock()
	signs(t, c, id, "ben@example.com")
	until(t, func() bool { return len(h.got()) >= 3 })
	require.Equal(t, cli.ExitOK, l.stop())
	require.Contains(t, l.stdout.String(), "  200  new_signature_pdf_individual_signed "+id+"  ")
	require.Contains(t, l.stdout.String(), "  500  new_signature_pdf_completed "+id+"  ")
	require.NotContains(t, l.stdout.String(), "again")
	require.NotContains(t, l.stdout.String()+l.stderr.String(), secret)
	require.Empty(t, webhooksOf(t, c), "it takes its webhooks with it")
}

// A target that shuts down may wait for idle connections, so listen closes them soon.
func TestListenClosesIdleConnections(t *testing.T) {
	s, c, _ := sandboxWith(t)
	closed := make(chan struct{}, 10)
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	target.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	target.Start()
	defer target.Close()
	listen(t, "--url", s.BaseURL, "--forward-to", target.URL+"/hook")
	signs(t, c, lease(t, c), "ann@example.com")
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		require.Fail(t, "a connection stays open without a request")
	}
}

func TestListenJSONAndFamilies(t *testing.T) {
	s, c, _ := sandboxWith(t)
	l := listen(t, "--url", s.BaseURL, "--json", "--events", "new_signature_completed")
	require.Len(t, webhooksOf(t, c), 1)
	id := lease(t, c)
	signs(t, c, id, "ann@example.com")
	until(t, func() bool { return l.stdout.String() != "" })
	var line struct {
		Status   int
		Subjects []string
		Genuine  bool
	}
	require.NoError(t, json.Unmarshal([]byte(l.stdout.String()), &line))
	require.Equal(t, []string{id}, line.Subjects)
	require.Equal(t, 200, line.Status)
	require.True(t, line.Genuine)
	require.Contains(t, l.stderr.String(), "are answered 200")
}

func TestListenSaysThatNobodyAnswers(t *testing.T) {
	s, c, _ := sandboxWith(t)
	l := listen(t, "--url", s.BaseURL, "--forward-to", "http://127.0.0.1:1/hook")
	signs(t, c, lease(t, c), "ann@example.com")
	until(t, func() bool { return l.stdout.String() != "" })
	require.Contains(t, l.stdout.String(), "  ---  new_signature_pdf_individual_signed")
	require.Contains(t, l.stdout.String(), "http://127.0.0.1:1/hook does not respond: ")
	require.Contains(t, l.stdout.String(), "try host.docker.internal")
	until(t, func() bool { return len(deliveriesOf(t, c)[0].Attempts) == 1 })
	attempt := deliveriesOf(t, c)[0].Attempts[0]
	require.Equal(t, http.StatusBadGateway, attempt.StatusCode)
	require.Contains(t, string(attempt.Answer), "does not respond")
}

// After a reset the sandbox has no webhooks of the listener: it ends, and says why.
func TestListenEndsWithItsWebhooks(t *testing.T) {
	s, c, _ := sandboxWith(t)
	l := listen(t, "--url", s.BaseURL)
	require.NoError(t, c.Post(t.Context(), "/reset", nil, nil))
	until(t, func() bool { return strings.Contains(l.stderr.String(), "start listen again") })
	require.Equal(t, cli.ExitFailure, l.stop())
}

// The sandbox is restarted with its state, and the listener continues.
func TestListenSurvivesARestart(t *testing.T) {
	data := t.TempDir() + "/sandbox.db"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	s := serveInProcess(t, "--data", data, "--addr", addr)
	c, err := wire.NewClient(s.BaseURL, "")
	require.NoError(t, err)
	running := listen(t, "--url", s.BaseURL)
	require.Equal(t, cli.ExitOK, s.stop())
	serveInProcess(t, "--data", data, "--addr", addr)
	until(t, func() bool { return strings.Count(running.stderr.String(), "connected: deliveries of ") == 2 })
	require.Len(t, webhooksOf(t, c), 3, "they are those of before")
	signs(t, c, lease(t, c), "ann@example.com")
	until(t, func() bool { return strings.Contains(running.stdout.String(), "individual_signed") })
}

// Only a listener's own webhooks can deliver to it. Without a listener a delivery fails at once.
func TestRelayWithoutAListener(t *testing.T) {
	s := serveInProcess(t, "--memory")
	status, body := s.ask(t, http.MethodPost, control.RelayPrefix+"abcdefghijklmnopqrstuvwx")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "nobody listens: signforms listen is not connected", body)
	status, _ = s.ask(t, http.MethodGet, control.RelayPrefix+"abcdefghijklmnopqrstuvwx")
	require.Equal(t, http.StatusBadRequest, status)
	large := io.MultiReader(strings.NewReader(strings.Repeat("x", 32<<20+1)))
	answer, err := http.Post(s.BaseURL+control.RelayPrefix+"abcdefghijklmnopqrstuvwx", "application/json", large)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
}

func TestTrigger(t *testing.T) {
	s, c, secret := sandboxWith(t)
	h := newHook(t, secret)
	for _, family := range wire.EventFamilies() {
		require.NoError(t, c.Post(t.Context(), "/webhooks", refserver.Webhook{URL: h.URL, Event: refserver.EventFamily(family)}, nil))
	}
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	_, stderr, code := execute(t, "trigger", "new_signature_pdf_individual_viewed")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "no document is in progress: add one with signforms documents add")
	id := lease(t, c)
	for _, step := range []struct {
		args   []string
		did    string
		events []string
	}{
		{[]string{"new_signature_pdf_individual_viewed"}, "ann@example.com viewed " + id, []string{"new_signature_pdf_individual_viewed"}},
		{[]string{"new_signature_pdf_individual_viewed", "--set", "signer=ben@example.com"}, "ben@example.com viewed " + id, []string{"new_signature_pdf_individual_viewed"}},
		{[]string{"new_signature_pdf_individual_signed", "--document", id}, "ann@example.com signed " + id + ", which is PENDING", []string{"new_signature_pdf_individual_signed"}},
		{[]string{"new_signature_pdf_completed"}, "ben@example.com signed " + id + ", which is SIGNED", []string{"new_signature_pdf_individual_signed", "new_signature_pdf_completed"}},
	} {
		stdout, stderr, code := execute(t, append([]string{"trigger"}, step.args...)...)
		require.Equal(t, cli.ExitOK, code, stderr)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		require.Equal(t, step.did, lines[0])
		require.Len(t, lines, 1+len(step.events), stdout)
		for i, event := range step.events {
			require.Regexp(t, `^delivery \S+ of `+event+` to webhook \S+$`, lines[i+1])
		}
	}
	_, stderr, code = execute(t, "trigger", "new_signature_pdf_completed", "--document", id)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "is SIGNED, and has no signer left")
}

func TestTriggerForTemplatesAndForms(t *testing.T) {
	s, c, _ := sandboxWith(t)
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	var template, form wire.ID
	require.NoError(t, c.Post(t.Context(), "/templates", wire.Template{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}}, &template))
	require.NoError(t, c.Post(t.Context(), "/forms", wire.Form{Form: refserver.Form{Title: "Survey", Fields: []refserver.Field{
		{Question: "How?", Required: true}, {Question: "Colour", Kind: "choice", Required: true, Choices: []string{"red", "blue"}}}}}, &form))
	_, stderr, code := execute(t, "trigger", "new_template_response")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "send one, as with signforms templates send")
	var credentials wire.Credentials
	require.NoError(t, c.Get(t.Context(), "/credentials", nil, &credentials))
	t.Setenv("SIGNFORMS_BASE_URL", credentials.BaseURL)
	t.Setenv("SIGNFORMS_API_KEY", credentials.APIKey)
	t.Setenv("SIGNFORMS_WORKSPACE_ID", credentials.WorkspaceID)
	_, stderr, code = execute(t, "templates", "send", template.ID, "Buyer.name=Ann", "Buyer.email=ann@example.com")
	require.Equal(t, cli.ExitOK, code, stderr)
	for _, event := range []string{"new_template_response_individual_viewed", "new_template_response"} {
		stdout, stderr, code := execute(t, "trigger", event)
		require.Equal(t, cli.ExitOK, code, stderr)
		require.Contains(t, stdout, "no webhook gets it: add one with signforms webhooks add, or run signforms listen\n")
	}
	stdout, stderr, code := execute(t, "trigger", "new_form_response", "--document", form.ID, "--set", "email=cy@example.com", "--set", "answer.How?=well", "--json")
	require.Equal(t, cli.ExitOK, code, stderr)
	var out any
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	var responses wire.Page[refserver.ResponseState]
	require.NoError(t, c.Get(t.Context(), "/forms/"+form.ID+"/responses", nil, &responses))
	require.Equal(t, "cy@example.com", responses.Items[0].RespondentEmail)
	require.Equal(t, []refserver.Answer{{Question: "How?", Answer: "well"}, {Question: "Colour", Answer: "red"}}, responses.Items[0].Answers)
	_, _, code = execute(t, "trigger", "new_form_response", "--set", "answer.Why?=x")
	require.NotEqual(t, cli.ExitOK, code, "the form has no such question")
}

// A terminal that is closed ends listen as Ctrl+C does: its webhooks go.
func TestListenEndsWithItsTerminal(t *testing.T) {
	hangups := make(chan os.Signal, 1) // under nohup, the program would else be started deaf to them
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	s, c, _ := sandboxWith(t)
	p := start(t, func(p *program, line string) {
		if strings.HasPrefix(line, "connected") {
			p.cmd.Process.Signal(syscall.SIGHUP)
		}
	}, "listen", "--url", s.BaseURL)
	require.Zero(t, p.end(), p.stderr.String())
	var webhooks wire.Page[refserver.WebhookState]
	require.NoError(t, c.Get(t.Context(), "/webhooks", nil, &webhooks))
	require.Zero(t, webhooks.Total)
}
