package endtoend_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

var (
	gatewayNames = flag.String("gateways", "", "the gateways to put before the sandbox, such as nginx,haproxy: scripts/gateways installs them")
	gatewayKills = flag.Int("gateways.kills", 0, "how often the gateway is killed and started again during the calls")
)

// gateway is a program of others between clients and the service.
type gateway struct {
	name     string
	config   string // below testdata/gateways
	command  string
	requests int            // for each connection; 0: the program's default
	callers  int            // calls at a time
	reload   syscall.Signal // 0: it is not reloaded
	plain    bool           // it has no TLS
	proxy    string         // the row of a proxy that clients connect through
}

var gateways = []gateway{
	{name: "nginx", config: "nginx.conf", command: "nginx -p FOLDER -e FOLDER/start.log -c FOLDER/nginx.conf", requests: 7, callers: 4, reload: syscall.SIGHUP},
	{name: "nginx-100", config: "nginx.conf", command: "nginx -p FOLDER -e FOLDER/start.log -c FOLDER/nginx.conf", requests: 100, callers: 16, reload: syscall.SIGHUP},
	{name: "haproxy", config: "haproxy.cfg", command: "haproxy -W -f FOLDER/haproxy.cfg", callers: 16},
	{name: "apache", config: "apache.conf", command: "apache2 -DFOREGROUND -f FOLDER/apache.conf", callers: 8},
	{name: "varnish", config: "varnish.vcl", command: "varnishd -F -n FOLDER/varnish -f FOLDER/varnish.vcl -a 127.0.0.1:FRONT -a 127.0.0.1:BACK -s malloc,64m", callers: 16, plain: true},
	{name: "squid", config: "haproxy.cfg", command: "haproxy -W -f FOLDER/haproxy.cfg", callers: 8, proxy: "squid itself"},
	{name: "squid itself", config: "squid.conf", command: "squid --foreground -f FOLDER/squid.conf"},
	{name: "caddy", config: "Caddyfile", command: "caddy run --adapter caddyfile --config FOLDER/Caddyfile", callers: 16},
}

func gatewayIndex(name string) int {
	return slices.IndexFunc(gateways, func(g gateway) bool { return g.name == name })
}

// TestGateways calls every operation through programs that users have before their services, and has webhooks delivered through
// them. While they are healthy, also over a reload, each call succeeds, and nothing arrives twice. With -gateways.kills calls may
// fail, and then nothing arrives twice and nothing that was acknowledged is lost.
func TestGateways(t *testing.T) {
	if *gatewayNames == "" {
		t.Skip("-gateways names none: scripts/gateways does")
	}
	for name := range strings.SplitSeq(*gatewayNames, ",") {
		t.Run(name, func(t *testing.T) {
			i := gatewayIndex(name)
			require.GreaterOrEqual(t, i, 0, "no such gateway")
			throughGateway(t, gateways[i])
		})
	}
}

// gatewayRun is a gateway before a sandbox, and what came of the calls through it.
type gatewayRun struct {
	gateway
	sandbox    *sandbox
	fill       *strings.Replacer // of the words in configurations and commands
	folder     string
	front      string // the port that clients connect to
	running    *exec.Cmd
	workspaces []*gatewayWorkspace

	mu       sync.Mutex
	outcomes map[string]int // "Send: <nil>" and the like
	bodies   map[string]int // of deliveries, by signature
	refused  []error        // deliveries
}

// gatewayWorkspace has an API key of its own, so that it may send five reminders.
type gatewayWorkspace struct {
	wire.CreatedWorkspace
	control  *wire.Client
	client   *signforms.Client
	verifier *webhook.Verifier
	mu       sync.Mutex
	sent     map[string]string // address → id of the document, or "" if the outcome is unknown
	reminded map[string]bool   // document → whether it succeeded
	voided   []string
}

// sendsOfEach is how many documents each workspace sends, and listed how many PDF documents each has.
const (
	sendsOfEach = 20
	listed      = 1000
)

func throughGateway(t *testing.T, g gateway) {
	r := &gatewayRun{gateway: g, sandbox: start(t, "--memory", "--plain-pdfs"), folder: t.TempDir(), front: freePort(t),
		outcomes: map[string]int{}, bodies: map[string]int{}}
	receiver := httptest.NewServer(r)
	defer receiver.Close()
	back := freePort(t)
	r.fill = strings.NewReplacer("FOLDER", r.folder, "FRONT", r.front, "BACK", back, "REQUESTS", strconv.Itoa(g.requests),
		"SERVICE", r.sandbox.Listening[strings.LastIndex(r.sandbox.Listening, ":")+1:], "RECEIVER", receiver.URL[strings.LastIndex(receiver.URL, ":")+1:])
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate(t, r.folder)}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	base := "https://localhost:" + r.front
	if g.plain {
		base = "http://localhost:" + r.front
	}
	r.start(t)
	if g.proxy != "" {
		proxy := &gatewayRun{gateway: gateways[gatewayIndex(g.proxy)], folder: t.TempDir(), front: freePort(t)}
		proxy.fill = strings.NewReplacer("FOLDER", proxy.folder, "FRONT", proxy.front)
		proxy.start(t)
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:" + proxy.front})
	}
	for i := range 8 {
		r.addWorkspace(t, i, base, "http://localhost:"+back+"/hook", transport)
	}

	began := time.Now()
	r.perform(t, r.sendsAndLists())
	r.perform(t, r.changes(t))
	r.compare(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%v, %d deliveries; outcomes:", time.Since(began).Round(time.Second), len(r.bodies))
	for _, outcome := range slices.Sorted(maps.Keys(r.outcomes)) {
		t.Logf("%6d %s", r.outcomes[outcome], outcome)
	}
}

// start starts the gateway, which ends with the test.
func (r *gatewayRun) start(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "gateways", r.config))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.folder, r.config), []byte(r.fill.Replace(string(text))), 0o644))
	require.NoError(t, errors.Join(os.Chmod(filepath.Dir(r.folder), 0o755), os.Chmod(r.folder, 0o777))) // some of them give up root
	t.Cleanup(func() {
		r.kill()
		for _, log := range []string{"start.log", "error.log", "cache.log", "output.log"} {
			if text, err := os.ReadFile(filepath.Join(r.folder, log)); err == nil && t.Failed() {
				t.Logf("%s:\n%s", log, text[max(0, len(text)-2000):])
			}
		}
	})
	r.launch(t)
}

// launch starts the program and returns when it accepts connections.
func (r *gatewayRun) launch(t *testing.T) {
	words := strings.Fields(r.fill.Replace(r.command))
	r.running = exec.Command(words[0], words[1:]...)
	r.running.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.running.Env = append(os.Environ(), "XDG_CONFIG_HOME="+r.folder) // where Caddy saves its configuration
	output, err := os.OpenFile(filepath.Join(r.folder, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer output.Close()
	r.running.Stdout, r.running.Stderr = output, output
	require.NoError(t, r.running.Start())
	require.Eventually(t, r.accepts, 20*time.Second, 20*time.Millisecond, "%s does not start", r.name)
}

// accepts reports whether the gateway's port accepts connections.
func (r *gatewayRun) accepts() bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+r.front)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// kill ends the program with its children at once.
func (r *gatewayRun) kill() {
	syscall.Kill(-r.running.Process.Pid, syscall.SIGKILL)
	r.running.Wait()
}

// certificate writes a certificate of localhost and its key, as each of the programs reads them.
func certificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, content := range map[string][]byte{"cert.pem": certPEM, "key.pem": keyPEM, "both.pem": append(slices.Clone(certPEM), keyPEM...)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o644))
	}
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(certPEM))
	return pool
}

func (r *gatewayRun) addWorkspace(t *testing.T, number int, base, hook string, transport http.RoundTripper) {
	t.Helper()
	w := &gatewayWorkspace{sent: map[string]string{}, reminded: map[string]bool{}}
	seed := &wire.Seed{
		Templates: []wire.Template{{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}}},
		Forms:     []wire.Form{{Form: refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name"}}}}},
		Webhooks:  []refserver.Webhook{{URL: hook, Event: refserver.TemplateResponse}},
	}
	if number == 0 {
		for i := range listed {
			seed.Documents = append(seed.Documents, wire.Document{Document: refserver.Document{
				Name: fmt.Sprint("Lease ", i), Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}}})
		}
	}
	require.NoError(t, r.sandbox.client.Post(t.Context(), "/workspaces", wire.NewWorkspace{Name: fmt.Sprint("w", number), Seed: seed}, &w.CreatedWorkspace))
	w.control = r.sandbox.client.In(w.ID)
	var err error
	w.verifier, err = webhook.NewVerifier([]string{w.WebhookSecret}, &webhook.VerifierOptions{Tolerance: 48 * time.Hour})
	require.NoError(t, err)
	w.client, err = signforms.New(base+strings.TrimPrefix(w.BaseURL, r.sandbox.Listening), w.APIKey, &signforms.Options{
		WorkspaceID: w.WorkspaceID, Transport: transport, RetryWaitMin: 20 * time.Millisecond, RetryWaitMax: 2 * time.Second,
		MaxAttempts: 8}) // nginx refuses one request in seven here, and four in a row now and then
	require.NoError(t, err)
	r.workspaces = append(r.workspaces, w)
}

// ServeHTTP receives the webhooks that came through the gateway.
func (r *gatewayRun) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the gateway was killed while it was sending
	}
	for _, workspace := range r.workspaces {
		if _, err = workspace.verifier.Events(request.Header, body); err == nil {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refused = append(r.refused, err)
	}
	r.bodies[string(body)]++
}

// perform makes the calls, as many at a time as the gateway is tried with. It reloads or kills the gateway meanwhile.
func (r *gatewayRun) perform(t *testing.T, calls []func(context.Context) (name string, err error)) {
	mathrand.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	next := make(chan func(context.Context) (string, error))
	var workers sync.WaitGroup
	for range r.callers {
		workers.Go(func() {
			for call := range next {
				name, err := call(t.Context())
				r.mu.Lock()
				r.outcomes[name+": "+classOf(err)]++
				r.mu.Unlock()
				if err != nil && *gatewayKills == 0 {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	disturb := max(1, *gatewayKills/2)
	for i, call := range calls {
		next <- call
		if i%(len(calls)/(disturb+1)) != len(calls)/(disturb+1)-1 {
			continue
		}
		switch {
		case *gatewayKills > 0:
			r.kill()
			require.Eventually(t, func() bool { return !r.accepts() }, 20*time.Second, 20*time.Millisecond) // its children end later
			r.launch(t)
		case r.reload != 0:
			require.NoError(t, r.running.Process.Signal(r.reload))
		}
	}
	close(next)
	workers.Wait()
}

// classOf names an error's class without what differs from call to call.
func classOf(err error) string {
	for _, class := range []error{signforms.ErrOutcomeUnknown, signforms.ErrUnavailable, signforms.ErrIncomplete, signforms.ErrBadResponse, signforms.ErrForbidden, signforms.ErrNotFound} {
		if errors.Is(err, class) {
			return class.Error()
		}
	}
	return fmt.Sprint(err)
}

// drain reads a whole list and returns an error if it has another number of records.
func drain[T any](list iter.Seq2[*T, error], want int) error {
	n := 0
	for _, err := range list {
		if err != nil {
			return err
		}
		n++
	}
	if want >= 0 && n != want {
		return fmt.Errorf("the list has %d records, want %d", n, want)
	}
	return nil
}

// sendsAndLists returns sends from templates and forms and, among them, lists of records that do not change.
func (r *gatewayRun) sendsAndLists() (calls []func(context.Context) (string, error)) {
	for _, w := range r.workspaces {
		for i := range sendsOfEach {
			email := fmt.Sprintf("signer-%d@example.com", i)
			calls = append(calls, func(ctx context.Context) (string, error) {
				result, err := w.client.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: w.Seeded.Templates[0],
					Receivers: []signforms.Receiver{{Name: "Ann", Email: email, RoleTitle: "Buyer"}}})
				w.mu.Lock()
				defer w.mu.Unlock()
				if err == nil {
					w.sent[email] = result.DocumentID
				} else if errors.Is(err, signforms.ErrOutcomeUnknown) {
					w.sent[email] = ""
				}
				return "Templates.Send", err
			}, func(ctx context.Context) (string, error) {
				return "Templates.List", second(w.client.Templates.List(ctx, signforms.TemplateListParams{}))
			})
		}
		calls = append(calls, func(ctx context.Context) (string, error) {
			_, err := w.client.Forms.Send(ctx, signforms.FormSendParams{FormID: w.Seeded.Forms[0], Receivers: []signforms.Receiver{{Name: "Ann", Email: "form@example.com"}}})
			return "Forms.Send", err
		})
	}
	for range 6 {
		calls = append(calls, func(ctx context.Context) (string, error) {
			return "Documents.All", drain(r.workspaces[0].client.Documents.All(ctx, signforms.DocumentListParams{}), listed)
		})
	}
	return calls
}

// changes returns reminders, voids, and reads of what was sent.
func (r *gatewayRun) changes(t *testing.T) (calls []func(context.Context) (string, error)) {
	for _, w := range r.workspaces {
		for range 3 {
			require.NoError(t, w.control.Post(t.Context(), "/forms/"+w.Seeded.Forms[0]+"/submit", map[string]any{"answers": map[string]string{}}, nil))
		}
		for i, id := range slices.Sorted(maps.Values(w.sent)) {
			if id == "" {
				continue
			}
			ref := signforms.TemplateDocument(w.Seeded.Templates[0], id)
			calls = append(calls, func(ctx context.Context) (string, error) {
				return "Respondents.Get", second(w.client.Respondents.Get(ctx, id))
			})
			switch {
			case i < 5:
				calls = append(calls, func(ctx context.Context) (string, error) {
					_, err := w.client.Documents.Remind(ctx, ref)
					w.mu.Lock()
					defer w.mu.Unlock()
					w.reminded[id] = err == nil
					return "Documents.Remind", err
				})
			case i < 8:
				calls = append(calls, func(ctx context.Context) (string, error) {
					return "Documents.Void", second(w.client.Documents.Void(ctx, ref))
				})
				w.voided = append(w.voided, id)
			case i < 12:
				calls = append(calls, func(ctx context.Context) (string, error) {
					return "sign", w.control.Post(ctx, "/documents/"+id+"/sign", wire.Signature{Signer: w.addressOf(id)}, nil)
				})
			}
		}
		calls = append(calls, func(ctx context.Context) (string, error) {
			return "Respondents.All", drain(w.client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: w.Seeded.Templates[0]}), -1)
		}, func(ctx context.Context) (string, error) {
			return "FormResponses.All", drain(w.client.FormResponses.All(ctx, signforms.FormResponseListParams{FormID: w.Seeded.Forms[0]}), 3)
		}, func(ctx context.Context) (string, error) {
			return "Templates.Get", second(w.client.Templates.Get(ctx, w.Seeded.Templates[0]))
		})
	}
	return calls
}

func second[T any](_ T, err error) error { return err }

func (w *gatewayWorkspace) addressOf(document string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for address, id := range w.sent {
		if id == document {
			return address
		}
	}
	return ""
}

// compare compares what the calls returned with what the service has.
func (r *gatewayRun) compare(t *testing.T) {
	for _, w := range r.workspaces {
		arrived, reminders := map[string][]string{}, map[string]int{}
		for id, d := range documentsOf(t, w.control) {
			arrived[d.Signers[0].Email] = append(arrived[d.Signers[0].Email], id)
		}
		for id := range w.reminded {
			var trail wire.Page[refserver.AuditEntry]
			require.NoError(t, w.control.Get(t.Context(), "/audit", url.Values{"documentId": {id}}, &trail))
			for _, e := range trail.Items {
				if e.Action == "remind" {
					reminders[id]++
				}
			}
		}
		for i := range sendsOfEach {
			email := fmt.Sprintf("signer-%d@example.com", i)
			id, known := w.sent[email]
			switch n := len(arrived[email]); {
			case n > 1:
				t.Errorf("%s of %s was sent %d times", email, w.Name, n)
			case known && id != "" && !slices.Equal(arrived[email], []string{id}):
				t.Errorf("%s of %s was acknowledged as %s, and the service has %v", email, w.Name, id, arrived[email])
			case !known && n > 0:
				t.Errorf("%s of %s was reported as not sent, and it was", email, w.Name)
			}
		}
		for id, success := range w.reminded {
			if n := reminders[id]; n > 1 || success && n == 0 {
				t.Errorf("%s was reminded %d times, and the call's success was %v", id, n, success)
			}
		}
		require.NoError(t, w.control.Post(t.Context(), "/clock/settle", wire.Wait{Timeout: wire.Duration(time.Minute)}, nil))
		// Deliveries that a reload or a kill cut off are repeated.
		require.NoError(t, w.control.Post(t.Context(), "/clock/advance", wire.Advance{By: wire.Duration(24 * time.Hour)}, nil))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.refused, "deliveries")
	for _, n := range r.bodies {
		if n > 1 && *gatewayKills == 0 {
			t.Errorf("a delivery arrived %d times", n)
		}
	}
	require.Len(t, r.bodies, 2*r.outcomes["sign: <nil>"], "the signed and the completed event of each signature")
}
