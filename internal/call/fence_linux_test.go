package call_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

const (
	fenceURL    = "SIGNFORMS_FENCE_URL" // of the service; set in the processes that TestFence_stoppedProcess starts
	fenceMoment = "SIGNFORMS_FENCE_MOMENT"
	fenceKind   = "SIGNFORMS_FENCE_KIND"
	fenceCall   = "SIGNFORMS_FENCE_CALL" // if it is set, the call has the deadline and not the attempt
	fenceTime   = 600 * time.Millisecond // how long an attempt or call may take
)

// TestFence_stoppedProcess stops processes in the middle of a send and continues them after the deadline. No request
// arrives whole from then on.
func TestFence_stoppedProcess(t *testing.T) {
	if os.Getenv(fenceURL) != "" {
		sendAndStop(t)
		return
	}
	for _, c := range []struct {
		kind    string // of the request
		moment  string // at which the process stops itself; empty where the service stops reading, and the test stops the process
		http2   bool
		runs    int
		unknown bool
	}{
		{kind: "small", moment: "GetConn", runs: 8},
		{kind: "small", moment: "GetConn", http2: true, runs: 6},
		{kind: "small", moment: "GotConn", runs: 6, unknown: true},
		{kind: "small", moment: "WroteHeaders", runs: 6, unknown: true},
		{kind: "small", moment: "WroteHeaders", http2: true, runs: 6, unknown: true},
		{kind: "without a body", moment: "GetConn", runs: 8, unknown: true},
		{kind: "dumped", moment: "GetConn", runs: 8, unknown: true},
		{kind: "6 MB", runs: 12, unknown: true},
	} {
		t.Run(fmt.Sprintf("%s/%s/HTTP2=%t", c.kind, c.moment, c.http2), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.kind != "small" {
				t.Skip("takes several seconds")
			}
			var wait sync.WaitGroup
			for i := range c.runs {
				wait.Go(func() {
					f := &fenceService{pause: 50_000 + int64(i)*5_000, paused: make(chan struct{}), resume: make(chan struct{})}
					f.stopAndContinue(t, c.kind, c.moment, c.http2, c.unknown, i%2 == 1 && c.moment != "")
				})
			}
			wait.Wait()
		})
	}
}

// fenceService counts the requests that arrive whole. It stops reading a large one when pause bytes are left, which are
// on their way or in a write that the kernel does not accept yet.
type fenceService struct {
	arrived        atomic.Int64
	pause          int64
	paused, resume chan struct{}
}

func (f *fenceService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := int64(0)
	if r.ContentLength > 1<<20 {
		n, _ = io.CopyN(io.Discard, r.Body, r.ContentLength-f.pause)
		close(f.paused)
		<-f.resume
	}
	rest, err := io.Copy(io.Discard, r.Body)
	if r.Method == http.MethodPost && err == nil && n+rest == r.ContentLength {
		f.arrived.Add(1)
	}
	_, _ = io.WriteString(w, clienttest.AnyAnswer)
}

// stopAndContinue runs one process against the service.
func (f *fenceService) stopAndContinue(t *testing.T, kind, moment string, http2, unknown, deadlineOfCall bool) {
	srv := httptest.NewUnstartedServer(f)
	srv.EnableHTTP2 = http2
	srv.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(32 << 10)
		}
		return ctx
	}
	if http2 {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	defer srv.Close()
	process := exec.Command(os.Args[0], "-test.run=^TestFence_stoppedProcess$")
	process.Env = append(os.Environ(), fenceURL+"="+srv.URL, fenceKind+"="+kind, fenceMoment+"="+moment)
	if deadlineOfCall {
		process.Env = append(process.Env, fenceCall+"=1")
	}
	var output strings.Builder
	process.Stdout, process.Stderr = &output, &output
	if err := process.Start(); err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = process.Process.Kill() }()
	if moment == "" {
		<-f.paused
		time.Sleep(50 * time.Millisecond) // until nothing more can be written
		_ = process.Process.Signal(syscall.SIGSTOP)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(process.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Errorf("the process did not stop: %v, %v: %s", err, status, output.String())
		return
	}
	close(f.resume)
	time.Sleep(fenceTime + 300*time.Millisecond) // until after the deadline, and the service has read what was on its way
	before := f.arrived.Load()
	if err := process.Process.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	err := process.Wait()
	if srv.Close(); f.arrived.Load() > before {
		t.Error("a request arrived after its deadline")
	}
	if want := fmt.Sprintf("unknown=%t", unknown); before == 0 && (err != nil || !strings.Contains(output.String(), want)) {
		t.Errorf("want %s, got %v: %s", want, err, output.String())
	}
}

// sendAndStop is such a process: it makes a call and stops itself in the middle.
func sendAndStop(t *testing.T) {
	stop := func() { // by a signal to this thread, which does not go on before it is stopped
		runtime.LockOSThread()
		_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(syscall.Gettid()), uintptr(syscall.SIGSTOP))
		runtime.UnlockOSThread()
	}
	tr := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err == nil {
				err = c.(*net.TCPConn).SetWriteBuffer(32 << 10)
			}
			return c, err
		}}
	kind, o := os.Getenv(fenceKind), clienttest.Options(nil)
	if o.Transport, o.MaxAttempts = tr, 1; os.Getenv(fenceCall) == "" {
		o.AttemptTimeout = fenceTime
	}
	call := clienttest.CallOf(t, "Templates.Send")
	switch kind {
	case "without a body":
		call = clienttest.CallOf(t, "Documents.Remind")
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpRemind: {Inputs: signforms.InputsQuery}}
	case "dumped":
		o.Transport = clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			dumped := req.WithContext(context.Background()) // whose trace does not stop the process
			_, _ = httputil.DumpRequestOut(dumped, true)
			return tr.RoundTrip(dumped.WithContext(req.Context()))
		})
	case "6 MB":
		// The last part of such a PDF that net/http reads is nearly as large as its buffer.
		p := signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, PDF: make([]byte, 4_621_000),
			Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Client"}}}
		call.Do = func(ctx context.Context, c *signforms.Client) error {
			return clienttest.Second(c.Templates.Send(ctx, p))
		}
	}
	c, err := signforms.New(os.Getenv(fenceURL), clienttest.APIKey, o)
	require.NoError(t, err)
	require.NoError(t, clienttest.CallOf(t, "Documents.List").Do(t.Context(), c)) // makes a connection
	var trace httptrace.ClientTrace
	if moment := os.Getenv(fenceMoment); moment != "" {
		traceEvents[moment](&trace, sync.OnceFunc(stop))
	}
	ctx := httptrace.WithClientTrace(t.Context(), &trace)
	if os.Getenv(fenceCall) != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, fenceTime)
		defer cancel()
	}
	err = call.Do(ctx, c)
	fmt.Printf("unknown=%t %v\n", errors.Is(err, signforms.ErrOutcomeUnknown), err)
}
