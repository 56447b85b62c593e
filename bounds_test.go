package signforms_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/signforms/signforms-go"
	"github.com/stretchr/testify/require"
)

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
	res, err := scriptedClient(t, endless(200, most)).Documents.Void(t.Context(), signforms.PDFDocument(pdfID))
	require.NoError(t, err)
	require.Len(t, res.Raw, most)

	require.NoError(t, void.do(t.Context(), scriptedClient(t, endless(201, 65<<10))), "of any success")

	for _, size := range []int64{most + 1, 1 << 50} {
		attempts := 0
		c := scriptedClient(t, endless(200, size), func(o *signforms.Options) {
			o.OnAttempt = func(context.Context, signforms.Attempt) { attempts++ }
		})
		err := void.do(t.Context(), c)
		requireUnreadable(t, void, err, 200)
		require.EqualError(t, err, "void document: 200: unavailable: the answer is larger than 32 MiB: ask for fewer records at once with Limit")
		require.Len(t, asError(t, err).Body, 64<<10)
		require.Equal(t, 1, attempts, "it will not get smaller")
	}
	send := callOf(t, "Forms.Send")
	requireUnreadable(t, send, send.do(t.Context(), scriptedClient(t, endless(200, most+1))), 200)
}

// TestContentLengthIsNotBelieved: memory is taken for what came, not for what was announced.
func TestContentLengthIsNotBelieved(t *testing.T) {
	for _, announced := range []int64{-1, 0, 1 << 60} {
		require.NoError(t, callOf(t, "Documents.Void").do(t.Context(), scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
			resp := reply(req, 200, `{"message":"ok"}`)
			resp.ContentLength = announced
			return resp, nil
		}))))
	}
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
	var read countingReader
	err := void.do(t.Context(), scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 409, Header: http.Header{}, Body: io.NopCloser(&read), ContentLength: -1, Request: req}, nil
	})))
	requireMatches(t, err, signforms.ErrRefused)
	require.LessOrEqual(t, int(read), 128<<10+1, "bytes read: the body, and as much again to keep the connection")

	// An error that is kept does not keep what was read past its Body.
	before := heap()
	err = void.do(t.Context(), scriptedClient(t, endless(200, 33<<20)))
	require.Less(t, heap()-before, int64(1<<20))
	require.Len(t, asError(t, err).Body, 64<<10)
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

func TestBodiesAreClosed(t *testing.T) {
	broken := errors.New("cable cut")
	for name, body := range map[string]io.Reader{
		"whole":  strings.NewReader(`{"message":"ok"}`),
		"broken": io.MultiReader(strings.NewReader(`{"mess`), errorReader{broken}),
		"huge":   io.LimitReader(letters{}, 40<<20),
	} {
		for _, status := range []int{101, 200, 404, 503} {
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

// TestCompressedAnswersAreBounded: what counts is the size after unpacking.
func TestCompressedAnswersAreBounded(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.CopyN(w, letters{}, 33<<20)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 64<<10)
	for status, want := range map[int]string{200: "void document: 200: unavailable: the answer is larger than 32 MiB: ask for fewer records at once with Limit", 409: "void document: 409: xxx"} {
		c, _ := handlerClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			w.Write(packed.Bytes())
		})
		err = callOf(t, "Documents.Void").do(t.Context(), c)
		require.ErrorContains(t, err, want)
		require.Len(t, asError(t, err).Body, 64<<10)
	}
}
