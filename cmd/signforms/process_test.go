package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/filestore"
)

// faster is how many times shorter limit files hold slots in the programs that tests start.
const faster = 300

// TestMain makes the test binary the program itself, for tests that kill it.
func TestMain(m *testing.M) {
	pdfprocess.Main()
	if os.Getenv("SIGNFORMS_TEST_PROGRAM") == "" {
		browsertest.Main(m)
	}
	os.Exit(runProcess(service.Commands{OpenLimitFile: func(path string) signforms.LimitStore {
		return &fasterStore{filestore.NewLimitStore(path)}
	}}))
}

// fasterStore holds slots for less time.
type fasterStore struct{ signforms.LimitStore }

func (s *fasterStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	return s.LimitStore.Take(ctx, key, limit, hold/faster)
}

func (s *fasterStore) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	return s.LimitStore.Settle(ctx, key, slot, keep/faster)
}

func (s *fasterStore) Block(ctx context.Context, key string, d time.Duration) error {
	return s.LimitStore.Block(ctx, key, d/faster)
}

func (s *fasterStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	waits, err := s.LimitStore.Peek(ctx, key, limit)
	for i := range waits {
		waits[i] *= faster
	}
	return waits, err
}

// program is a running signforms.
type program struct {
	cmd    *exec.Cmd
	wait   func() int
	stdout bytes.Buffer
	stderr lockedBuffer
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// running is the program that was started last, so that a gate can act on it. Its first request may arrive before start returns.
var running struct {
	sync.Mutex
	program *program
}

func current() *program {
	running.Lock()
	defer running.Unlock()
	return running.program
}

// start starts the program in a process of its own. seen, unless nil, gets each line of stderr.
func start(t *testing.T, seen func(p *program, line string), args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(os.Args[0], args...)}
	p.cmd.Env = append(os.Environ(), "SIGNFORMS_TEST_PROGRAM=1")
	p.cmd.Stdout = &p.stdout
	read, write := io.Pipe()
	p.cmd.Stderr = io.MultiWriter(&p.stderr, write)
	p.wait = sync.OnceValue(func() int {
		p.cmd.Wait() // its error is the code
		return p.cmd.ProcessState.ExitCode()
	})
	running.Lock()
	err := p.cmd.Start()
	running.program = p
	running.Unlock()
	require.NoError(t, err)
	var lines sync.WaitGroup
	lines.Go(func() {
		for s := bufio.NewScanner(read); s.Scan(); {
			if seen != nil {
				seen(p, s.Text())
			}
		}
	})
	t.Cleanup(func() {
		p.cmd.Process.Kill() // fails if it has ended already
		write.Close()
		lines.Wait()
	})
	return p
}

// end waits for the program to end and returns its exit code, -1 when a signal has ended it.
func (p *program) end() int {
	return p.wait()
}

func (p *program) kill() { p.cmd.Process.Signal(syscall.SIGKILL) }

// gate is a proxy in front of a service. It lets a test act when the n-th request of a kind arrives, and when it was carried out.
type gate struct {
	method        string
	before, after func(n int)
	mu            sync.Mutex
	arrived       []time.Time
}

// stand puts the gate in front of the service, and sets the environment to the gate's address.
func (g *gate) stand(t *testing.T, s *testService) {
	t.Helper()
	target, err := url.Parse(s.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: nil}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != g.method {
			proxy.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.mu.Lock()
		g.arrived = append(g.arrived, time.Now())
		n := len(g.arrived)
		g.mu.Unlock()
		if g.before != nil {
			g.before(n)
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context()))) // carried out even when the client is gone
		if g.after != nil {
			g.after(n)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(srv.Close)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
}

// count is how many requests arrived.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.arrived)
}

// most is how many requests arrived within the service's 15 minutes, at most, by the faster clock.
func (g *gate) most() (most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, at := range g.arrived {
		n := 0
		for _, other := range g.arrived[i:] {
			if other.Sub(at) < 15*time.Minute/faster {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// remindService is a service with nine pending documents that accepts any number of reminders: what is sent is counted
// at the gate.
func remindService(t *testing.T) *testService {
	t.Helper()
	s := newService(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Requests: 1000}})
	for i := range 6 {
		s.AddDocument(signformstest.Document{Name: fmt.Sprint("Notice ", i), Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	}
	return s
}

// The hold of a process that is killed, 26 minutes with this time-out, allows for a slow machine.
var remindAll = []string{"documents", "remind", "--all-pending", "--yes", "--json", "--attempt-timeout", "10m"}

// mailed counts the reminders of each document.
func (s *testService) mailed(kind string) map[string]int {
	n := map[string]int{}
	for _, m := range s.Messages()[s.mail:] {
		if m.Kind == kind {
			n[m.DocumentID+" "+m.To]++
		}
	}
	return n
}

func atMostOnce(t *testing.T, mailed map[string]int) {
	t.Helper()
	for what, n := range mailed {
		require.Equal(t, 1, n, what)
	}
}

func TestRemindIsKilledAndGoesOn(t *testing.T) {
	s := remindService(t)
	var p *program
	g := &gate{method: http.MethodPost}
	g.before = func(n int) {
		if n == 2 { // it arrives, but the program is killed before the answer
			current().kill()
			current().end()
		}
	}
	g.after = func(n int) {
		if n == 4 { // it was carried out, and its answer is lost
			current().kill()
			current().end()
		}
	}
	g.stand(t, s)
	p = start(t, nil, remindAll...)
	require.Equal(t, -1, p.end())
	p = start(t, nil, remindAll...)
	require.Equal(t, -1, p.end())
	require.Contains(t, p.stderr.String(), "whether it was reminded is unknown: ask a signer whether a reminder came about ")

	waiting := func(p *program, line string) {
		if strings.HasPrefix(line, "waiting ") {
			p.kill()
		}
	}
	p = start(t, waiting, remindAll...)
	require.Equal(t, -1, p.end(), "killed as it waits: %s", &p.stderr)
	require.Equal(t, 5, g.count())

	p = start(t, nil, remindAll...)
	require.Equal(t, cli.ExitUnknown, p.end(), "%s", &p.stderr)
	require.Contains(t, p.stderr.String(), "signforms: 2 unknown\n")
	atMostOnce(t, s.mailed("reminder"))
	require.Equal(t, 9, g.count())
	require.LessOrEqual(t, g.most(), 5)
	require.Len(t, s.mailed("reminder"), 10, "nine documents, of which one has two signers, and the unknown ones were both carried out")

	// The run has ended. The next run holds back only items whose outcome is unknown.
	stdout, stderr, code := execute(t, append(remindAll, "--dry-run")...)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 7, strings.Count(stdout, "would be reminded"), stderr)
	stdout, stderr, _ = execute(t, append(remindAll, "--dry-run", "--resolve", "all=again")...)
	require.Equal(t, 9, strings.Count(stdout, "would be reminded"), stderr)
	require.NotContains(t, stderr, "is unknown", "what is decided is not said to be open")
}

func TestRemindIsInterruptedAndGoesOn(t *testing.T) {
	s := remindService(t)
	var p *program
	noticed := make(chan struct{})
	notice := func(_ *program, line string) {
		if strings.HasPrefix(line, "interrupted: ") {
			close(noticed)
		}
	}
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 3 {
			current().cmd.Process.Signal(os.Interrupt)
			<-noticed // else it might begin the next one
		}
	}}
	g.stand(t, s)
	p = start(t, notice, remindAll...)
	require.Equal(t, cli.ExitPartial, p.end())
	require.Equal(t, 3, strings.Count(p.stdout.String(), `"outcome":"reminded"`), "what is under way comes to its end")
	require.Contains(t, p.stderr.String(), "signforms: interrupted; 6 not tried; the same command again goes on with the rest\n")

	interrupt := func(p *program, line string) {
		if strings.HasPrefix(line, "waiting ") {
			p.cmd.Process.Signal(os.Interrupt)
		}
	}
	p = start(t, interrupt, remindAll...)
	require.Equal(t, cli.ExitPartial, p.end(), "%s", &p.stderr)
	require.Regexp(t, `(?m)^3 of 9 documents were reminded by a run that has not ended and began at 2\S+Z; going on with the rest\n`+
		`6 documents to be reminded; at most 5 in 15 minutes are accepted, so this takes 15m`, p.stderr.String())

	p = start(t, nil, remindAll...)
	require.Equal(t, cli.ExitOK, p.end(), "%s", &p.stderr)
	atMostOnce(t, s.mailed("reminder"))
	require.Len(t, s.mailed("reminder"), 10)
	require.LessOrEqual(t, g.most(), 5)
}

// sendAll returns the arguments to send the offer to six people, one a line.
func sendAll(t *testing.T, s *testService) (args []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	text := "name,email\n"
	for i := range 6 {
		text += fmt.Sprintf("P%d,p%d@example.com\n", i, i)
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return []string{"templates", "send", s.offer, "--csv", path, "--role", "Buyer", "--yes", "--json"}
}

func TestSendIsKilledAndGoesOn(t *testing.T) {
	s := newService(t, nil)
	var p *program
	g := &gate{method: http.MethodPost}
	g.before = func(n int) {
		if n == 2 {
			current().kill()
			current().end()
		}
	}
	g.after = func(n int) {
		if n == 4 {
			current().kill()
			current().end()
		}
	}
	g.stand(t, s)
	args := sendAll(t, s)
	p = start(t, nil, args...)
	require.Equal(t, -1, p.end())
	p = start(t, nil, args...)
	require.Equal(t, -1, p.end())
	p = start(t, nil, args...)
	require.Equal(t, cli.ExitUnknown, p.end())
	require.Contains(t, p.stderr.String(), "line 3 (p1@example.com): whether it was sent is unknown: the same command with --unknown looks for a document made about 2")
	require.Contains(t, p.stderr.String(), "line 5 (p3@example.com): whether it was sent is unknown")
	require.Equal(t, 2, strings.Count(p.stdout.String(), `"outcome":"sent"`))
	atMostOnce(t, s.mailed("invitation"))
	require.Len(t, s.mailed("invitation"), 6)

	// Items with an unknown outcome are not sent again without --resolve, and the run has not ended.
	p = start(t, nil, args...)
	require.Equal(t, cli.ExitUnknown, p.end())
	require.Empty(t, p.stdout.String())
	require.Len(t, s.mailed("invitation"), 6)

	p = start(t, nil, append(args, "--resolve", "3=done", "--resolve", "5=again")...)
	require.Equal(t, cli.ExitOK, p.end(), "%s", &p.stderr)
	require.Equal(t, 1, strings.Count(p.stdout.String(), `"outcome":"sent"`))
	require.Equal(t, 7, g.count())

	// The run has ended, so the same command starts a new one.
	p = start(t, nil, args...)
	require.Equal(t, cli.ExitOK, p.end())
	require.Equal(t, 6, strings.Count(p.stdout.String(), `"outcome":"sent"`))
}

func TestSendIsInterruptedAndGoesOn(t *testing.T) {
	s := newService(t, nil)
	var p *program
	noticed := make(chan struct{})
	notice := func(_ *program, line string) {
		if strings.HasPrefix(line, "interrupted: ") {
			close(noticed)
		}
	}
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 3 {
			current().cmd.Process.Signal(os.Interrupt)
			<-noticed // else it might begin the next one
		}
	}}
	g.stand(t, s)
	args := sendAll(t, s)
	p = start(t, notice, args...)
	require.Equal(t, cli.ExitPartial, p.end())
	require.Equal(t, 3, strings.Count(p.stdout.String(), `"outcome":"sent"`))
	p = start(t, nil, args...)
	require.Equal(t, cli.ExitOK, p.end())
	require.Equal(t, 3, strings.Count(p.stdout.String(), `"outcome":"sent"`))
	atMostOnce(t, s.mailed("invitation"))
	require.Len(t, s.mailed("invitation"), 6)
}

// A line that the service refused is tried again; a line that was sent is not.
func TestSendTriesTheRestAgain(t *testing.T) {
	s := newService(t, nil)
	args := sendAll(t, s)
	heal := s.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 2, Status: 409})
	stdout, stderr, code := execute(t, args...)
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Equal(t, 4, strings.Count(stdout, `"outcome":"sent"`))
	heal()
	stdout, stderr, code = execute(t, args...)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, `"outcome":"sent"`))
	atMostOnce(t, s.mailed("invitation"))
}

// A batch stops soon when the service does not answer, because each send without an answer may have been carried out.
func TestSendStopsWhenNobodyAnswers(t *testing.T) {
	s := newService(t, nil)
	s.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 502})
	stdout, stderr, code := execute(t, sendAll(t, s)...)
	require.Equal(t, cli.ExitUnknown, code)
	require.Equal(t, 3, strings.Count(stdout, `"outcome":"unknown"`))
	require.Contains(t, stderr, "signforms: no clear answer from the service 3 times in a row; 3 unknown; 3 not tried; the same command again goes on with the rest\n")
}

func TestSendStopsWhenTheKeyIsRefused(t *testing.T) {
	s := newService(t, nil)
	args := sendAll(t, s)
	t.Setenv("SIGNFORMS_API_KEY", "another key")
	stdout, stderr, code := execute(t, args...)
	require.Equal(t, cli.ExitFailure, code)
	require.Equal(t, 1, strings.Count(stdout, "\n"), stdout)
	require.Contains(t, stderr, "signforms: the service refuses the API key or the workspace; 1 failed; 5 not tried")
}

func TestOneRunUsesTheJournal(t *testing.T) {
	s := newService(t, nil)
	args := sendAll(t, s)
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 1 {
			_, stderr, code := execute(t, args...)
			assert.Equal(t, cli.ExitFailure, code)
			assert.Contains(t, stderr, "another run is using the journal")
		}
	}}
	g.stand(t, s)
	_, stderr, code := execute(t, args...)
	require.Equal(t, cli.ExitOK, code, stderr)
	atMostOnce(t, s.mailed("invitation"))
}
