package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

// endless is a body of size bytes that are made as they are read.
type endless struct{ size, read int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.read == e.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.size-e.read)
	for i := range p[:n] {
		p[i] = ' '
	}
	e.read += n
	return int(n), nil
}

func (e *endless) Close() error { return nil }

// TestHandler_hugeBody streams 100 MB without and with an announced length.
func TestHandler_hugeBody(t *testing.T) {
	const size = 100 << 20
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, nil)
	for _, announced := range []int64{-1, size, 10} {
		t.Run(fmt.Sprint(announced), func(t *testing.T) {
			body := &endless{size: size}
			r := webhooktest.NewRequest(target, secret, noon, nil)
			r.Body, r.ContentLength = body, announced
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			requireAnswer(t, serveRequest(h, r), 413, `{"status":"too_large"}`)
			runtime.ReadMemStats(&after)
			require.LessOrEqual(t, body.read, int64(maxBody+1), "bytes read of a body announced as %d", announced)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes allocated for a body announced as %d", announced)
		})
	}
}

// TestHandler_announcedBody announces the largest body allowed and sends little of it.
func TestHandler_announcedBody(t *testing.T) {
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, nil)
	r := webhooktest.NewRequest(target, secret, noon, nil)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader("[")), maxBody
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Equal(t, 401, serveRequest(h, r).Code)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<10))
}

// TestHandler_refusesBeforeReading has requests that cannot be genuine whatever their body is.
func TestHandler_refusesBeforeReading(t *testing.T) {
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, nil)
	for _, row := range []struct {
		name string
		edit func(*http.Request)
	}{
		{name: "no signature", edit: func(r *http.Request) { r.Header.Del("X-Signature") }},
		{name: "malformed signature", edit: func(r *http.Request) { r.Header.Set("X-Signature", "00") }},
		{name: "repeated timestamp", edit: func(r *http.Request) { r.Header.Add("X-Timestamp", "1795176000") }},
		{name: "malformed timestamp", edit: func(r *http.Request) { r.Header.Set("X-Timestamp", "now") }},
		{name: "method", edit: func(r *http.Request) { r.Method = http.MethodPut }},
		{name: "media type", edit: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
		{name: "announced length", edit: func(r *http.Request) { r.ContentLength = maxBody + 1 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := &endless{size: 1000}
			r := webhooktest.NewRequest(target, secret, noon, nil)
			r.Body = body
			row.edit(r)
			require.NotEqual(t, 200, serveRequest(h, r).Code)
			require.Zero(t, body.read, "bytes read of a request with a wrong %s", row.name)
		})
	}
}

// gated is a body whose second half comes when the gate opens.
type gated struct {
	first, second string
	waiting       *sync.WaitGroup
	gate          <-chan struct{}
}

func (g *gated) Read(p []byte) (int, error) {
	if g.first == "" && g.gate != nil {
		g.waiting.Done()
		<-g.gate
		g.first, g.gate = g.second, nil
	}
	if g.first == "" {
		return 0, io.EOF
	}
	n := copy(p, g.first)
	g.first = g.first[n:]
	return n, nil
}

// TestHandler_manyForgedRequests has 1,000 forged requests under way at one time, and 50 genuine ones among them.
func TestHandler_manyForgedRequests(t *testing.T) {
	const forged, genuine = 1_000, 50
	var ran atomic.Int32
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(context.Context, webhook.Event) error {
		ran.Add(1)
		return nil
	}}, nil)
	gate := make(chan struct{})
	var waiting, calls sync.WaitGroup
	var answers [600]atomic.Int32
	waiting.Add(forged + genuine)
	before := liveHeap()
	for i := range forged + genuine {
		key := "a secret that is not the one"
		if i%21 == 0 {
			key = secret
		}
		body := fmt.Sprintf(`[{"webhookEvent":"new_thing","number":%d,"text":%q}]`, i, strings.Repeat("x", 2000))
		r := webhooktest.NewRequest(target, key, noon, []byte(body))
		r.Body = io.NopCloser(&gated{body[:1000], body[1000:], &waiting, gate})
		calls.Go(func() { answers[serveRequest(h, r).Code].Add(1) })
	}
	waiting.Wait()
	held := liveHeap() - before
	close(gate)
	calls.Wait()
	require.EqualValues(t, forged, answers[401].Load())
	require.EqualValues(t, genuine, answers[200].Load())
	require.EqualValues(t, genuine, ran.Load())
	// The test itself takes about 5 KB of these: the body, the request and its headers.
	require.Less(t, held/int64(forged+genuine), int64(16<<10), "bytes held per request under way")
}

// liveHeap collects twice, as a sync.Pool keeps what it has for one collection more.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHandler_reusedBuffers keeps what came out of one delivery while others go through the same buffers.
func TestHandler_reusedBuffers(t *testing.T) {
	var kept []webhook.Event
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: func(_ context.Context, ev webhook.Event) error {
		kept = append(kept, ev)
		return nil
	}}, nil)
	var payloads [][]byte
	m := newVerifier(t, nil).Middleware(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		verified, _ := webhook.VerifiedFromContext(r.Context())
		payloads = append(payloads, verified.Payload)
	}))
	text := func(i int) string {
		return fmt.Sprintf(`{"webhookEvent":"new_form_response","formId":"%03d","formTitle":"%s"}`, i, strings.Repeat(string(rune('a'+i%26)), 3000))
	}
	for i := range 100 {
		r := webhooktest.NewRequest(target, secret, noon, []byte(text(i)))
		if i%2 == 1 {
			r.Body = io.NopCloser(strings.NewReader(" " + text(i)))
		}
		require.Equal(t, 200, serveRequest(h, r).Code)
		serve(m, text(i))
	}
	for i := range 100 {
		require.Equal(t, text(i), string(kept[i].Raw()))
		require.Equal(t, fmt.Sprintf("%03d", i), kept[i].(*webhook.FormResponse).FormID)
		require.Equal(t, text(i), string(payloads[i]))
	}
}

type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.conns) }); return nil }
func (l *pipeListener) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// TestHandler_senderHangsUp closes the connection while the second of three functions runs.
func TestHandler_senderHangsUp(t *testing.T) {
	hungUp, finished := make(chan struct{}), make(chan struct{})
	var ran []string
	var requestEnded bool
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error {
		ran = append(ran, ev.FormResponseID)
		if ev.FormResponseID == "2" {
			hungUp <- struct{}{}
			<-requestOf(ctx).Done()
			requestEnded = ctx.Err() == nil
		}
		return nil
	}}, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
		close(finished)
	}))
	defer server.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-hungUp
		hangUp()
	}()
	_, err := server.Client().Do(webhooktest.NewRequest(server.URL, secret, noon, []byte(array(elements[:3]...))).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	<-finished
	require.Equal(t, []string{"1", "2", "3"}, ran)
	require.True(t, requestEnded, "the function's context must outlive the request's")
	requireAnswer(t, serve(h, array(elements[:3]...)), 200, `{"status":"duplicate"}`)
}

type requestKey struct{}

func requestOf(ctx context.Context) context.Context { return ctx.Value(requestKey{}).(context.Context) }

// Where the header alone decides, the answer does not wait for a body that is announced and not sent.
func TestHandler_respondsBeforeTheBody(t *testing.T) {
	v := newVerifier(t, nil)
	for _, row := range []struct {
		name string
		h    http.Handler
	}{
		{name: "handler", h: webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil)},
		{name: "zero handler", h: &webhook.Handler{}},
		{name: "middleware", h: v.Middleware(nil)(http.NotFoundHandler())},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(row.h)
			defer server.Close()
			for _, c := range []struct {
				request string
				status  int
			}{
				{request: "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[", status: 401},
				{request: "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", status: 401},
				{request: "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n", status: 413},
			} {
				t.Run(c.request, func(t *testing.T) {
					conn, err := net.Dial("tcp", server.Listener.Addr().String())
					require.NoError(t, err)
					defer conn.Close() // before the server, which waits for it
					require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
					_, err = io.WriteString(conn, c.request)
					require.NoError(t, err)
					w, err := http.ReadResponse(bufio.NewReader(conn), nil)
					require.NoError(t, err, "%s %s", row.name, c.request)
					if row.name == "zero handler" {
						c.status = 500
					}
					require.Equal(t, c.status, w.StatusCode, "%s %s", row.name, c.request)
					require.True(t, w.Close)
				})
			}
		})
	}
	// With no body, or one that was read, the connection can be used again.
	for _, body := range []string{"", "[]"} {
		t.Run(body, func(t *testing.T) {
			r := httptest.NewRequest("GET", target, strings.NewReader(body))
			if body != "" {
				r = webhooktest.NewRequest(target, "another secret", noon, []byte(body))
			}
			require.Empty(t, serveRequest(webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil), r).Header().Get("Connection"))
		})
	}
}
