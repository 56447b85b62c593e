package signforms_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// messageAlone tells of answers that are a success of void and remind: see TestVoidAndRemindNeedNoObject.
func messageAlone(call aCall, body string) bool {
	body = strings.TrimSpace(body)
	return (call.op == signforms.OpVoidDocument || call.op == signforms.OpSendReminder) && (body == "" || body == `"ok"`)
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
				if messageAlone(call, body) {
					continue
				}
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
			if messageAlone(call, "") {
				continue
			}
			c, _ := mocked(t, httpmock.NewStringResponder(status, ""))
			requireUnreadable(t, call, call.do(t.Context(), c), status)
		}
	}
	for _, call := range everyCall { // a 204 has no body to find in it what is needed
		if messageAlone(call, "") {
			continue
		}
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
				" (http), which is never followed: correct the base URL or Options.Endpoints", e.Message)
			if notRepeatable(call.op) {
				requireMatches(t, err, signforms.ErrOutcomeUnknown)
			} else {
				requireMatches(t, err, signforms.ErrInvalid)
			}
		}
	}
	for location, want := range map[string]string{
		"":                            "an unnamed place",
		"/v2/get-documents?query=ann": "another path of the same host",
		"://bad":                      "an unnamed place",
		"https://user:pw@other.example.com/x?q=1": "other.example.com (https)",
		"//other.example.com/x":                   "other.example.com",
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

// TestConnectionIsKeptAfterALongError: what Body does not hold of an error is drained, up to as much again.
func TestConnectionIsKeptAfterALongError(t *testing.T) {
	for size, dials := range map[int]int{64 << 10: 1, 127 << 10: 1, 256 << 10: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := &wireService{behave: answer(404, "", strings.Repeat("x", size))}
			c := s.client(t, "http")
			for range 2 {
				requireMatches(t, callOf(t, "Documents.Void").do(t.Context(), c), signforms.ErrNotFound)
				synctest.Wait() // until the connection is idle
			}
			require.Equal(t, dials, s.dials, "%d bytes", size)
		})
	}
}
