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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
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
	os.Exit(runProcess(replaced{openLimitFile: func(path string) signforms.LimitStore {
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
	p.cmd.Env = append(os.Environ(), "SIGNFORMS_TEST_PROGRAM=1", "GORACE=atexit_sleep_ms=0") // the race detector would sleep for a second at the end
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
func (s *testService) mailed(kind signformstest.MessageKind) map[string]int {
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
