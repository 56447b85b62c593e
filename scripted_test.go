package signforms_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

const apiURL = "https://api.example.com/base"

// mocked returns a client for which every path answers in the same way.
func mocked(t *testing.T, responder httpmock.Responder) (*signforms.Client, *httpmock.MockTransport) {
	t.Helper()
	mock := httpmock.NewMockTransport()
	for path, method := range map[string]string{
		"/get-documents": "GET", "/void-document": "POST", "/send-reminder": "POST", "/pdf-template-lambda": "POST",
		"/get-template-respondent": "GET", "/get-form-responses": "GET",
	} {
		mock.RegisterResponder(method, apiURL+path, responder)
	}
	return scriptedClient(t, mock), mock
}

// requireUnreadable checks the error of a call whose answer could not be read.
func requireUnreadable(t *testing.T, call aCall, err error, status int) {
	t.Helper()
	require.Equal(t, status, asError(t, err).StatusCode, call.name)
	if notRepeatable(call.op) {
		requireMatches(t, err, signforms.ErrOutcomeUnknown)
	} else {
		requireMatches(t, err, signforms.ErrUnavailable)
	}
}

func TestUnreadableAnswers(t *testing.T) {
	for name, body := range map[string]string{
		"garbage":    "\x00\xff\x13garbage",
		"HTML":       "<!doctype html><title>Sign in</title>",
		"empty":      "",
		"blank":      " \r\n\t",
		"array":      `[{"message":"ok"}]`,
		"null":       "null",
		"text":       `"ok"`,
		"cut JSON":   `{"message":"Document sent`,
		"two values": `{"createdDocumentId":"6afac610c07043658fde1996"}{}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range everyCall {
				c, mock := mocked(t, httpmock.NewStringResponder(200, body))
				err := call.do(t.Context(), c)
				requireUnreadable(t, call, err, 200)
				require.Equal(t, body, string(asError(t, err).Body), "the answer is kept")
				require.Equal(t, 1, mock.GetTotalCallCount(), "garbage does not get better")
			}
		})
	}
	for _, status := range []int{201, 202} {
		for _, call := range everyCall {
			c, _ := mocked(t, httpmock.NewStringResponder(status, ""))
			requireUnreadable(t, call, call.do(t.Context(), c), status)
		}
	}
	for _, call := range everyCall { // a 204 has no body to find in it what is needed
		c, _ := mocked(t, func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil })
		requireUnreadable(t, call, call.do(t.Context(), c), 204)
	}
}

// handlerClient returns a client of a handler over real HTTP, and a count of its requests.
func handlerClient(t *testing.T, handler http.HandlerFunc, change ...func(*signforms.Options)) (*signforms.Client, *atomic.Int64) {
	t.Helper()
	seen := new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		io.Copy(io.Discard, r.Body)
		handler(w, r)
	}))
	t.Cleanup(srv.Close)
	o := testOptions(nil)
	for _, f := range change {
		f(o)
	}
	c, err := signforms.New(srv.URL, exampleKey, o)
	require.NoError(t, err)
	return c, seen
}

func TestTruncatedAnswers(t *testing.T) {
	for _, call := range everyCall {
		c, seen := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"message":"cut`)
		})
		err := call.do(t.Context(), c)
		requireUnreadable(t, call, err, 200)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		want := int64(4)
		if notRepeatable(call.op) {
			want = 1
		}
		require.Equal(t, want, seen.Load(), call.name)
		require.EqualValues(t, want, asError(t, err).Attempts)
	}
}

// TestTruncatedErrors: of an error answer, what came of the body is enough.
func TestTruncatedErrors(t *testing.T) {
	c, _ := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(404)
		io.WriteString(w, "no such")
	})
	for _, call := range everyCall {
		err := call.do(t.Context(), c)
		requireMatches(t, err, signforms.ErrNotFound)
		require.Equal(t, "no such", asError(t, err).Message)
	}
}

// endless gives an answer of size bytes, a JSON object to its end, without holding it.
func endless(status int, size int64) transportFunc {
	return func(req *http.Request) (*http.Response, error) {
		const head, tail = `{"message":"`, `"}`
		body := io.MultiReader(strings.NewReader(head), io.LimitReader(letters{}, size-int64(len(head)+len(tail))), strings.NewReader(tail))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1, Request: req}, nil
	}
}

type letters struct{}

var block = bytes.Repeat([]byte("x"), 64<<10)

func (letters) Read(b []byte) (int, error) { return copy(b, block), nil }

func TestAnswerSizeIsBounded(t *testing.T) {
	const most = 32 << 20
	void := callOf(t, "Documents.Void")
	res, err := scriptedClient(t, endless(200, most)).Documents.Void(t.Context(), signforms.PDF(pdfID))
	require.NoError(t, err)
	require.Len(t, res.Raw, most)

	for _, size := range []int64{most + 1, 1 << 50} {
		attempts := 0
		c := scriptedClient(t, endless(200, size), func(o *signforms.Options) {
			o.OnAttempt = func(context.Context, signforms.Attempt) { attempts++ }
		})
		err := void.do(t.Context(), c)
		requireUnreadable(t, void, err, 200)
		require.EqualError(t, err, "void document: 200: the answer is larger than 32 MiB")
		require.Len(t, asError(t, err).Body, 64<<10)
		require.Equal(t, 1, attempts, "it will not get smaller")
	}
	send := callOf(t, "Forms.Send")
	requireUnreadable(t, send, send.do(t.Context(), scriptedClient(t, endless(200, most+1))), 200)
}

func TestErrorBodyIsBounded(t *testing.T) {
	void := callOf(t, "Documents.Void")
	for _, size := range []int64{64 << 10, 64<<10 + 1, 1 << 50} {
		err := void.do(t.Context(), scriptedClient(t, endless(409, size)))
		requireMatches(t, err, signforms.ErrRefused)
		e := asError(t, err)
		require.Len(t, e.Body, 64<<10)
		require.LessOrEqual(t, len(e.Message), 200)
	}
	// An error that is kept does not keep what was read past its Body.
	before := heap()
	err := void.do(t.Context(), scriptedClient(t, endless(200, 33<<20)))
	require.Less(t, heap()-before, int64(1<<20))
	require.Len(t, asError(t, err).Body, 64<<10)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestRedirectsAreNeverFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, call := range everyCall {
			var elsewhere atomic.Int64
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
			c, seen := handlerClient(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", other.URL+"/moved?token=abc")
				w.WriteHeader(status)
			})
			err := call.do(t.Context(), c)
			other.Close()
			require.Zero(t, elsewhere.Load(), "%s followed a %d", call.name, status)
			require.EqualValues(t, 1, seen.Load())
			e := asError(t, err)
			require.Equal(t, status, e.StatusCode)
			require.Equal(t, "redirected to "+strings.TrimPrefix(other.URL, "http://")+
				", which is never followed: correct the base URL or Options.Endpoints", e.Message)
			if notRepeatable(call.op) {
				requireMatches(t, err, signforms.ErrOutcomeUnknown)
			} else {
				requireMatches(t, err)
			}
		}
	}
	for location, want := range map[string]string{
		"":                            "an unnamed place",
		"/v2/get-documents?query=ann": "another path of the same host",
		"://bad":                      "an unnamed place",
		"https://user:pw@other.example.com/x?q=1": "other.example.com",
	} {
		c, _ := mocked(t, func(req *http.Request) (*http.Response, error) {
			resp := reply(req, 302, "moved")
			resp.Header.Set("Location", location)
			return resp, nil
		})
		err := callOf(t, "Documents.List").do(t.Context(), c)
		require.EqualError(t, err, "list documents: 302: redirected to "+want+", which is never followed: correct the base URL or Options.Endpoints")
	}
}

// TestInformationalAnswers: a 103 is only a hint, a 101 is an answer after which the connection never ends.
func TestInformationalAnswers(t *testing.T) {
	c, _ := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, `{"message":"ok"}`)
	})
	require.NoError(t, callOf(t, "Documents.Void").do(t.Context(), c))

	hijack := func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		t.Cleanup(func() { conn.Close() })
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		rw.Flush()
	}
	for _, call := range everyCall {
		c, _ := handlerClient(t, hijack)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		requireUnreadable(t, call, call.do(ctx, c), 101)
		require.NoError(t, ctx.Err())
		cancel()
	}
}

// bodyCloser fails the reading of a body at a byte, and counts its closing.
type bodyCloser struct {
	io.Reader
	closed int
}

func (b *bodyCloser) Close() error { b.closed++; return nil }

func TestBodiesAreClosed(t *testing.T) {
	broken := errors.New("cable cut")
	for name, body := range map[string]io.Reader{
		"whole":  strings.NewReader(`{"message":"ok"}`),
		"broken": io.MultiReader(strings.NewReader(`{"mess`), errorReader{broken}),
		"huge":   io.LimitReader(letters{}, 40<<20),
	} {
		for _, status := range []int{200, 404, 503} {
			b := &bodyCloser{Reader: body}
			c := scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: b, Request: req}, nil
			}), func(o *signforms.Options) { o.MaxAttempts = 1 })
			_ = callOf(t, "Documents.Void").do(t.Context(), c)
			require.Equal(t, 1, b.closed, "%s body of a %d", name, status)
		}
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
