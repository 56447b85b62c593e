package call_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// sending is a call that an attempt sends in one of the ways in which net/http treats requests differently.
type sending struct {
	name string
	call clienttest.Call
	// endpoints are set for calls without a body, most is how often net/http may send the request in one attempt.
	endpoints map[signforms.Operation]signforms.Endpoint
	most      int64
	length    string // Content-Length; empty for none
}

func sendings(t *testing.T) []sending {
	post := func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Do(ctx, signforms.Request{Method: "POST", Path: "/folders"}, nil))
	}
	query := func(op signforms.Operation, method string) map[signforms.Operation]signforms.Endpoint {
		return map[signforms.Operation]signforms.Endpoint{op: {Method: method, Inputs: signforms.InputsQuery}}
	}
	list, void, remind := clienttest.CallOf(t, "Documents.List"), clienttest.CallOf(t, "Documents.Void"), clienttest.CallOf(t, "Documents.Remind")
	return []sending{
		{name: "list", call: list, most: 3},
		{name: "list by POST without a body", call: list, endpoints: query(list.Op, "POST"), most: 1, length: "0"},
		{name: "send", call: clienttest.CallOf(t, "Templates.Send"), most: 1},
		{name: "reminder without a body", call: remind, endpoints: query(remind.Op, "POST"), most: 1, length: "0"},
		{name: "reminder by GET", call: remind, endpoints: query(remind.Op, "GET"), most: 1},
		{name: "void", call: void, most: 1},
		{name: "void without a body", call: void, endpoints: query(void.Op, "PUT"), most: 1, length: "0"},
		{name: "void by GET", call: void, endpoints: query(void.Op, "GET"), most: 1},
		{name: "void by DELETE", call: void, endpoints: query(void.Op, "DELETE"), most: 1},
		{name: "Do without a body", call: clienttest.Call{Name: "Client.Do", Op: "request", Do: post}, most: 1, length: "0"},
	}
}

func (s sending) mails() bool { return s.call.SendsMail() || s.call.Op == "request" }

func (s sending) hasBody() bool { return s.endpoints == nil && (s.name == "send" || s.name == "void") }

// client returns a client that makes one attempt.
func (s sending) client(t *testing.T, url string, transport http.RoundTripper) *signforms.Client {
	o := clienttest.Options(nil)
	o.Transport, o.Endpoints, o.MaxAttempts = transport, s.endpoints, 1
	c, err := signforms.New(url, clienttest.APIKey, o)
	require.NoError(t, err)
	return c
}

// TestRequest_framing: a request without a body is framed as net/http frames one of its own, over both protocols.
func TestRequest_framing(t *testing.T) {
	type seen struct {
		*http.Request
		body string
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		var got seen
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = seen{r, string(body)}
			io.WriteString(w, clienttest.AnyAnswer)
		}))
		srv.EnableHTTP2 = protocol == "HTTP/2.0"
		srv.StartTLS()
		defer srv.Close()
		for _, s := range sendings(t) {
			t.Run(protocol+"/"+s.name, func(t *testing.T) {
				c := s.client(t, srv.URL, srv.Client().Transport)
				require.NoError(t, s.call.Do(t.Context(), c))
				require.Equal(t, protocol, got.Proto)
				require.Empty(t, got.TransferEncoding)
				if s.hasBody() {
					require.EqualValues(t, len(got.body), got.ContentLength)
					require.NotEmpty(t, got.body)
				} else {
					require.Zero(t, got.ContentLength, "-1 means that a length was not announced")
					require.Equal(t, s.length, got.Header.Get("Content-Length"))
					require.Empty(t, got.Header.Get("Content-Type"))
				}
				noCache := map[bool]string{true: "no-cache"}
				require.Equal(t, noCache[s.call.Op == signforms.OpListDocuments], got.Header.Get("Cache-Control"))
			})
		}
	}
}

// TestRequest_sentAgainOverHTTP2 counts the streams of one attempt where the service resets or refuses each.
func TestRequest_sentAgainOverHTTP2(t *testing.T) {
	for fate, breakOff := range breakages {
		for _, s := range sendings(t) {
			for _, early := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/at its head=%t", fate, s.name, early), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var streams int64
						service := &http2Service{head: func(c *http2Conn, stream uint32) {
							if streams++; early {
								breakOff(c, stream)
							}
						}, end: func(c *http2Conn, stream uint32) {
							if !early {
								breakOff(c, stream)
							}
						}}
						err := s.call.Do(t.Context(), s.client(t, "http://service.test", service.transport(t)))
						require.LessOrEqual(t, streams, s.most)
						if fate == "PROTOCOL_ERROR" || fate == "REFUSED_STREAM" {
							require.Equal(t, s.most, streams)
						}
						require.NotErrorIs(t, err, context.Canceled)
						require.NotContains(t, err.Error(), "GetBody")
						kind := signforms.ErrUnavailable // also for what was proved not to have been accepted
						if s.mails() && !(s.hasBody() && fate == "GOAWAY") {
							kind = signforms.ErrOutcomeUnknown
						}
						clienttest.RequireMatches(t, err, kind)
						if s.most > 1 && streams == s.most {
							require.ErrorContains(t, err, "the request was sent 3 times and each time lost without a response")
						}
					})
				})
			}
		}
	}
}

// TestGoAway_provesThatNothingWasAccepted: a send or reminder whose stream is above the last one of a GOAWAY is repeated,
// and a reminder's slot is free again. REFUSED_STREAM, and a GOAWAY that names the stream, prove nothing.
func TestGoAway_provesThatNothingWasAccepted(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		for _, row := range []struct {
			fate  string
			proof bool
		}{{fate: "GOAWAY", proof: true}, {fate: "GOAWAY after it", proof: false}, {fate: "REFUSED_STREAM", proof: false}} {
			for _, used := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/used=%t", name, row.fate, used), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						armed, streams := false, 0
						service := &http2Service{head: func(*http2Conn, uint32) { streams++ }, end: func(c *http2Conn, stream uint32) {
							if armed {
								armed = false
								breakages[row.fate](c, stream)
								return
							}
							c.answer(stream, clienttest.AnyAnswer)
						}}
						o := clienttest.Options(nil)
						o.Transport = service.transport(t)
						c, err := signforms.New("http://service.test", clienttest.APIKey, o)
						require.NoError(t, err)
						if used {
							require.NoError(t, clienttest.CallOf(t, "Documents.List").Do(t.Context(), c))
							synctest.Wait()
						}
						armed, streams = true, 0
						err = clienttest.CallOf(t, name).Do(t.Context(), c)
						budget, failed := c.Documents.ReminderBudget(t.Context())
						require.NoError(t, failed)
						if !row.proof {
							clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
							require.Equal(t, 1, streams)
							return
						}
						require.NoError(t, err)
						require.Equal(t, 2, streams)
						if name == "Documents.Remind" {
							require.Equal(t, 4, budget.Remaining, "only the second attempt holds a slot")
						}
					})
				})
			}
		}
	}
}

// TestGoAway_text pins the text of net/http that is the proof. Where a new version of Go changes it, call.goAwayText has
// to change too.
func TestGoAway_text(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &http2Service{head: func(*http2Conn, uint32) {}, end: breakages["GOAWAY"]}
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://service.test", io.NopCloser(strings.NewReader("x")))
		require.NoError(t, err)
		_, err = service.transport(t).RoundTrip(req)
		require.EqualError(t, err, "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] "+
			"after Request.Body was written; define Request.GetBody to avoid this error")
	})
}

// TestGoAway_ofAnotherRequest: the text proves nothing where the transport has sent another request of its own.
func TestGoAway_ofAnotherRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		service := &http2Service{head: func(*http2Conn, uint32) {}, end: func(c *http2Conn, stream uint32) {
			if requests++; requests == 1 {
				c.hangUp()
				return
			}
			breakages["GOAWAY"](c, stream)
		}}
		tr := service.transport(t)
		err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.URL.Scheme, req.URL.Host = "http", "service.test"
			_, err := tr.RoundTrip(req)
			require.Error(t, err)
			side, _ := http.NewRequestWithContext(req.Context(), "POST", "http://service.test/log", io.NopCloser(strings.NewReader("x")))
			_, err = tr.RoundTrip(side)
			require.ErrorContains(t, err, "graceful shutdown GOAWAY")
			return nil, err
		})))
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
	})
}

// TestProxy_refusedConnect: an error says who refused.
func TestProxy_refusedConnect(t *testing.T) {
	for _, status := range []int{403, 407, 500, 503} {
		for _, name := range []string{"Documents.List", "Templates.Send"} {
			t.Run(fmt.Sprint(status, "/", name), func(t *testing.T) {
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
				defer proxy.Close()
				address, err := url.Parse(proxy.URL)
				require.NoError(t, err)
				c := clienttest.Scripted(t, &http.Transport{Proxy: http.ProxyURL(address)})
				err = clienttest.CallOf(t, name).Do(t.Context(), c)
				clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
				require.ErrorContains(t, err, "unavailable: the proxy refused to connect to the service: "+http.StatusText(status)+" (after 4 attempts)")
			})
		}
	}
}

// transport returns one over HTTP/2 without TLS.
func (s *http2Service) transport(t *testing.T) *http.Transport {
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		t.Cleanup(func() { server.Close() })
		go s.serve(server)
		return client, nil
	}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// TestRequest_sentAgainOverHTTP1 opens a connection for each of six calls. Then the service closes each connection on which
// a second request arrives, and net/http uses the next idle connection.
func TestRequest_sentAgainOverHTTP1(t *testing.T) {
	const idle = 6
	for _, s := range sendings(t) {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var warm sync.WaitGroup
				warm.Add(idle)
				service := &wireService{}
				service.behave = func(service *wireService, c net.Conn) {
					r := bufio.NewReader(c)
					if _, err := service.read(r); err != nil {
						return
					}
					warm.Done()
					warm.Wait()
					write(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(clienttest.AnyAnswer), clienttest.AnyAnswer))
					_, _ = service.read(r)
				}
				c := service.client(t, "http", func(tr *http.Transport, o *signforms.Options) {
					tr.MaxIdleConnsPerHost, o.Endpoints, o.MaxAttempts, o.ReminderMaxWait = idle, s.endpoints, 1, -1
				})
				var calls sync.WaitGroup
				for range idle {
					calls.Go(func() { _ = clienttest.CallOf(t, "Documents.Get").Do(t.Context(), c) })
				}
				calls.Wait()
				synctest.Wait()
				require.Len(t, service.requests(), idle)
				err := s.call.Do(t.Context(), c)
				synctest.Wait()
				require.EqualValues(t, s.most, len(service.requests())-idle)
				require.NotErrorIs(t, err, context.Canceled)
				require.Error(t, err)
			})
		})
	}
}

// rehearsals are what logging transports do with a request before or after they send it.
var rehearsals = map[string]func(tr http.RoundTripper, req *http.Request) (*http.Response, error){
	"DumpRequestOut": func(tr http.RoundTripper, req *http.Request) (*http.Response, error) {
		if _, err := httputil.DumpRequestOut(req, true); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	},
	"DumpRequestOut without the body": func(tr http.RoundTripper, req *http.Request) (*http.Response, error) {
		if _, err := httputil.DumpRequestOut(req, false); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	},
	"DumpRequestOut before and after": func(tr http.RoundTripper, req *http.Request) (*http.Response, error) {
		if _, err := httputil.DumpRequestOut(req, true); err != nil {
			return nil, err
		}
		logged := withCopy(req)
		req.Body = logged.Body
		resp, err := tr.RoundTrip(req)
		logged.Body, logged.ContentLength = nil, 0
		if _, failed := httputil.DumpRequestOut(logged, false); failed != nil {
			return nil, failed
		}
		return resp, err
	},
	"Write of a clone": func(tr http.RoundTripper, req *http.Request) (*http.Response, error) {
		logged := req.Clone(req.Context())
		if req.Body != nil {
			body, _ := io.ReadAll(req.Body)
			req, logged.Body = req.Clone(req.Context()), io.NopCloser(strings.NewReader(string(body)))
			req.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		if err := logged.Write(io.Discard); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	},
	"another request, then Write of a clone": func(tr http.RoundTripper, req *http.Request) (*http.Response, error) {
		if err := get(req.Context(), tr, "https://"+req.URL.Host+"/token"); err != nil {
			return nil, err
		}
		logged := req.Clone(req.Context())
		logged.Body, logged.ContentLength = nil, 0
		if err := logged.Write(io.Discard); err != nil {
			return nil, err
		}
		return tr.RoundTrip(req)
	},
}

// TestDump_isNotASend: a request that is rehearsed for a log is sent once, and so are five reminders in a row.
func TestDump_isNotASend(t *testing.T) {
	forEachRehearsal(t, func(t *testing.T, s sending, c *signforms.Client, arrived *atomic.Int64) {
		for n := range int64(5) {
			require.NoError(t, s.call.Do(t.Context(), c))
			require.Equal(t, n+1, arrived.Load())
		}
	}, func(rehearse, tr http.RoundTripper) http.RoundTripper { return rehearse })
}

// TestDump_hidesNoRepeatedRequest: a transport that sends a request twice is stopped after a rehearsal too.
func TestDump_hidesNoRepeatedRequest(t *testing.T) {
	forEachRehearsal(t, func(t *testing.T, s sending, c *signforms.Client, arrived *atomic.Int64) {
		err := s.call.Do(t.Context(), c)
		require.Error(t, err)
		require.EqualValues(t, 1, arrived.Load())
	}, func(rehearse, tr http.RoundTripper) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			again := withCopy(req)
			if req.Body != nil {
				body, _ := io.ReadAll(again.Body)
				req = again.Clone(req.Context())
				req.Body, again.Body = io.NopCloser(strings.NewReader(string(body))), io.NopCloser(strings.NewReader(string(body)))
			}
			if resp, err := rehearse.RoundTrip(req); err == nil {
				_ = resp.Body.Close()
			}
			return tr.RoundTrip(again)
		})
	})
}

func forEachRehearsal(t *testing.T, try func(*testing.T, sending, *signforms.Client, *atomic.Int64), wrap func(rehearse, tr http.RoundTripper) http.RoundTripper) {
	for _, http2 := range []bool{false, true} {
		var arrived atomic.Int64
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/token" {
				arrived.Add(1)
			}
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, clienttest.AnyAnswer)
		}))
		srv.EnableHTTP2 = http2
		srv.StartTLS()
		defer srv.Close()
		for name, rehearse := range rehearsals {
			for _, s := range sendings(t) {
				if s.most > 1 {
					continue // a read may be repeated
				}
				t.Run(fmt.Sprintf("HTTP2=%t/%s/%s", http2, name, s.name), func(t *testing.T) {
					arrived.Store(0)
					tr := srv.Client().Transport
					transport := wrap(clienttest.Transport(func(req *http.Request) (*http.Response, error) { return rehearse(tr, req) }), tr)
					try(t, s, s.client(t, srv.URL, transport), &arrived)
				})
			}
		}
	}
}
