package call_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// breakage is a way in which a service breaks off every request that it was sent.
type breakage struct {
	name  string
	early bool // at the head of a request, not at its end
	do    func(c *http2Conn, stream uint32)
}

func breakages() (all []breakage) {
	for _, early := range []bool{false, true} {
		for name, code := range map[string]uint32{
			"PROTOCOL_ERROR": codeProtocolError, "REFUSED_STREAM": codeRefusedStream, "CANCEL": codeCancel, "INTERNAL_ERROR": codeInternalError,
		} {
			all = append(all, breakage{name, early, func(c *http2Conn, stream uint32) { c.reset(stream, code) }})
		}
		all = append(all,
			breakage{"GOAWAY", early, func(c *http2Conn, _ uint32) { c.goAway(0) }},
			breakage{"GOAWAY with PROTOCOL_ERROR", early, func(c *http2Conn, _ uint32) { c.goAway(codeProtocolError) }},
			breakage{"closed connection", early, func(c *http2Conn, _ uint32) { c.hangUp() }})
	}
	return all
}

// placement is an operation with a method and a place of inputs that it can have.
type placement struct {
	call     clienttest.Call
	endpoint signforms.Endpoint
}

func (p placement) String() string {
	return fmt.Sprintf("%s by %s with inputs in %d", p.call.Name, p.endpoint.Method, p.endpoint.Inputs)
}

// placements starts with those by default.
func placements(t *testing.T) (all []placement) {
	for _, name := range []string{
		"Documents.List", "Documents.Void", "Documents.Remind", "Templates.Send", "Templates.Respondents", "Forms.Responses",
	} {
		all = append(all, placement{call: clienttest.CallOf(t, name)})
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			for _, in := range []signforms.Inputs{signforms.InputsQuery, signforms.InputsBody, signforms.InputsQuery | signforms.InputsBody} {
				p := placement{clienttest.CallOf(t, name), signforms.Endpoint{Method: method, Inputs: in}}
				if sends := p.call.Op == signforms.OpSend; method == "GET" && in != signforms.InputsQuery || sends && in != signforms.InputsBody {
					continue // refused by New
				}
				all = append(all, p)
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
			}}, signforms.Endpoint{Method: method}})
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

func (p placement) endpoints() map[signforms.Operation]signforms.Endpoint {
	if p.call.Op == "request" {
		return nil
	}
	return map[signforms.Operation]signforms.Endpoint{p.call.Op: p.endpoint}
}

// tally counts what a call did, by everybody who counts.
type tally struct {
	requests, attempts, slots atomic.Int64
}

const maxTries = 3

// client returns a client whose attempts and slots are counted, over connections to serve.
func (n *tally) client(t *testing.T, scheme string, p placement, transport *http.Transport, serve func(net.Conn)) *signforms.Client {
	t.Helper()
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			serve(server)
		}()
		return client, nil
	}
	t.Cleanup(transport.CloseIdleConnections)
	store := clienttest.NewOddStore()
	store.AfterTake = func() { n.slots.Add(1) } // five are more than are taken here
	client, err := signforms.New(scheme+"://example.com", clienttest.APIKey, &signforms.Options{
		HTTPClient: &http.Client{Transport: transport}, LimitStore: store, MaxAttempts: maxTries,
		Endpoints: p.endpoints(),
		OnAttempt: func(context.Context, signforms.Attempt) { n.attempts.Add(1) },
	})
	require.NoError(t, err)
	return client
}

// warmUp makes a call that succeeds, so that the next finds a connection that was used, and forgets it.
func (n *tally) warmUp(t *testing.T, p placement, c *signforms.Client) {
	t.Helper()
	require.NoError(t, p.call.Do(t.Context(), c))
	synctest.Wait() // until the connection is idle
	n.requests.Store(0)
	n.attempts.Store(0)
	n.slots.Store(0)
}

// requireEqual checks what one call did, of which so many requests are allowed.
func (n *tally) requireEqual(t *testing.T, p placement, want int64, err error) {
	t.Helper()
	require.Equal(t, want, n.requests.Load(), "requests on the wire of %s: %v", p, err)
	require.Equal(t, want, n.attempts.Load(), "attempts reported of %s: %v", p, err)
	if p.call.Op == signforms.OpSendReminder {
		require.Equal(t, want, n.slots.Load(), "slots taken by %s: %v", p, err)
	}
}

// enough is when a service that is sent request after request ends that with a success.
const enough = 50

// Whatever becomes of a request, it is on the wire once for each attempt that the call reports and each slot that it takes.
func TestNoRequestIsRepeatedUnseenOverHTTP2(t *testing.T) {
	for _, b := range breakages() {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/early=%t/used=%t", b.name, b.early, used), func(t *testing.T) {
				for i, p := range placements(t) {
					if i%clienttest.Long(1, 25) != 0 {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						transport := &http.Transport{Protocols: new(http.Protocols)}
						transport.Protocols.SetUnencryptedHTTP2(true) // as over TLS, and no time goes into handshakes
						b.run(t, "http", p, used, transport, func(conn net.Conn) net.Conn { return conn })
					})
				}
			})
		}
	}
}

// The same where net/http finds out by itself that a service speaks HTTP/2.
func TestNoRequestIsRepeatedUnseenOverTLS(t *testing.T) {
	service := httptest.NewTLSServer(nil) // lends its certificate
	service.Close()
	config := &tls.Config{Certificates: service.TLS.Certificates, NextProtos: []string{"h2"}}
	for _, b := range breakages() {
		for i, p := range placements(t) {
			if !reflect.ValueOf(p.endpoint).IsZero() || i%clienttest.Long(1, 3) != 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: service.Client().Transport.(*http.Transport).TLSClientConfig}
				b.run(t, "https", p, false, transport, func(conn net.Conn) net.Conn { return tls.Server(conn, config) })
			})
		}
	}
}

func (b breakage) run(t *testing.T, scheme string, p placement, used bool, transport *http.Transport, secure func(net.Conn) net.Conn) {
	var n tally
	warm := used
	breakOff := func(c *http2Conn, stream uint32) {
		if n.requests.Load() > enough {
			c.answer(stream, clienttest.AnyAnswer)
			return
		}
		b.do(c, stream)
	}
	s := &http2Service{
		head: func(c *http2Conn, stream uint32) {
			if n.requests.Add(1); b.early && !warm {
				breakOff(c, stream)
			}
		},
		end: func(c *http2Conn, stream uint32) {
			switch {
			case warm:
				warm = false
				c.answer(stream, clienttest.AnyAnswer)
			case !b.early:
				breakOff(c, stream)
			}
		},
	}
	client := n.client(t, scheme, p, transport, func(conn net.Conn) { s.serve(secure(conn)) })
	if used {
		n.warmUp(t, p, client)
	}
	err := p.call.Do(t.Context(), client)
	if !p.repeats() {
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		n.requireEqual(t, p, 1, err)
		return
	}
	clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
	n.requireEqual(t, p, maxTries, err)
}

// The same over HTTP/1.1, where net/http repeats requests on a connection that was used before.
func TestNoRequestIsRepeatedUnseenOverHTTP1(t *testing.T) {
	for _, p := range placements(t) {
		synctest.Test(t, func(t *testing.T) {
			var n tally
			s := &wireService{}
			client := n.client(t, "http", p, &http.Transport{}, func(conn net.Conn) { // answers the first request of a connection, and breaks off at the second
				r := bufio.NewReader(conn)
				for i := range 2 {
					if _, err := s.read(r); err != nil {
						return
					}
					if n.requests.Add(1); i == 0 {
						write(conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(clienttest.AnyAnswer), clienttest.AnyAnswer))
					}
				}
			})
			n.warmUp(t, p, client)
			err := p.call.Do(t.Context(), client)
			if !p.repeats() {
				clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				n.requireEqual(t, p, 1, err)
				return
			}
			require.NoError(t, err, "the second attempt gets a new connection")
			n.requireEqual(t, p, 2, nil)
		})
	}
}

// replayable are transports that make net/http repeat requests all the same. The trace sees it.
var replayable = map[string]func(*http.Request){
	"without its body": func(req *http.Request) { req.Body, req.ContentLength, req.TransferEncoding = nil, 0, nil },
	"with a copy of its body": func(req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
		req.Header.Set("Idempotency-Key", "1") // without which HTTP/1.1 repeats no POST
	},
}

// requireStopped makes calls over base, with a side request before each or without.
func requireStopped(t *testing.T, base *http.Transport, change func(*http.Request), side bool, used bool, requests *atomic.Int64) {
	t.Helper()
	for _, name := range []string{"Documents.Remind", "Templates.Send"} {
		first := used
		client := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			if side {
				if err := get(req.Context(), base, "http://token.test/side"); err != nil {
					return nil, err
				}
			}
			req = req.Clone(req.Context())
			req.URL.Scheme = "http"
			if !first {
				change(req)
			}
			first = false
			return base.RoundTrip(req)
		}))
		if used {
			require.NoError(t, clienttest.CallOf(t, "Documents.List").Do(t.Context(), client))
			synctest.Wait() // until the connection is idle
		}
		requests.Store(0)
		err := clienttest.CallOf(t, name).Do(t.Context(), client)
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "the Transport began to send the request a second time, and was stopped; if it was another request of the Transport, take x-request-id out of that")
		require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
		synctest.Wait() // until what was written has arrived
		require.EqualValues(t, 1, requests.Load(), name)
		base.CloseIdleConnections()
	}
}

func TestRepeatedRequestIsStoppedBeforeItIsWritten(t *testing.T) {
	for how, change := range replayable {
		for _, side := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/side=%t", how, side), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var requests atomic.Int64
					s := &http2Service{head: func(c *http2Conn, stream uint32) {
						requests.Add(1)
						c.reset(stream, codeProtocolError)
					}, end: func(*http2Conn, uint32) {}}
					token := &http2Service{head: func(*http2Conn, uint32) {}, end: func(c *http2Conn, stream uint32) { c.answer(stream, "{}") }}
					base := &http.Transport{Protocols: new(http.Protocols), DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
						client, server := net.Pipe()
						t.Cleanup(func() { _ = server.Close() })
						if requests.Load() > enough {
							return nil, errors.New("this would not end")
						}
						if strings.HasPrefix(address, "token.test") {
							go token.serve(server)
						} else {
							go s.serve(server)
						}
						return client, nil
					}}
					base.Protocols.SetUnencryptedHTTP2(true)
					requireStopped(t, base, change, side, false, &requests)
				})
			})
		}
	}
}

// The same over HTTP/1.1, where net/http repeats requests on connections that were used, and writes without a look at the context.
func TestRepeatedRequestIsStoppedOverHTTP1(t *testing.T) {
	for _, side := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var requests atomic.Int64
			s := &wireService{}
			base := &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() {
					defer server.Close()
					for r, i := bufio.NewReader(server), 0; ; i++ { // the service answers one request of a connection
						if _, err := s.read(r); err != nil {
							return
						}
						if token := strings.HasPrefix(address, "token.test"); !token && requests.Add(1) > 0 && i > 0 {
							return
						}
						write(server, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(clienttest.AnyAnswer), clienttest.AnyAnswer))
					}
				}()
				return client, nil
			}}
			requireStopped(t, base, replayable["with a copy of its body"], side, true, &requests)
		})
	}
}

// HTTP/2 may repeat a request on a connection that was made for another call, and then reports no GetConn.
func TestRepeatedRequestIsStoppedOnAConnectionOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(req.Context())
			trace.GetConn("api.example.com:443")
			trace.GotConn(httptrace.GotConnInfo{})
			trace.WroteHeaderField("x-request-id", req.Header["X-Request-Id"])
			trace.GotConn(httptrace.GotConnInfo{})
			return nil, req.Context().Err()
		})))
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "a second time, and was stopped")
	})
}

// Over HTTP/1.1 a request without a body looks as it would without the guard against repeating it.
func TestRequestsWithoutABodyOverHTTP1(t *testing.T) {
	for method, length := range map[string]string{"GET": "", "POST": "0", "PUT": "0", "PATCH": "0", "DELETE": ""} {
		synctest.Test(t, func(t *testing.T) {
			var head []string
			var n tally
			p := placement{clienttest.CallOf(t, "Documents.Void"), signforms.Endpoint{Method: method, Inputs: signforms.InputsQuery}}
			client := n.client(t, "http", p, &http.Transport{}, func(conn net.Conn) {
				for r := bufio.NewReader(conn); ; {
					line, err := r.ReadString('\n')
					if head = append(head, strings.TrimSpace(line)); err != nil || line == "\r\n" {
						break
					}
				}
				write(conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(clienttest.AnyAnswer), clienttest.AnyAnswer))
				extra, _ := io.ReadAll(conn)
				head = append(head, string(extra))
			})
			require.NoError(t, p.call.Do(t.Context(), client))
			require.Equal(t, method+" /void-document?documentId="+clienttest.PDFID+"&documentType=PDF HTTP/1.1", head[0])
			request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.Join(head, "\r\n") + "\r\n")))
			require.NoError(t, err)
			require.Empty(t, request.TransferEncoding, "%s: chunked", method)
			require.Zero(t, request.ContentLength, "%s: a length", method)
			var lengths []string
			for _, line := range head {
				if name, value, _ := strings.Cut(line, ": "); strings.EqualFold(name, "Content-Length") {
					lengths = append(lengths, value)
				}
			}
			require.Equal(t, length, strings.Join(lengths, ", "), "Content-Length of a %s", method)
		})
	}
}
