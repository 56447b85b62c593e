package call_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// A transport may make requests of its own with the call's context: for a token, to resolve a host, for a control plane. The
// tests here do so at every moment, and hold the client to what it does without them.

// sideService answers calls, and side requests to /side. It counts the calls by x-request-id.
type sideService struct {
	srv *httptest.Server
	mu  sync.Mutex
	ids map[string]int
}

func newSideService(t *testing.T, protocol string) *sideService {
	s := &sideService{ids: map[string]int{}}
	s.srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path != "/side" {
			s.mu.Lock()
			s.ids[r.Header.Get("X-Request-Id")]++
			s.mu.Unlock()
		}
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
	}))
	s.srv.EnableHTTP2 = protocol == "HTTP/2"
	if protocol == "HTTP/1.1" {
		s.srv.Start()
	} else {
		s.srv.StartTLS()
	}
	t.Cleanup(s.srv.Close)
	return s
}

func (s *sideService) arrived() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids
}

// transport returns one of its own for each test.
func (s *sideService) transport(t *testing.T) *http.Transport {
	tr := s.srv.Client().Transport.(*http.Transport).Clone()
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func (s *sideService) client(t *testing.T, tr http.RoundTripper) *signforms.Client {
	o := clienttest.Options(nil)
	o.HTTPClient = &http.Client{Transport: tr}
	c, err := signforms.New(s.srv.URL, clienttest.APIKey, o)
	require.NoError(t, err)
	return c
}

// nobody listens there.
const nobody = "http://127.0.0.1:1"

// get makes a side request and reads the answer.
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

// noSide marks the context of a side request, so that its own connection needs none.
type noSide struct{}

// sideMoments build a transport that makes a side request at a moment of each call. The side request goes through the base
// where it can.
var sideMoments = map[string]func(base *http.Transport, side func(context.Context) error) http.RoundTripper{
	"before": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			if err := side(req.Context()); err != nil {
				return nil, err
			}
			return base.RoundTrip(req)
		})
	},
	"twice before": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			if err := errors.Join(side(req.Context()), side(req.Context())); err != nil {
				return nil, err
			}
			return base.RoundTrip(req)
		})
	},
	"when dialling": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if ctx.Value(noSide{}) == nil {
				if err := side(ctx); err != nil {
					return nil, err
				}
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return base
	},
	"when connected": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			once := sync.OnceValue(func() error { return side(req.Context()) })
			return base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
				GotConn: func(httptrace.GotConnInfo) { _ = once() },
			})))
		})
	},
	"when the body is read": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.Body = &sideBody{ReadCloser: req.Body, side: func() error { return side(req.Context()) }}
			return base.RoundTrip(req)
		})
	},
	"after": func(base *http.Transport, side func(context.Context) error) http.RoundTripper {
		return clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(req)
			return resp, errors.Join(err, side(req.Context()))
		})
	},
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
		err = errors.Join(b.side(), err)
		if errors.Is(err, io.EOF) {
			err = io.EOF
		}
	}
	return n, err
}

// TestSideRequests: whenever a side request is made, and to whom, the call arrives once and succeeds.
func TestSideRequests(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "TLS", "HTTP/2"} {
		for moment, build := range sideMoments {
			for _, to := range []string{"the same host", "another host", "another host by another transport", "the same host by another transport"} {
				t.Run(protocol+"/"+moment+"/"+to, func(t *testing.T) {
					s := newSideService(t, protocol)
					base, address, tr := s.transport(t), s.srv.URL, http.RoundTripper(nil)
					switch to {
					case "another host by another transport":
						other := newSideService(t, protocol)
						address, tr = other.srv.URL, other.transport(t)
					case "the same host by another transport":
						tr = s.transport(t)
					case "another host":
						other := newSideService(t, "HTTP/1.1")
						address = other.srv.URL
					}
					if tr == nil {
						tr = base
					}
					c := s.client(t, build(base, func(ctx context.Context) error {
						return get(context.WithValue(ctx, noSide{}, true), tr, address+"/side")
					}))
					for range 3 { // new connections and used ones
						for _, name := range []string{"Templates.Send", "Documents.Remind"} {
							if name == "Documents.Remind" && moment == "twice before" {
								name = "Forms.Send"
							}
							require.NoError(t, clienttest.CallOf(t, name).Do(t.Context(), c), name)
						}
					}
					require.Len(t, s.arrived(), 6)
					for _, n := range s.arrived() {
						require.Equal(t, 1, n)
					}
				})
			}
		}
	}
}

// TestSideRequestForAProxy: one that is made for the headers of CONNECT.
func TestSideRequestForAProxy(t *testing.T) {
	for _, protocol := range []string{"TLS", "HTTP/2"} {
		s, other := newSideService(t, protocol), newSideService(t, "HTTP/1.1")
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to, err := net.Dial("tcp", r.Host)
			require.NoError(t, err)
			defer to.Close()
			w.WriteHeader(http.StatusOK)
			conn, buffered, err := http.NewResponseController(w).Hijack()
			require.NoError(t, err)
			defer conn.Close()
			go func() { _, _ = io.Copy(to, buffered); _ = to.Close() }()
			_, _ = io.Copy(conn, to)
		}))
		defer proxy.Close()
		base := s.transport(t)
		defer base.CloseIdleConnections()
		at, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		sides := 0
		base.Proxy = http.ProxyURL(at)
		base.GetProxyConnectHeader = func(ctx context.Context, _ *url.URL, _ string) (http.Header, error) {
			sides++
			return nil, get(ctx, other.transport(t), other.srv.URL+"/side")
		}
		c := s.client(t, base)
		require.NoError(t, clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c), protocol)
		require.NoError(t, clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c), protocol)
		require.Len(t, s.arrived(), 2)
		require.Equal(t, 1, sides)
	}
}

// TestSideRequestThatFails: one that got no connection has written nothing, so the call is tried again if the transport gives
// it up, and arrives if the transport goes on. After one that was written, nothing proves that it was not the call itself.
func TestSideRequestThatFails(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer broken.Close()
	for _, c := range []struct {
		side     string
		goesOn   bool
		want     error
		attempts int
	}{
		{nobody, true, nil, 1}, {nobody, false, signforms.ErrUnavailable, 4},
		{broken.URL, true, nil, 1}, {broken.URL, false, signforms.ErrOutcomeUnknown, 1},
	} {
		for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
			s := newSideService(t, protocol)
			base, attempts := s.transport(t), 0
			client := s.client(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				attempts++
				if err := get(req.Context(), base, c.side); err != nil && !c.goesOn {
					return nil, err
				}
				return base.RoundTrip(req)
			}))
			err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), client)
			if c.want == nil {
				require.NoError(t, err)
			} else {
				clienttest.RequireMatches(t, err, c.want)
			}
			require.Equal(t, c.attempts, attempts)
			require.Len(t, s.arrived(), map[bool]int{true: 1}[c.goesOn])
		}
	}
}

// TestSideRequestsProveNothing: whatever a transport does beside or instead of the request, a call that may have been carried
// out is never said not to have been.
func TestSideRequestsProveNothing(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "TLS", "HTTP/2"} {
		for name, send := range map[string]func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error){
			"after a side request": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				_ = get(req.Context(), base, nobody)
				return base.RoundTrip(req)
			},
			"before a side request": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				_, err := base.RoundTrip(req)
				return nil, errors.Join(err, get(req.Context(), base, nobody))
			},
			"by a transport without trace": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				_ = get(req.Context(), base, nobody)
				untraced := req.Clone(context.Background())
				return base.RoundTrip(untraced)
			},
			"with other headers and a copy of the body": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(req.Body)
				other, _ := http.NewRequestWithContext(req.Context(), "POST", broken, bytes.NewReader(body))
				return base.RoundTrip(other)
			},
			"through a tunnel, the host itself being away": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				dump, _ := httputil.DumpRequest(req, true)
				_ = get(req.Context(), base, nobody)
				tunnel, _ := http.NewRequestWithContext(req.Context(), "POST", broken, bytes.NewReader(dump))
				return base.RoundTrip(tunnel)
			},
			"through a tunnel, before a side request": func(base http.RoundTripper, broken string, req *http.Request) (*http.Response, error) {
				dump, _ := httputil.DumpRequest(req, true)
				tunnel, _ := http.NewRequestWithContext(req.Context(), "POST", broken, bytes.NewReader(dump))
				_, err := base.RoundTrip(tunnel)
				return nil, errors.Join(err, get(req.Context(), base, nobody))
			},
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				s := &sideService{}
				s.srv = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
				s.srv.EnableHTTP2 = protocol == "HTTP/2"
				if protocol == "HTTP/1.1" {
					s.srv.Start()
				} else {
					s.srv.StartTLS()
				}
				defer s.srv.Close()
				base, attempts := s.transport(t), 0
				c := s.client(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
					attempts++
					return send(base, s.srv.URL, req)
				}))
				err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c)
				clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				require.Equal(t, 1, attempts)
			})
		}
	}
}

// TestSideRequestWithTheHeaders: a side request that carries the call's headers is not the call where it goes elsewhere. To
// the same address it may be, so the call is stopped before it is written.
func TestSideRequestWithTheHeaders(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "TLS", "HTTP/2"} {
		for _, same := range []bool{false, true} {
			t.Run(fmt.Sprint(protocol, "/", same), func(t *testing.T) {
				s, other := newSideService(t, protocol), newSideService(t, "HTTP/1.1")
				base := s.transport(t)
				base.DisableKeepAlives = protocol != "HTTP/2" // or HTTP/1.1 might write on the connection that it has
				to := other.srv.URL
				if same {
					to = s.srv.URL
				}
				c := s.client(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
					side := req.Clone(req.Context())
					side.URL, _ = url.Parse(to + "/side")
					side.Body, side.ContentLength, side.Host = nil, 0, ""
					resp, err := base.RoundTrip(side)
					if err != nil {
						return nil, err
					}
					_ = resp.Body.Close()
					return base.RoundTrip(req)
				}))
				err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c)
				if !same {
					require.NoError(t, err)
					require.Len(t, s.arrived(), 1)
					return
				}
				clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
				require.Empty(t, s.arrived())
			})
		}
	}
}
