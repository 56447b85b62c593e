package call_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

var repeatRuns = flag.Int("repeats.runs", 500, "how many scenarios TestNoSendIsRepeated draws")

const maxAttempts = 3

// scenario is one call and everything that goes wrong with it. Each seed draws another one from the lists below.
type scenario struct {
	seed      uint64
	protocol  string
	reused    bool // the connection served another call before
	call      variant
	behavior  string        // what the service does with each request: one of serviceBehaviors or frameBehaviors
	transport transportKind // how the client's transport sends a request
	target    string        // of the transport's own requests
	event     string        // of the trace of the first attempt, at which something ends; "" if nothing does
	ends      string        // what ends at the event
}

func drawScenario(seed uint64, calls []variant) (s scenario) {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	s = scenario{seed: seed, protocol: pick([]string{"HTTP/1.1", "HTTP/1.1", "TLS", "HTTP/2", "frames", "frames"}), reused: random.IntN(2) == 0}
	for s.call = calls[random.IntN(len(calls))]; s.call.retried() && random.IntN(3) > 0; {
		s.call = calls[random.IntN(len(calls))] // most calls send mail
	}
	s.behavior, s.transport, s.target = pick(serviceBehaviors), transportKinds[random.IntN(len(transportKinds))], pick(ownTargets)
	if s.protocol == "frames" {
		s.behavior = pick(frameBehaviors)
		s.target = pick([]string{"another host", "a refused host"})
	}
	if random.IntN(3) == 0 {
		s.event, s.ends = pick(slices.Sorted(maps.Keys(traceEvents))), pick([]string{"the call", "the connections", "a context of the transport"})
	}
	return s
}

func (s scenario) String() string {
	return fmt.Sprintf("scenario %d: %s over %s, reused=%t, service: %s, transport: %s, own requests to %s, %s ends at %q",
		s.seed, s.call, s.protocol, s.reused, s.behavior, s.transport.name, s.target, s.ends, s.event)
}

// watched reports whether the client sees the requests of the scenario. Otherwise net/http may repeat one without a body.
func (s scenario) watched() bool {
	return !s.transport.untraced || s.call.hasBody() || s.call.retried()
}

// undisturbed reports whether the service alone decides the outcome of the scenario.
func (s scenario) undisturbed() bool {
	spoilt := s.transport.requestAfter && !s.call.hasBody() && s.call.maxRequests() == 1
	return s.watched() && s.event == "" && s.transport.faithful && !spoilt && s.target != "a refused host" && s.target != "the same host, refused"
}

// result is what a scenario led to.
type result struct {
	err               error
	attempts, slots   int64
	arrived, executed int64 // requests at the service, and those of them that it executed, or may have
}

// rules are the model: each holds for every scenario to which it applies.
var rules = []struct {
	name    string
	applies func(s scenario) bool
	holds   func(s scenario, r result) bool
}{
	{
		name:    "a call makes at most MaxAttempts attempts",
		applies: func(scenario) bool { return true },
		holds:   func(_ scenario, r result) bool { return r.attempts <= maxAttempts },
	}, {
		name:    "an attempt is one request, and at most three if it reads",
		applies: func(s scenario) bool { return s.call.hasBody() || !s.transport.untraced },
		holds:   func(s scenario, r result) bool { return r.arrived <= r.attempts*s.call.maxRequests() },
	}, {
		name: "each attempt of a reminder takes one slot",
		applies: func(s scenario) bool {
			return s.call.call.Op == signforms.OpRemind && !strings.HasPrefix(s.behavior, "429") // after which Take is refused
		},
		holds: func(_ scenario, r result) bool { return r.slots == r.attempts },
	}, {
		name:    "no error is context.Canceled if nothing was cancelled",
		applies: func(s scenario) bool { return s.watched() && s.event == "" },
		holds:   func(_ scenario, r result) bool { return !errors.Is(r.err, context.Canceled) },
	}, {
		name:    "a call that sends is executed once if it succeeds, at most once if its outcome is unknown, otherwise never",
		applies: func(s scenario) bool { return s.watched() && !s.call.retried() },
		holds: func(_ scenario, r result) bool {
			switch {
			case r.err == nil:
				return r.executed == 1
			case errors.Is(r.err, signforms.ErrOutcomeUnknown):
				return r.executed <= 1
			default:
				return r.executed == 0
			}
		},
	}, {
		name:    "a call to a service that works succeeds with one request",
		applies: func(s scenario) bool { return s.undisturbed() && s.behavior == "success" },
		holds:   func(_ scenario, r result) bool { return r.err == nil && r.arrived == 1 },
	}, {
		name: "a refused connection proves that nothing was sent, and is retried",
		applies: func(s scenario) bool {
			return s.undisturbed() && s.behavior == "refused" && !s.reused && s.transport.name == "sends only the request" && (s.call.retried() || s.call.hasBody())
		},
		holds: func(_ scenario, r result) bool {
			return errors.Is(r.err, signforms.ErrUnavailable) && r.attempts == maxAttempts
		},
	}, {
		name:    "a read is retried as long as each attempt fails",
		applies: func(s scenario) bool { return s.undisturbed() && s.call.retried() && s.failsEachAttempt() },
		holds:   func(_ scenario, r result) bool { return r.attempts == maxAttempts },
	},
}

// TestNoSendIsRepeated draws scenarios of what may go wrong between a call and the service, and checks the rules in each:
// no request is on the wire unseen, no mail is sent twice, and each error is true.
func TestNoSendIsRepeated(t *testing.T) {
	lender := httptest.NewTLSServer(nil)
	lender.Close()
	calls := variants(t)
	succeeded, unknown, failed := 0, 0, 0
	for seed := range uint64(clienttest.Long(*repeatRuns, *repeatRuns/10)) {
		synctest.Test(t, func(t *testing.T) {
			s := drawScenario(seed, calls)
			r := s.play(t, lender.TLS.Certificates)
			for _, rule := range rules {
				if rule.applies(s) {
					require.True(t, rule.holds(s, r), "%s: %v, %+v, %v", rule.name, r.err, r, s)
				}
			}
			switch {
			case r.err == nil:
				succeeded++
			case errors.Is(r.err, signforms.ErrOutcomeUnknown):
				unknown++
			default:
				failed++
			}
		})
		if t.Failed() {
			return
		}
	}
	for _, n := range []int{succeeded, unknown, failed} {
		require.Greater(t, n, *repeatRuns/200, "the scenarios lead to all outcomes")
	}
}

// play makes the call of the scenario.
func (s scenario) play(t *testing.T, certificates []tls.Certificate) (r result) {
	service := newRepeatService(s, certificates)
	defer service.close()
	var attempts, slots atomic.Int64
	store := clienttest.NewOddStore()
	store.AfterTake = func() { slots.Add(1) }
	plain, faulty := service.transport(), false
	kind := s.transport.build(service, plain)
	c, err := signforms.New(service.base(), clienttest.APIKey, &signforms.Options{
		MaxAttempts: maxAttempts, LimitStore: store, Endpoints: s.call.endpoints(),
		OnAttempt: func(context.Context, signforms.Attempt) { attempts.Add(1) },
		Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			if !faulty {
				return plain.RoundTrip(req)
			}
			ctx, cancel := context.WithCancel(req.Context())
			defer cancel()
			if s.ends == "a context of the transport" {
				req = req.WithContext(s.atEvent(ctx, cancel))
			}
			return kind.RoundTrip(req)
		}),
	})
	require.NoError(t, err)
	if s.reused {
		require.NoError(t, s.call.call.Do(t.Context(), c), s)
		synctest.Wait() // until the connection is idle
	}
	attempts.Store(0)
	slots.Store(0)
	faulty = true
	service.armed.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch s.ends {
	case "the call":
		ctx = s.atEvent(ctx, cancel)
	case "the connections":
		ctx = s.atEvent(ctx, service.cut)
	}
	r.err = s.call.call.Do(ctx, c)
	time.Sleep(time.Minute) // until all requests under way have arrived or ended
	synctest.Wait()
	r.attempts, r.slots, r.arrived, r.executed = attempts.Load(), slots.Load(), service.arrived.Load(), service.executed.Load()
	return r
}

// atEvent returns a context whose trace calls end at the event of the scenario, once.
func (s scenario) atEvent(ctx context.Context, end func()) context.Context {
	var trace httptrace.ClientTrace
	if s.event != "" {
		traceEvents[s.event](&trace, sync.OnceFunc(end))
	}
	return httptrace.WithClientTrace(ctx, &trace)
}

// variant is an operation with one of its possible methods and places of inputs.
type variant struct {
	call     clienttest.Call
	endpoint signforms.Endpoint
}

func (v variant) String() string {
	return fmt.Sprintf("%s by %s with inputs in %q", v.call.Name, v.endpoint.Method, v.endpoint.Inputs)
}

// places are the Inputs of a Do with a body and of one without.
var places = map[bool]signforms.Inputs{true: signforms.InputsBody, false: signforms.InputsQuery}

func variants(t *testing.T) (all []variant) {
	for _, name := range []string{
		"Documents.List", "Documents.Void", "Documents.Remind", "Templates.Send", "Forms.Send", "Respondents.List", "FormResponses.List",
	} {
		call := clienttest.CallOf(t, name)
		all = append(all, variant{call: call})
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			for _, in := range []signforms.Inputs{signforms.InputsQuery, signforms.InputsBody, signforms.InputsBoth} {
				if method == "GET" && in != signforms.InputsQuery || call.Op == signforms.OpSend && in != signforms.InputsBody {
					continue // refused by New
				}
				all = append(all, variant{call, signforms.Endpoint{Method: method, Inputs: in}})
			}
		}
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for _, body := range []any{nil, []int{1}} {
			if method == "GET" && body != nil {
				continue
			}
			all = append(all, variant{clienttest.Call{Name: "Do", Op: "request", Do: func(ctx context.Context, c *signforms.Client) error {
				return clienttest.Second(c.Do(ctx, signforms.Request{Method: method, Path: "/folders", Body: body}, nil))
			}}, signforms.Endpoint{Method: method, Inputs: places[body != nil]}})
		}
	}
	return all
}

// retried reports whether the call may be retried after a failure.
func (v variant) retried() bool {
	if v.call.Op == "request" {
		return v.endpoint.Method == "GET"
	}
	return !v.call.SendsMail()
}

// isGet reports whether the method is GET, which is the default of lists.
func (v variant) isGet() bool {
	return v.endpoint.Method == "GET" || v.endpoint.Method == "" && v.retried() && v.call.Op != signforms.OpVoidDocument
}

func (v variant) hasBody() bool { return !v.isGet() && v.endpoint.Inputs != signforms.InputsQuery }

// maxRequests is how many requests one attempt may put on the wire.
func (v variant) maxRequests() int64 {
	if v.isGet() && v.retried() && v.call.Op != signforms.OpVoidDocument {
		return 3
	}
	return 1
}

func (v variant) endpoints() map[signforms.Operation]signforms.Endpoint {
	if v.call.Op == "request" {
		return nil
	}
	return map[signforms.Operation]signforms.Endpoint{v.call.Op: v.endpoint}
}

// traceEvents are the events of an attempt at which something may end.
var traceEvents = map[string]func(t *httptrace.ClientTrace, do func()){
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

// serviceBehaviors are what a service of net/http does with each request. With a number it responds with that status and does not
// execute the request.
var serviceBehaviors = []string{"success", "success", "refused", "broken off at its head", "broken off", "never answered", "half an answer", "answer lost",
	"504 of a gateway", "429", "429 once", "503", "307", "404", "200 of a proxy"}

// frameBehaviors break off requests by HTTP/2 frames, which the server of net/http does not offer.
var frameBehaviors = frameBehaviorNames()

func frameBehaviorNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(breakages)) {
		names = append(names, name, name+" at its head")
	}
	return append(names, "success")
}

var breakages = map[string]func(c *http2Conn, stream uint32){
	"PROTOCOL_ERROR":             func(c *http2Conn, stream uint32) { c.reset(stream, codeProtocolError) },
	"REFUSED_STREAM":             func(c *http2Conn, stream uint32) { c.reset(stream, codeRefusedStream) },
	"CANCEL":                     func(c *http2Conn, stream uint32) { c.reset(stream, codeCancel) },
	"INTERNAL_ERROR":             func(c *http2Conn, stream uint32) { c.reset(stream, codeInternalError) },
	"GOAWAY":                     func(c *http2Conn, stream uint32) { c.goAway(stream-1, 0) },
	"GOAWAY with PROTOCOL_ERROR": func(c *http2Conn, stream uint32) { c.goAway(stream-1, codeProtocolError) },
	"GOAWAY after it":            func(c *http2Conn, stream uint32) { c.goAway(stream, 0); c.hangUp() },
	"closed connection":          func(c *http2Conn, _ uint32) { c.hangUp() },
}

// enough is the number of requests after which the service responds with a success, so that a run ends.
const enough = 50

// ownTargets are where a transport's own requests go: for a token, to resolve a host, for a control plane.
var ownTargets = []string{"the same host", "another host", "the same host by another transport", "a refused host", "the same host, refused"}

// ownRequest makes a request of the transport's own, with the context of a call.
func (s *repeatService) ownRequest(ctx context.Context, tr *http.Transport) error {
	if ctx.Value(noOwnRequest{}) != nil {
		return nil
	}
	ctx, address := context.WithValue(ctx, noOwnRequest{}, true), s.base()
	switch s.scenario.target {
	case "another host":
		address = strings.Replace(address, "example.com", "token.test", 1)
	case "a refused host":
		address = strings.Replace(address, "example.com", "refused.test", 1)
	case "the same host by another transport":
		tr = s.transport()
	case "the same host, refused":
		tr = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
	}
	return get(ctx, tr, address+"/own")
}

// noOwnRequest marks the context of an own request, so that its connection needs no other.
type noOwnRequest struct{}

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

// transportKind is a way in which a transport sends a request.
type transportKind struct {
	name         string
	faithful     bool // it sends the request that it is given, once, and its trace reports this
	requestAfter bool // it makes a request of its own afterwards
	untraced     bool // the trace of the call reports nothing of the request
	send         func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error)
}

func (k transportKind) build(s *repeatService, tr *http.Transport) http.RoundTripper {
	if k.name == "after an own request when dialling" {
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if s.armed.Load() {
				if err := s.ownRequest(ctx, tr); err != nil {
					return nil, err
				}
			}
			return dial(ctx, network, address)
		}
	}
	return clienttest.Transport(func(req *http.Request) (*http.Response, error) { return k.send(s, tr, req) })
}

func sendOnly(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
	return tr.RoundTrip(req)
}

// transportKinds are what transports do with a request, or instead of it.
var transportKinds = []transportKind{
	{name: "sends only the request", faithful: true, send: sendOnly},
	{name: "after an own request when dialling", faithful: true, send: sendOnly},
	{name: "after an own request", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.ownRequest(req.Context(), tr)
		return tr.RoundTrip(req)
	}},
	{name: "after two own requests", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if err := errors.Join(s.ownRequest(req.Context(), tr), s.ownRequest(req.Context(), tr)); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "with an own request when connected", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		once := sync.OnceValue(func() error { return s.ownRequest(req.Context(), tr) })
		return tr.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { _ = once() },
		})))
	}},
	{name: "with an own request when its body is read", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if req.Body == nil {
			return tr.RoundTrip(req)
		}
		req = req.Clone(req.Context())
		req.Body = &ownRequestBody{ReadCloser: req.Body, request: func() error { return s.ownRequest(req.Context(), tr) }}
		return tr.RoundTrip(req)
	}},
	{name: "before an own request", faithful: true, requestAfter: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := tr.RoundTrip(req)
		if own := s.ownRequest(req.Context(), tr); err != nil {
			return nil, errors.Join(err, own)
		}
		return resp, nil
	}},
	{name: "with its body logged", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		return tr.RoundTrip(withCopy(req))
	}},
	{name: "after a dump", faithful: true, send: func(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		if _, err := httputil.DumpRequestOut(req, true); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "after an own request and a dump without its body", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.ownRequest(req.Context(), tr)
		if _, err := httputil.DumpRequestOut(req, false); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	}},
	{name: "before a dump", faithful: true, send: func(_ *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := tr.RoundTrip(req)
		logged := req.Clone(req.Context())
		logged.Body, logged.ContentLength = nil, 0
		if _, failed := httputil.DumpRequestOut(logged, false); err == nil && failed != nil {
			return nil, failed
		}
		return resp, err
	}},
	{name: "after an own request and Write of a clone", faithful: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.ownRequest(req.Context(), tr)
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
	{name: "after an own request with its headers", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		own := req.Clone(req.Context())
		own.Method, own.URL.Path, own.Body, own.ContentLength = "GET", "/own", nil, 0
		if s.scenario.target == "another host" || s.scenario.protocol == "frames" { // which ignores paths
			own.URL.Host, own.Host = "token.test", ""
		}
		if resp, err := tr.RoundTrip(own); err == nil {
			_ = resp.Body.Close()
		}
		return tr.RoundTrip(req)
	}},
	{name: "without trace, after an own request", untraced: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.ownRequest(req.Context(), tr)
		return untraced(tr, req)
	}},
	{name: "without trace, before an own request", untraced: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		resp, err := untraced(tr, req)
		own := s.ownRequest(req.Context(), tr)
		if err == nil {
			return resp, nil
		}
		if strings.HasPrefix(s.scenario.target, "the same host") { // whose error alone would be that of the call
			own = errors.Join(own, err)
		}
		return nil, cmp.Or(own, err)
	}},
	{name: "without trace, with both errors", untraced: true, send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		req = withCopy(req)
		own := s.ownRequest(req.Context(), tr)
		resp, err := untraced(tr, req)
		if err != nil {
			return nil, fmt.Errorf("first: %w; second: %v", own, err)
		}
		return resp, nil
	}},
	{name: "in a tunnel, after an own request", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		dump, _ := httputil.DumpRequest(req, true)
		own := s.ownRequest(req.Context(), tr)
		tunnel, _ := http.NewRequestWithContext(req.Context(), "POST", s.base()+"/tunnel", io.NopCloser(bytes.NewReader(dump)))
		resp, err := tr.RoundTrip(tunnel)
		if err != nil {
			return nil, errors.Join(err, own)
		}
		return resp, nil
	}},
	{name: "without its body", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Body, req.ContentLength = nil, 0
		return tr.RoundTrip(req)
	}},
	{name: "so that net/http can repeat it", send: func(s *repeatService, tr *http.Transport, req *http.Request) (*http.Response, error) {
		_ = s.ownRequest(req.Context(), tr)
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

// ownRequestBody makes an own request after the first read.
type ownRequestBody struct {
	io.ReadCloser
	request func() error
	done    bool
}

func (b *ownRequestBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if !b.done {
		b.done = true
		_ = b.request()
	}
	return n, err
}

// repeatService is the service of a scenario, over connections in memory. It counts the requests that arrive after it is armed,
// except the transport's own, and those of them that it executed, or may have.
type repeatService struct {
	scenario          scenario
	armed             atomic.Bool
	arrived, executed atomic.Int64

	certificates []tls.Certificate
	server       http.Server
	accepted     chan net.Conn
	ended        chan struct{}
	clients      []*http.Transport

	mu    sync.Mutex
	conns []net.Conn
}

func newRepeatService(sc scenario, certificates []tls.Certificate) *repeatService {
	s := &repeatService{scenario: sc, certificates: certificates, accepted: make(chan net.Conn), ended: make(chan struct{})}
	s.server.Handler, s.server.ErrorLog = s, log.New(io.Discard, "", 0)
	switch sc.protocol {
	case "HTTP/1.1":
		go func() { _ = s.server.Serve(s) }()
	case "TLS", "HTTP/2":
		s.server.TLSConfig = &tls.Config{Certificates: certificates}
		s.server.Protocols = new(http.Protocols)
		s.server.Protocols.SetHTTP1(sc.protocol == "TLS")
		s.server.Protocols.SetHTTP2(sc.protocol == "HTTP/2")
		go func() { _ = s.server.ServeTLS(s, "", "") }()
	}
	return s
}

func (s *repeatService) base() string {
	if s.scenario.protocol == "TLS" || s.scenario.protocol == "HTTP/2" {
		return "https://example.com"
	}
	return "http://example.com"
}

// transport returns a new one to the service.
func (s *repeatService) transport() *http.Transport {
	tr := &http.Transport{DialContext: s.dial, Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	tr.Protocols.SetHTTP1(s.scenario.protocol == "HTTP/1.1" || s.scenario.protocol == "TLS")
	tr.Protocols.SetHTTP2(s.scenario.protocol == "HTTP/2")
	tr.Protocols.SetUnencryptedHTTP2(s.scenario.protocol == "frames")
	s.clients = append(s.clients, tr)
	return tr
}

func (s *repeatService) dial(ctx context.Context, _, address string) (net.Conn, error) {
	main := strings.HasPrefix(address, "example.com:")
	if strings.HasPrefix(address, "refused.test:") || s.armed.Load() && main && s.scenario.behavior == "refused" || s.arrived.Load() > enough {
		err := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.ConnectDone != nil {
			trace.ConnectDone("tcp", address, err) // as a net.Dialer reports it
		}
		return nil, err
	}
	client, server := net.Pipe()
	s.mu.Lock()
	s.conns = append(s.conns, server)
	s.mu.Unlock()
	switch {
	case s.scenario.protocol != "frames":
		select {
		case s.accepted <- server:
		case <-s.ended:
		}
	case main:
		go s.frames().serve(server)
	default:
		token := &http2Service{head: func(*http2Conn, uint32) {}, end: func(c *http2Conn, stream uint32) { c.answer(stream, "{}") }}
		go token.serve(server)
	}
	return client, nil
}

// Accept, Close and Addr make the service its own listener.
func (s *repeatService) Accept() (net.Conn, error) {
	select {
	case c := <-s.accepted:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

func (s *repeatService) Close() error   { return nil }
func (s *repeatService) Addr() net.Addr { return &net.TCPAddr{} }

// cut closes all connections.
func (s *repeatService) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

func (s *repeatService) close() {
	close(s.ended)
	for _, tr := range s.clients {
		tr.CloseIdleConnections()
	}
	_ = s.server.Close()
	s.cut()
}

// failsEachAttempt reports whether the service fails every attempt of a read.
func (s scenario) failsEachAttempt() bool {
	_, frames := breakages[strings.TrimSuffix(s.behavior, " at its head")]
	return frames || slices.Contains([]string{"broken off", "answer lost", "503", "429"}, s.behavior)
}

// frames serves HTTP/2 frame by frame: a stream is a request.
func (s *repeatService) frames() *http2Service {
	name, early := strings.CutSuffix(s.scenario.behavior, " at its head")
	breakOff := breakages[name]
	return &http2Service{
		head: func(c *http2Conn, stream uint32) {
			if !s.armed.Load() {
				return
			}
			n := s.arrived.Add(1)
			if n > enough || name != "GOAWAY" && name != "GOAWAY with PROTOCOL_ERROR" { // which exclude the stream
				s.executed.Add(1)
			}
			if n <= enough && early {
				breakOff(c, stream)
			}
		},
		end: func(c *http2Conn, stream uint32) {
			if !s.armed.Load() || breakOff == nil || s.arrived.Load() > enough {
				c.answer(stream, clienttest.AnyAnswer)
			} else if !early {
				breakOff(c, stream)
			}
		},
	}
}

// ServeHTTP is the service for all protocols but frames.
func (s *repeatService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	behavior := s.scenario.behavior
	if r.URL.Path == "/own" || !s.armed.Load() {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
		return
	}
	n := s.arrived.Add(1)
	status, err := strconv.Atoi(strings.TrimSuffix(behavior, " once"))
	if strings.HasSuffix(behavior, " once") && n > 1 || n > enough {
		behavior, err = "success", errors.New("no status")
	}
	if err != nil {
		s.executed.Add(1)
	}
	if behavior == "broken off at its head" {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case err == nil:
		w.WriteHeader(status)
	case behavior == "success" || behavior == "refused":
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
	case behavior == "broken off":
		panic(http.ErrAbortHandler)
	case behavior == "never answered":
		select {
		case <-r.Context().Done():
		case <-s.ended:
		}
	case behavior == "504 of a gateway":
		w.WriteHeader(http.StatusGatewayTimeout)
	case behavior == "200 of a proxy":
		_, _ = io.WriteString(w, "<html>")
	default: // half an answer, or none of a body that was announced
		w.Header().Set("Content-Length", "1000")
		if behavior == "half an answer" {
			_, _ = io.WriteString(w, `{"message":`)
		}
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	}
}
