package call_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// largeAnswers are answers of about size bytes, of shapes that take much memory for what they say.
func largeAnswers(size int) map[string]string {
	many := func(s string) string { return strings.TrimSuffix(strings.Repeat(s+",", size/(len(s)+1)), ",") }
	return map[string]string{
		"empty records":    `{"documents":[` + many(`{}`) + `]}`,
		"null records":     `{"documents":[` + many(`null`) + `]}`,
		"tiny records":     `{"documents":[` + many(`{"name":"a"}`) + `]}`,
		"ids only":         `{"documents":[` + many(`{"documentId":"602c2631-2d49-4647-a609-75331ebb0338"}`) + `]}`,
		"odd records":      `{"message":7,"documents":[` + many(`{"status":7,"isArchived":"true","createdAt":1,"signers":"","roles":[5]}`) + `]}`,
		"one list in one":  `{"documents":[{"documentId":"x","signers":[` + many(`{}`) + `]}]}`,
		"odd elements":     `{"documents":[{"documentId":"x","signers":[` + many(`1`) + `]}]}`,
		"unknown fields":   `{"documents":[{"documentId":"x","x":[` + many(`{"x":[{}]}`) + `]}]}`,
		"many keys":        `{"documents":[{` + many(`"k":0`) + `}]}`,
		"ordinary records": `{"documents":[` + many(testRecord) + `]}`,
		"not UTF-8":        `{"documents":[{"documentName":"` + strings.Repeat("\xff", size) + `"}]}`,
		"an error":         `{"error":"` + strings.Repeat("a ", size/2) + `"}`,
		"without its list": `{` + many(`"k":0`) + `}`,
		"respondents":      `{"respondents":[` + many(`{"history":[1,1,1]}`) + `]}`,
		"history":          `{"respondents":[{"history":[` + many(`1`) + `]}]}`,
		"responses":        `{"responses":[` + many(`{"answers":[{},{}]}`) + `]}`,
		"answers as JSON":  `{"responses":[{"answers":[` + many(`{"answer":[[]]}`) + `]}]}`,
	}
}

const testRecord = `{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","documentName":"Lease","status":"PENDING","signingType":"PDF",` +
	`"createdAt":"2026-11-18T10:15:30.125Z","signers":[{"email":"ann@example.com","name":"Ann","status":"PENDING"}]}`

// TestResponse_memoryIsBounded counts all that is allocated for a call, which is more than what is alive at any time.
func TestResponse_memoryIsBounded(t *testing.T) {
	for _, read := range []string{"Documents.List", "Respondents.List", "FormResponses.List"} { // what is made once is not counted
		t.Run(read, func(t *testing.T) {
			_ = clienttest.CallOf(t, read).Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, `{"error":"no"}`)))
		})
	}
	for _, size := range []int{64 << 10, 512 << 10}[:clienttest.Long(2, 1)] {
		for name, body := range largeAnswers(size) {
			read := "Documents.List"
			if strings.HasPrefix(body, `{"respond`) {
				read = "Respondents.List"
			} else if strings.HasPrefix(body, `{"respons`) {
				read = "FormResponses.List"
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := clienttest.CallOf(t, read).Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body)))
			runtime.ReadMemStats(&after)
			besides := 128 << 10
			if name == "an error" { // its text is made of copies of 64 KiB
				besides = 1 << 20
			}
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(12*len(body)+besides), "%s of %d bytes", name, len(body))
			if err != nil {
				require.True(t, errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, signforms.ErrBadResponse), "%s: %v", name, err)
			}
			if name == "ordinary records" || name == "ids only" || name == "odd records" {
				require.NoError(t, err, name)
			}
		}
	}
	err := clienttest.CallOf(t, "Documents.List").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, largeAnswers(512 << 10)["empty records"])))
	require.EqualError(t, err, "list documents: unavailable (200): unreadable response (it would take too much memory: its records are many and nearly empty)")
}

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
	return clienttest.Scripted(t, mock), mock
}

// messageAlone reports whether a response is a success for void and remind: see TestVoidAndRemind_responseWithoutObject.
func messageAlone(call clienttest.Call, body string) bool {
	body = strings.TrimSpace(body)
	return (call.Op == signforms.OpVoidDocument || call.Op == signforms.OpRemind) && (body == "" || body == `"ok"`)
}

func TestResponse_unreadable(t *testing.T) {
	for _, row := range []struct{ name, body string }{
		{name: "garbage", body: "\x00\xff\x13garbage"},
		{name: "HTML", body: "<!doctype html><title>Sign in</title>"},
		{name: "empty", body: ""},
		{name: "blank", body: " \r\n\t"},
		{name: "array", body: `[{"message":"ok"}]`},
		{name: "null", body: "null"},
		{name: "text", body: `"ok"`},
		{name: "two values", body: `{"createdDocumentId":"6afac610c07043658fde1996"}{}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, call := range clienttest.Calls {
				if messageAlone(call, row.body) {
					continue
				}
				c, mock := mocked(t, httpmock.NewStringResponder(200, row.body))
				err := call.Do(t.Context(), c)
				clienttest.RequireUnreadable(t, call, err, 200)
				require.Equal(t, row.body, string(clienttest.AsError(t, err).Body), "the answer is kept")
				require.Equal(t, 1, mock.GetTotalCallCount(), "garbage does not get better")
			}
		})
	}
	for _, status := range []int{201, 202} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			for _, call := range clienttest.Calls {
				if messageAlone(call, "") {
					continue
				}
				c, _ := mocked(t, httpmock.NewStringResponder(status, ""))
				clienttest.RequireUnreadable(t, call, call.Do(t.Context(), c), status)
			}
		})
	}
	for _, call := range clienttest.Calls { // a 204 has no body to find in it what is needed
		if messageAlone(call, "") {
			continue
		}
		c, _ := mocked(t, func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil })
		clienttest.RequireUnreadable(t, call, call.Do(t.Context(), c), 204)
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
	o := clienttest.Options(nil)
	for _, f := range change {
		f(o)
	}
	c, err := signforms.New(srv.URL, clienttest.APIKey, o)
	require.NoError(t, err)
	return c, seen
}

func TestResponse_truncated(t *testing.T) {
	for _, call := range clienttest.Calls {
		c, seen := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"message":"cut`)
		})
		err := call.Do(t.Context(), c)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		want, kind := int64(4), signforms.ErrUnavailable
		if call.SendsMail() {
			want, kind = 1, signforms.ErrOutcomeUnknown
		}
		clienttest.RequireMatches(t, err, kind)
		require.Equal(t, want, seen.Load(), call.Name)
		require.EqualValues(t, want, clienttest.AsError(t, err).Attempts)
	}
}

// TestError_truncatedBody: of an error answer, what came of the body is enough.
func TestError_truncatedBody(t *testing.T) {
	c, _ := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(404)
		io.WriteString(w, `{"no such`)
	})
	for _, call := range clienttest.Calls {
		err := call.Do(t.Context(), c)
		clienttest.RequireMatches(t, err, signforms.ErrNotFound)
		require.Equal(t, `{"no such`, clienttest.AsError(t, err).Message)
	}
}

func TestRedirect_isNotFollowed(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, location := range []string{other.URL + "/moved?token=abc", "", "http://[moved?token=abc"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, call := range clienttest.Calls {
				t.Run(fmt.Sprintf("%s/%d/%s", location, status, call.Name), func(t *testing.T) {
					c, seen := handlerClient(t, func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Location", location)
						w.WriteHeader(status)
					})
					err := call.Do(t.Context(), c)
					require.Zero(t, elsewhere.Load())
					require.EqualValues(t, 1, seen.Load())
					e := clienttest.AsError(t, err)
					require.Equal(t, status, e.StatusCode)
					require.Equal(t, "the service redirects, and redirects are not followed: correct the base URL or the endpoint", e.Message)
					if call.SendsMail() {
						clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
					} else {
						clienttest.RequireMatches(t, err, signforms.ErrInvalid)
					}
				})
			}
		}
	}
}

// TestResponse_informational: a 103 is only a hint, a 101 is an answer after which the connection never ends.
func TestResponse_informational(t *testing.T) {
	c, _ := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, `{"message":"ok"}`)
	})
	require.NoError(t, clienttest.CallOf(t, "Documents.Void").Do(t.Context(), c))

	hijack := func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		t.Cleanup(func() { conn.Close() })
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		rw.Flush()
	}
	for _, call := range clienttest.Calls {
		c, _ := handlerClient(t, hijack)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		clienttest.RequireUnreadable(t, call, call.Do(ctx, c), 101)
		require.NoError(t, ctx.Err())
		cancel()
	}
}

// endless gives an answer of size bytes, a JSON object to its end, without holding it.
func endless(status int, size int64) clienttest.Transport {
	return func(req *http.Request) (*http.Response, error) {
		const head, tail = `{"message":"`, `"}`
		body := io.MultiReader(strings.NewReader(head), io.LimitReader(letters{}, size-int64(len(head)+len(tail))), strings.NewReader(tail))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1, Request: req}, nil
	}
}

type letters struct{}

var block = bytes.Repeat([]byte("x"), 64<<10)

func (letters) Read(b []byte) (int, error) { return copy(b, block), nil }

// TestResponse_wrongContentLength: memory is taken for what came, not for what was announced.
func TestResponse_wrongContentLength(t *testing.T) {
	for _, announced := range []int64{-1, 0, 1 << 60} {
		t.Run(fmt.Sprint(announced), func(t *testing.T) {
			require.NoError(t, clienttest.CallOf(t, "Documents.Void").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				resp := clienttest.Reply(req, 200, `{"message":"ok"}`)
				resp.ContentLength = announced
				return resp, nil
			}))))
		})
	}
}

func TestError_bodyIsBounded(t *testing.T) {
	void := clienttest.CallOf(t, "Documents.Void")
	for _, size := range []int64{64 << 10, 64<<10 + 1, 1 << 50} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			err := void.Do(t.Context(), clienttest.Scripted(t, endless(409, size)))
			clienttest.RequireMatches(t, err, signforms.ErrRefused)
			e := clienttest.AsError(t, err)
			require.Len(t, e.Body, 64<<10)
			require.LessOrEqual(t, len(e.Message), 200)
		})
	}
	var read countingReader
	err := void.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 409, Header: http.Header{}, Body: io.NopCloser(&read), ContentLength: -1, Request: req}, nil
	})))
	clienttest.RequireMatches(t, err, signforms.ErrBadResponse)
	require.LessOrEqual(t, int(read), 128<<10+1, "bytes read: the body, and as much again to keep the connection")

	// The bytes read past the error's Body are freed, although the error is kept and a timer keeps the request's context.
	before := heap()
	var sent *http.Request
	err = clienttest.CallOf(t, "Documents.List").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		sent = req
		return endless(200, 4<<20).RoundTrip(req)
	})))
	require.Less(t, heap()-before, int64(1<<20))
	runtime.KeepAlive(sent)
	require.Len(t, clienttest.AsError(t, err).Body, 64<<10)
}

// countingReader never ends, and counts what it gave.
type countingReader int

func (r *countingReader) Read(b []byte) (int, error) {
	*r += countingReader(len(b))
	return letters{}.Read(b)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// bodyCloser fails the reading of a body at a byte, and counts its closing.
type bodyCloser struct {
	io.Reader
	closed int
}

func (b *bodyCloser) Close() error { b.closed++; return nil }

func TestResponse_bodyIsClosed(t *testing.T) {
	broken := errors.New("cable cut")
	for _, row := range []struct {
		name string
		body io.Reader
	}{
		{name: "whole", body: strings.NewReader(`{"message":"ok"}`)},
		{name: "broken", body: io.MultiReader(strings.NewReader(`{"mess`), iotest.ErrReader(broken))},
		{name: "huge", body: io.LimitReader(letters{}, 1<<20)},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, status := range []int{101, 200, 404, 503} {
				t.Run(fmt.Sprint(status), func(t *testing.T) {
					b := &bodyCloser{Reader: row.body}
					c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
						return &http.Response{StatusCode: status, Header: http.Header{}, Body: b, Request: req}, nil
					}), func(o *signforms.Options) { o.MaxAttempts = 1 })
					_ = clienttest.CallOf(t, "Documents.Void").Do(t.Context(), c)
					require.Equal(t, 1, b.closed, "%s body of a %d", row.name, status)
				})
			}
		})
	}
}

// TestResponse_sizeIsBounded: what counts is the size after unpacking.
func TestResponse_sizeIsBounded(t *testing.T) {
	void := clienttest.CallOf(t, "Documents.Void")
	require.NoError(t, void.Do(t.Context(), clienttest.Scripted(t, endless(201, 65<<10))), "larger than an error may be")
	if testing.Short() {
		t.Skip("reading 32 MiB takes a while")
	}
	var packedMiB bytes.Buffer
	w := gzip.NewWriter(&packedMiB)
	_, err := io.CopyN(w, letters{}, 1<<20)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	packed := bytes.Repeat(packedMiB.Bytes(), 33) // gzip allows one file after the other
	require.Less(t, len(packed), 64<<10)
	for _, row := range []struct {
		status int
		want   string
	}{{status: 200, want: "void document: unavailable (200): the response is larger than 32 MiB: request fewer records with Limit"},
		{status: 409, want: "void document: bad response (409): xxx"}} {
		t.Run(fmt.Sprint(row.status), func(t *testing.T) {
			c, seen := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(row.status)
				w.Write(packed)
			})
			err = void.Do(t.Context(), c)
			require.ErrorContains(t, err, row.want)
			require.Len(t, clienttest.AsError(t, err).Body, 64<<10)
			require.EqualValues(t, 1, seen.Load(), "it will not get smaller")
		})
	}
}
