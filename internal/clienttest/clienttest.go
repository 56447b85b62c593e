// Package clienttest has helpers that the tests of package signforms share: clients over scripted
// transports, one call of every method, and checks of errors. Its own tests cover the client as a
// whole: the bytes on the wire, and the results of calls to a service with faults.
package clienttest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Options returns options for fast tests: retries without a wait, and a separate reminder budget on
// the clock now. A nil now means time.Now.
func Options(now func() time.Time) *signforms.Options {
	return &signforms.Options{
		LimitStore: signforms.NewMemoryLimitStore(now), RetryWaitMin: time.Microsecond, RetryWaitMax: time.Microsecond,
	}
}

// ClientOf returns a client of the reference service, with Options.
func ClientOf(t testing.TB, srv *signformstest.Server, change ...func(*signforms.Options)) *signforms.Client {
	t.Helper()
	o := Options(srv.Now)
	o.WorkspaceID = srv.WorkspaceID
	return newClient(t, srv.URL, srv.APIKey, o, change)
}

// Scripted returns a client over a transport, with Options and the base URL
// https://api.example.com/base/.
func Scripted(t testing.TB, transport http.RoundTripper, change ...func(*signforms.Options)) *signforms.Client {
	t.Helper()
	o := Options(nil)
	o.WorkspaceID = WorkspaceID
	o.Transport = transport
	return newClient(t, "https://api.example.com/base/", APIKey, o, change)
}

func newClient(t testing.TB, baseURL, key string, o *signforms.Options, change []func(*signforms.Options)) *signforms.Client {
	t.Helper()
	for _, f := range change {
		f(o)
	}
	c, err := signforms.New(baseURL, key, o)
	require.NoError(t, err)
	return c
}

// Transport is a scripted transport.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Answers returns a transport that returns the same response every time.
func Answers(status int, body string) Transport {
	return func(req *http.Request) (*http.Response, error) { return Reply(req, status, body), nil }
}

// Reply returns a response to a request.
func Reply(req *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// Silent returns a transport that fails the test if a request is sent through it.
func Silent(t *testing.T) Transport {
	return func(req *http.Request) (*http.Response, error) {
		t.Errorf("%s %s was sent", req.Method, req.URL.Path)
		return Reply(req, 500, ""), nil
	}
}

// A Recorder is a transport that returns the same response every time and records the requests.
type Recorder struct {
	Answer string
	Sent   []Sent
}

// Sent is a request that reached a Recorder.
type Sent struct {
	*http.Request
	Content []byte
}

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	s := Sent{Request: req}
	if req.Body != nil {
		var err error
		if s.Content, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	r.Sent = append(r.Sent, s)
	return Reply(req, 200, r.Answer), nil
}

// Long returns all in an ordinary run, and few with the flag -short.
func Long(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}

// Testdata returns the text of a file in the testdata folder of the module.
func Testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Root(t), "testdata", name))
	require.NoError(t, err)
	return string(b)
}

// Root returns the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}
