package call_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

const maxTries = 3

// placement is an operation with a method and a place of inputs that it can have.
type placement struct {
	call     clienttest.Call
	endpoint signforms.Endpoint
}

func (p placement) String() string {
	return fmt.Sprintf("%s by %s with inputs in %q", p.call.Name, p.endpoint.Method, p.endpoint.Inputs)
}

// places are where a Do has its inputs, with a body or without.
var places = map[bool]signforms.Inputs{true: signforms.InputsBody, false: signforms.InputsQuery}

func placements(t *testing.T) (all []placement) {
	for _, name := range []string{
		"Documents.List", "Documents.Void", "Documents.Remind", "Templates.Send", "Forms.Send", "Respondents.List", "FormResponses.List",
	} {
		call := clienttest.CallOf(t, name)
		all = append(all, placement{call: call})
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			for _, in := range []signforms.Inputs{signforms.InputsQuery, signforms.InputsBody, signforms.InputsBoth} {
				if method == "GET" && in != signforms.InputsQuery || call.Op == signforms.OpSend && in != signforms.InputsBody {
					continue // refused by New
				}
				all = append(all, placement{call, signforms.Endpoint{Method: method, Inputs: in}})
			}
		}
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for _, body := range []any{nil, []int{1}} {
			if method == "GET" && body != nil {
				continue
			}
			all = append(all, placement{clienttest.Call{Name: "Do", Op: "request", Do: func(ctx context.Context, c *signforms.Client) error {
				return clienttest.Second(c.Do(ctx, signforms.Request{Method: method, Path: "/folders", Body: body}, nil))
			}}, signforms.Endpoint{Method: method, Inputs: places[body != nil]}})
		}
	}
	return all
}

// repeats tells whether the call may be tried again.
func (p placement) repeats() bool {
	if p.call.Op == "request" {
		return p.endpoint.Method == "GET"
	}
	return !p.call.SendsMail()
}

// isGet tells whether it is a GET, as lists are where no endpoint says otherwise.
func (p placement) isGet() bool {
	return p.endpoint.Method == "GET" || p.endpoint.Method == "" && p.repeats() && p.call.Op != signforms.OpVoidDocument
}

func (p placement) hasBody() bool { return !p.isGet() && p.endpoint.Inputs != signforms.InputsQuery }

// mostSendings is how many requests one attempt may put on the wire.
func (p placement) mostSendings() int64 {
	if p.isGet() && p.repeats() && p.call.Op != signforms.OpVoidDocument {
		return 3
	}
	return 1
}

func (p placement) endpoints() map[signforms.Operation]signforms.Endpoint {
	if p.call.Op == "request" {
		return nil
	}
	return map[signforms.Operation]signforms.Endpoint{p.call.Op: p.endpoint}
}

// moments of an attempt.
var moments = map[string]func(t *httptrace.ClientTrace, do func()){
	"GetConn":           func(t *httptrace.ClientTrace, do func()) { t.GetConn = func(string) { do() } },
	"TLSHandshakeStart": func(t *httptrace.ClientTrace, do func()) { t.TLSHandshakeStart = do },
	"TLSHandshakeDone": func(t *httptrace.ClientTrace, do func()) {
		t.TLSHandshakeDone = func(tls.ConnectionState, error) { do() }
	},
	"GotConn":              func(t *httptrace.ClientTrace, do func()) { t.GotConn = func(httptrace.GotConnInfo) { do() } },
	"WroteHeaderField":     func(t *httptrace.ClientTrace, do func()) { t.WroteHeaderField = func(string, []string) { do() } },
	"WroteHeaders":         func(t *httptrace.ClientTrace, do func()) { t.WroteHeaders = do },
	"WroteRequest":         func(t *httptrace.ClientTrace, do func()) { t.WroteRequest = func(httptrace.WroteRequestInfo) { do() } },
	"GotFirstResponseByte": func(t *httptrace.ClientTrace, do func()) { t.GotFirstResponseByte = do },
}

var momentNames = slices.Sorted(maps.Keys(moments))

// sides are where a transport's own requests go: for a token, to resolve a host, for a control plane.
var sides = []string{"the same host", "another host", "the same host by another transport", "nobody", "the same host, refused"}

// sideRequest makes one, of the context of a call.
func (s *repeatService) sideRequest(ctx context.Context, tr *http.Transport) error {
	if ctx.Value(noSide{}) != nil {
		return nil
	}
	ctx, address := context.WithValue(ctx, noSide{}, true), s.base()
	switch s.run.side {
	case "another host":
		address = strings.Replace(address, "example.com", "token.test", 1)
	case "nobody":
		address = strings.Replace(address, "example.com", "nobody.test", 1)
	case "the same host by another transport":
		tr = s.transport()
	case "the same host, refused":
		tr = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
	}
	return get(ctx, tr, address+"/side")
}

// noSide marks the context of a side request, so that its own connection needs none.
type noSide struct{}

// get makes a request and reads the answer.
func get(ctx context.Context, tr http.RoundTripper, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// way is how a transport sends a request.
type way struct {
	name   string
	honest bool // it sends what it is given, once, and its trace tells so
	after  bool // it makes a request of its own after that
	hidden bool // net/http reports nothing of the request
	send   func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error)
}

func (w way) build(s *repeatService, tr *http.Transport) http.RoundTripper {
	if w.name == "after a side request when dialling" {
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if s.armed.Load() {
				if err := s.sideRequest(ctx, tr); err != nil {
					return nil, err
				}
			}
			return dial(ctx, network, address)
		}
	}
	return clienttest.Transport(func(req *http.Request) (*http.Response, error) { return w.send(s, tr, req) })
}

func plainly(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
	return tr.RoundTrip(req)
}

// ways: whatever a transport does beside or instead of the request, a call that may have been carried out is never said not
// to have been.
var ways = []way{
	{name: "plainly", honest: true, send: plainly},
	{name: "after a side request when dialling", honest: true, send: plainly},
	{name: "after a side request", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.sideRequest(req.Context(), tr)
		return tr.RoundTrip(req)
	}},
	{name: "after two side requests", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if err := errors.Join(s.sideRequest(req.Context(), tr), s.sideRequest(req.Context(), tr)); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "with a side request when connected", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		once := sync.OnceValue(func() error { return s.sideRequest(req.Context(), tr) })
		return tr.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { _ = once() },
		})))
	}},
	{name: "with a side request when its body is read", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if req.Body == nil {
			return tr.RoundTrip(req)
		}
		req = req.Clone(req.Context())
		req.Body = &sideBody{ReadCloser: req.Body, side: func() error { return s.sideRequest(req.Context(), tr) }}
		return tr.RoundTrip(req)
	}},
	{name: "before a side request", honest: true, after: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := tr.RoundTrip(req)
		if side := s.sideRequest(req.Context(), tr); err != nil {
			return nil, errors.Join(err, side)
		}
		return resp, nil
	}},
	{name: "with its body logged", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		return tr.RoundTrip(withCopy(req))
	}},
	{name: "after a dump", honest: true, send: func(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if _, err := httputil.DumpRequestOut(req, true); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "after a side request and a dump without its body", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.sideRequest(req.Context(), tr)
		if _, err := httputil.DumpRequestOut(req, false); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "before a dump", honest: true, send: func(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := tr.RoundTrip(req)
		logged := req.Clone(req.Context())
		logged.Body, logged.ContentLength = nil, 0
		if _, failed := httputil.DumpRequestOut(logged, false); err == nil && failed != nil {
			return nil, failed
		}
		return resp, err
	}},
	{name: "after a side request and Write of a clone", honest: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.sideRequest(req.Context(), tr)
		req = withCopy(req)
		logged := req.Clone(req.Context())
		if req.Body != nil {
			body, _ := io.ReadAll(req.Body)
			req.Body, logged.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
		}
		if err := logged.Write(io.Discard); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "after a side request with its headers", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		side := req.Clone(req.Context())
		side.Method, side.URL.Path, side.Body, side.ContentLength = "GET", "/side", nil, 0
		if s.run.side == "another host" || s.run.protocol == "frames" { // which knows no paths
			side.URL.Host, side.Host = "token.test", ""
		}
		if resp, err := tr.RoundTrip(side); err == nil {
			_ = resp.Body.Close()
		}
		return tr.RoundTrip(req)
	}},
	{name: "without trace, after a side request", hidden: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.sideRequest(req.Context(), tr)
		return untraced(tr, req)
	}},
	{name: "without trace, before a side request", hidden: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := untraced(tr, req)
		side := s.sideRequest(req.Context(), tr)
		if err == nil {
			return resp, nil
		}
		if strings.HasPrefix(s.run.side, "the same host") { // whose error alone would be that of the call
			side = errors.Join(side, err)
		}
		return nil, cmp.Or(side, err)
	}},
	{name: "without trace, with both errors", hidden: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		req = withCopy(req)
		side := s.sideRequest(req.Context(), tr)
		resp, err := untraced(tr, req)
		if err != nil {
			return nil, fmt.Errorf("first: %w; second: %v", side, err)
		}
		return resp, nil
	}},
	{name: "in a tunnel, after a side request", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		dump, _ := httputil.DumpRequest(req, true)
		side := s.sideRequest(req.Context(), tr)
		tunnel, _ := http.NewRequestWithContext(req.Context(), "POST", s.base()+"/tunnel", io.NopCloser(bytes.NewReader(dump)))
		resp, err := tr.RoundTrip(tunnel)
		if err != nil {
			return nil, errors.Join(err, side)
		}
		return resp, nil
	}},
	{name: "without its body", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Body, req.ContentLength = nil, 0
		return tr.RoundTrip(req)
	}},
	{name: "so that net/http can repeat it", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.sideRequest(req.Context(), tr)
		if req = req.Clone(req.Context()); req.Body != nil {
			body, _ := io.ReadAll(req.Body)
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			req.Body, _ = req.GetBody()
		}
		req.Header.Set("Idempotency-Key", "1") // without which HTTP/1.1 repeats no POST
		return tr.RoundTrip(req)
	}},
}

func withCopy(req *http.Request) *http.Request {
	if req.Body == nil {
		return req.Clone(req.Context())
	}
	body, _ := io.ReadAll(req.Body)
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	return req
}

// untraced sends a request without the context of the call.
func untraced(tr *http.Transport, req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	resp, err := tr.RoundTrip(withCopy(req.WithContext(ctx)))
	if err == nil {
		body, failed := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), errReader{failed}))
	}
	return resp, err
}

// errReader ends with an error, or with io.EOF for nil.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return 0, io.EOF
}

// sideBody makes a side request after the first read.
type sideBody struct {
	io.ReadCloser
	side func() error
	done bool
}

func (b *sideBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if !b.done {
		b.done = true
		_ = b.side()
	}
	return n, err
}
