package call_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestRetry_byOperation has a cell for every operation and failure.
func TestRetry_byOperation(t *testing.T) {
	certificates := httptest.NewTLSServer(nil)
	certificates.Close()
	for _, f := range failures(certificates) {
		for _, call := range clienttest.Calls {
			t.Run(f.name+"/"+call.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f.run(t, call) })
			})
		}
	}
}

func (f failure) want(call clienttest.Call) cell {
	switch {
	case call.Op == signforms.OpRemind && f.remind != nil:
		return *f.remind
	case call.SendsMail():
		return f.sends
	}
	return f.reads
}

func (f failure) service() (*wireService, func(*http.Transport, *signforms.Options)) {
	s := &wireService{behave: f.behave}
	return s, func(tr *http.Transport, _ *signforms.Options) {
		tr.TLSClientConfig = f.trust
		if f.dial != nil {
			tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, f.dial(ctx) }
		}
	}
}

func (f failure) run(t *testing.T, call clienttest.Call) {
	s, change := f.service()
	scheme := f.scheme
	if scheme == "" {
		scheme = "http"
	}
	err := call.Do(t.Context(), s.client(t, scheme, change))
	want, e := f.want(call), clienttest.AsError(t, err)
	require.Equal(t, want.attempts, e.Attempts, "attempts; %v", err)
	require.Len(t, s.requests(), want.seen, "requests that the service saw; %v", err)
	require.Equal(t, want.status, e.StatusCode)
	switch {
	case want.status == 400 && (call.Op == signforms.OpVoidDocument || call.Op == signforms.OpRemind):
		clienttest.RequireMatches(t, err, want.kind, signforms.ErrRefused)
	default:
		clienttest.RequireMatches(t, err, want.kind)
	}
	if f.is != nil {
		require.ErrorIs(t, err, f.is)
	}
	require.Contains(t, err.Error(), f.text)
	if f.body != "" {
		require.Equal(t, f.body, string(e.Body))
	}
	for _, r := range s.requests() {
		require.Equal(t, s.requests()[0], r, "each attempt carries the same body and x-request-id")
		require.Equal(t, e.RequestID, r.id)
	}
}

// repeatedAfter reads the retry table of the package documentation: for each operation, after what it is repeated.
func repeatedAfter(t *testing.T) map[signforms.Operation][]string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(clienttest.Root(t), "doc.go"))
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(safe|idempotent|not repeatable) {2,}(.*?) {2,}(.*)$`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, rows, 3)
	table := map[signforms.Operation][]string{}
	for _, row := range rows {
		for op := range strings.SplitSeq(row[2], ", ") {
			require.NotContains(t, table, signforms.Operation(op), "an operation in two rows")
			table[signforms.Operation(op)] = strings.Split(row[3], ", ")
		}
	}
	return table
}

// causes says which failures the words of the table stand for; each other failure is its status, or never repeated after.
var causes = map[string][]string{
	"connection errors": {"reset after the first byte", "reset within the head", "reset after reading", "reset within the answer's head",
		"answer is not HTTP", "truncated 200"},
	"attempt time-outs":   {"no answer", "half an answer"},
	"nothing was written": {"no such host", "dial refused", "dialling takes too long", "no TLS", "TLS cut off", "TLS takes too long"},
}

// TestRetry_documentedTable holds the table in the package documentation against what TestRetry_byOperation runs.
func TestRetry_documentedTable(t *testing.T) {
	table := repeatedAfter(t)
	require.Len(t, table, 6, "every operation is in the table: %v", slices.Collect(maps.Keys(table)))
	certificates := httptest.NewTLSServer(nil)
	certificates.Close()
	all := failures(certificates)
	for _, call := range clienttest.Calls {
		words := table[call.Op]
		require.NotEmpty(t, words, call.Op)
		var failing []string // that the table says it is repeated after
		for _, word := range words {
			if names, ok := causes[word]; ok {
				failing = append(failing, names...)
			} else if word != "excluded by GOAWAY" { // see TestGoAway_provesThatNothingWasAccepted
				require.Regexp(t, `^\d{3}$`, word, "the test knows no such cause")
				require.True(t, slices.ContainsFunc(all, func(f failure) bool { return f.name == word }), "nothing tests %s", word)
				failing = append(failing, word)
			}
			if word == "connection errors" {
				failing = append(failing, causes["nothing was written"]...)
			}
		}
		for _, f := range all {
			want := f.want(call)
			if call.Op == signforms.OpRemind {
				want = f.sends // with time to wait for the budget, see TestRemind_waitsForTheBudget
			}
			require.Equal(t, slices.Contains(failing, f.name), want.attempts > 1, "%s of %s: the table says %v", f.name, call.Name, words)
		}
	}
	for word, names := range causes {
		for _, name := range names {
			require.True(t, slices.ContainsFunc(all, func(f failure) bool { return f.name == name }), "%s stands for %q, which nothing tests", word, name)
		}
	}
}

// cell is what becomes of a call under a failure.
type cell struct {
	seen     int // requests that the service read
	attempts int
	status   int
	kind     error // the one sentinel that the error matches
}

// failure is one way in which every attempt goes wrong.
type failure struct {
	name   string
	scheme string // default http
	behave func(*wireService, net.Conn)
	dial   func(context.Context) error // refuses connections
	trust  *tls.Config
	reads  cell  // lists, respondents, responses and void
	sends  cell  // send and remind
	remind *cell // where it differs
	is     error // found in the error
	text   string
	body   string // kept in the error
}

var (
	fourTimes   = cell{4, 4, 0, signforms.ErrUnavailable}
	neverSeen   = cell{0, 4, 0, signforms.ErrUnavailable}
	onceUnknown = cell{1, 1, 0, signforms.ErrOutcomeUnknown}
)

func (c cell) with(status int) cell { c.status = status; return c }

// answer is a whole answer on the wire.
func answer(status int, header, body string) func(*wireService, net.Conn) {
	return answering(fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
}

// failures lists what can go wrong, and what is made of it. A row of the table in the package documentation is made of these cells.
func failures(certificates *httptest.Server) []failure {
	cert, trusting := certificates.TLS.Certificates[0], &tls.Config{RootCAs: certificates.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}
	all := []failure{
		{name: "no such host", dial: func(context.Context) error {
			return &net.DNSError{Err: "no such host", Name: "service.test", IsNotFound: true}
		},
			reads: neverSeen, sends: neverSeen, text: "no such host"},
		{name: "dial refused", dial: func(context.Context) error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} },
			reads: neverSeen, sends: neverSeen, is: syscall.ECONNREFUSED, text: "connection refused"},
		{name: "dialling takes too long", dial: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			reads: neverSeen, sends: neverSeen, is: context.DeadlineExceeded, text: "no complete response within Options.AttemptTimeout, 30s"},
		{name: "no TLS", scheme: "https", trust: trusting, behave: closingAfter(5, "HTTP/1.1 400 Bad Request\r\n\r\n"),
			reads: neverSeen, sends: neverSeen},
		{name: "TLS cut off", scheme: "https", trust: trusting, behave: closingAfter(5, ""), reads: neverSeen, sends: neverSeen},
		{name: "TLS takes too long", scheme: "https", trust: trusting, behave: func(_ *wireService, c net.Conn) { io.Copy(io.Discard, c) },
			reads: neverSeen, sends: neverSeen, is: context.DeadlineExceeded},
		{name: "certificate of another name", scheme: "https", trust: &tls.Config{RootCAs: trusting.RootCAs, ServerName: "service.test"},
			behave: func(_ *wireService, c net.Conn) {
				_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}}).Handshake()
			},
			reads: cell{0, 1, 0, signforms.ErrBadResponse}, sends: cell{0, 1, 0, signforms.ErrBadResponse}, text: "certificate"},
		{name: "reset after the first byte", behave: closingAfter(1, ""), reads: neverSeen, sends: cell{0, 1, 0, signforms.ErrOutcomeUnknown}},
		{name: "reset within the head", behave: closingAfter(100, ""), reads: neverSeen, sends: cell{0, 1, 0, signforms.ErrOutcomeUnknown}},
		{name: "reset after reading", behave: closingAfter(-1, ""), reads: fourTimes, sends: onceUnknown, is: io.EOF,
			text: "the connection was closed before the whole response arrived"},
		{name: "reset within the answer's head", behave: closingAfter(-1, "HTTP/1.1 200 O"), reads: fourTimes, sends: onceUnknown, is: io.ErrUnexpectedEOF},
		{name: "answer is not HTTP", behave: closingAfter(-1, "SSH-2.0-OpenSSH_9.9\r\n\r\n"), reads: fourTimes, sends: onceUnknown, text: "malformed HTTP"},
		{name: "truncated 200", behave: closingAfter(-1, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"message\":"),
			reads: fourTimes.with(200), sends: onceUnknown.with(200), is: io.ErrUnexpectedEOF, body: `{"message":`},
		{name: "no answer", behave: silentAfter(""), reads: fourTimes, sends: onceUnknown, is: context.DeadlineExceeded,
			text: "no complete response within Options.AttemptTimeout, 30s"},
		{name: "half an answer", behave: silentAfter("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"mess"),
			reads: fourTimes.with(200), sends: onceUnknown.with(200), is: context.DeadlineExceeded, text: "no complete response", body: `{"mess`},
		{name: "garbage 200", behave: answer(200, "", "garbage"), reads: cell{1, 1, 200, signforms.ErrBadResponse}, sends: onceUnknown.with(200),
			text: "unreadable response (it is not a JSON object: check the base URL)", body: "garbage"},
		{name: "200 with an error", behave: answer(200, "", `{"error":"No such template"}`), reads: cell{1, 1, 200, signforms.ErrUnavailable}, sends: onceUnknown.with(200),
			text: "No such template"},
		{name: "redirect", behave: answer(307, "Location: https://other.example.com/x\r\n", ""), reads: cell{1, 1, 307, signforms.ErrInvalid}, sends: onceUnknown.with(307),
			text: "the service redirects, and redirects are not followed"},
		{name: "408", behave: answer(408, "Connection: close\r\n", "slow"), reads: cell{1, 1, 408, signforms.ErrUnavailable}, sends: onceUnknown.with(408), body: "slow"},
		{name: "429", behave: answer(429, "", "later"), reads: cell{4, 4, 429, signforms.ErrRateLimited}, sends: cell{4, 4, 429, signforms.ErrRateLimited},
			remind: &cell{1, 1, 429, signforms.ErrRateLimited}, text: "later", body: "later"},
	}
	for _, status := range []int{500, 502, 503, 504} {
		all = append(all, failure{name: fmt.Sprint(status), behave: answer(status, "", "broken"), reads: fourTimes.with(status), sends: onceUnknown.with(status),
			text: "broken", body: "broken"})
	}
	for _, status := range []int{501, 505, 599} {
		all = append(all, failure{name: fmt.Sprint(status), behave: answer(status, "", "never"), reads: cell{1, 1, status, signforms.ErrUnavailable},
			sends: onceUnknown.with(status), body: "never"})
	}
	for status, kind := range map[int]error{400: signforms.ErrInvalid, 401: signforms.ErrForbidden, 404: signforms.ErrNotFound, 409: signforms.ErrRefused, 418: signforms.ErrRefused} {
		f := failure{name: fmt.Sprint(status), behave: answer(status, "", `{"message":"no"}`), reads: cell{1, 1, status, kind}, sends: cell{1, 1, status, kind}, body: `{"message":"no"}`}
		all = append(all, f)
	}
	return all
}
