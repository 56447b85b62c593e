package refserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// dialIn connects to a server in a network by hand.
func dialIn(t *testing.T, network *refserver.Network, srv *refserver.Server) net.Conn {
	t.Helper()
	address, err := url.Parse(srv.URL)
	require.NoError(t, err)
	conn, err := network.DialContext(t.Context(), "tcp", address.Host+":80")
	require.NoError(t, err)
	return conn
}

// TestBodiesThatDoNotArrive: a client that sends only one byte of a body keeps its connection for a minute at most, whether the
// service reads the body or refuses the request before.
func TestBodiesThatDoNotArrive(t *testing.T) {
	for _, path := range []string{"/send-reminder", "/pdf-template-lambda", "/nowhere"} {
		for _, key := range []string{"", "right"} {
			synctest.Test(t, func(t *testing.T) {
				network := refserver.NewNetwork()
				defer network.Close()
				srv := refserver.NewServer(t, &refserver.Options{Network: network, APIKey: "right"})
				defer srv.Close()
				conn := dialIn(t, network, srv)
				defer conn.Close()
				start := time.Now()
				_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nx-api-key: %s\r\nContent-Type: application/json\r\n"+
					"Content-Length: 100\r\n\r\n{", path, key)
				require.NoError(t, err)
				_, err = io.ReadAll(conn) // reads the answer, if any, up to the end of the connection
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(start), time.Minute, "%s with the key %q", path, key)
			})
		}
	}
}

// unreadBodies are requests that the service answers without their bodies.
var unreadBodies = []struct {
	name, line, key string
	status          int
	announced       bool // only because of the length that they announce
}{
	{name: "wrong key", line: "POST /pdf-template-lambda", key: "wrong", status: 403},
	{name: "unknown path", line: "POST /nowhere", key: "right", status: 404},
	{name: "wrong method", line: "PUT /pdf-template-lambda", key: "right", status: 405},
	{name: "a list with a body", line: "GET /get-documents", key: "right", status: 200},
	{name: "no JSON", line: "POST /pdf-template-lambda", key: "right", status: 415},
	{name: "no JSON for an optional body", line: "POST /void-document", key: "right", status: 415, announced: true},
	{name: "too large", line: "POST /pdf-template-lambda", key: "right", status: 413, announced: true},
}

// bodyStarts are the ways in which bodies that do not come begin.
var bodyStarts = []struct{ name, header, start string }{
	{name: "announced", header: "Content-Length: %d", start: ""},
	{name: "stalled", header: "Content-Length: %d", start: `{"doc`},
	{name: "expectant", header: "Content-Length: %d\r\nExpect: 100-continue", start: ""},
	{name: "expectant for nothing", header: "Content-Length: %d\r\nExpect: 100-continue", start: `{"doc`},
	{name: "chunked", header: "Transfer-Encoding: chunked", start: "5\r\n{\"doc"},
}

// probe sends a request without the rest of its body, and returns the answer.
func probe(t *testing.T, conn net.Conn, line, key, header, start string) *http.Response {
	t.Helper()
	_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a\r\nx-api-key: %s\r\n%s\r\n\r\n%s", line, key, header, start)
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "POST"})
	require.NoError(t, err)
	_, err = io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer
}

// TestAnswersDoNotWaitForBodies: where the service does not need the body, it answers at once although that does not come, and then
// ends the connection within two seconds.
func TestAnswersDoNotWaitForBodies(t *testing.T) {
	for _, c := range unreadBodies {
		for _, b := range bodyStarts {
			if c.announced && strings.Contains(b.header, "chunked") {
				continue // announces nothing
			}
			size := 100
			if c.status == 413 {
				size = 11 << 20
			}
			header := strings.ReplaceAll(b.header, "%d", fmt.Sprint(size))
			synctest.Test(t, func(t *testing.T) {
				network := refserver.NewNetwork()
				defer network.Close()
				srv := refserver.NewServer(t, &refserver.Options{Network: network, APIKey: "right"})
				defer srv.Close()
				conn := dialIn(t, network, srv)
				defer conn.Close()
				begin := time.Now()
				answer := probe(t, conn, c.line, c.key, header, b.start)
				require.Equal(t, c.status, answer.StatusCode, "%s, %s", c.name, b.name)
				require.Less(t, time.Since(begin), time.Second, "%s, %s", c.name, b.name)
				require.True(t, answer.Close, "%s, %s: the connection ends", c.name, b.name)
				_, err := io.ReadAll(conn)
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(begin), 2*time.Second, "%s, %s", c.name, b.name)
				came, announced := `{"doc`, int64(size)
				if b.start == "" || strings.Contains(b.header, "Expect") {
					came = ""
				}
				if strings.Contains(b.header, "chunked") {
					announced = int64(len(came))
				}
				logged := srv.Requests()[0]
				require.Equal(t, came, string(logged.Body), "%s, %s", c.name, b.name)
				require.Equal(t, announced, logged.BodySize, "%s, %s", c.name, b.name)
			})
		}
	}
}

// TestAnswersDoNotWaitForBodiesOverTCP is the same over loopback, with many clients at once, none of which hangs up.
func TestAnswersDoNotWaitForBodiesOverTCP(t *testing.T) {
	srv := refserver.NewServer(t, &refserver.Options{APIKey: "right"})
	defer srv.Close()
	var clients sync.WaitGroup
	defer clients.Wait()
	for _, c := range unreadBodies {
		for _, b := range bodyStarts {
			if c.announced && strings.Contains(b.header, "chunked") {
				continue
			}
			header := strings.ReplaceAll(b.header, "%d", "100000")
			if c.status == 413 {
				header = "Expect: 100-continue\r\nContent-Length: 11000000"
			}
			for range 3 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
				require.NoError(t, err)
				t.Cleanup(func() { conn.Close() })
				require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second))) // half of what a body may take
				clients.Go(func() {
					_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a\r\nx-api-key: %s\r\n%s\r\n\r\n%s", c.line, c.key, header, b.start)
					answer := (*http.Response)(nil)
					if err == nil {
						answer, err = http.ReadResponse(bufio.NewReader(conn), nil)
					}
					if err != nil || answer.StatusCode != c.status || !answer.Close {
						t.Errorf("%s, %s: %+v, %v", c.name, b.name, answer, err)
					}
				})
			}
		}
	}
}

// TestBodiesThatArriveKeepTheConnection: a refused request whose body is there, or comes a little later, is followed by another one on
// the same connection, and nothing of the body is taken for a request.
func TestBodiesThatArriveKeepTheConnection(t *testing.T) {
	const smuggled = "GET /get-documents HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, pause := range []time.Duration{0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			network := refserver.NewNetwork()
			defer network.Close()
			srv := refserver.NewServer(t, &refserver.Options{Network: network, APIKey: "right"})
			defer srv.Close()
			conn := dialIn(t, network, srv)
			defer conn.Close()
			in := bufio.NewReader(conn)
			for _, c := range unreadBodies[:6] {
				_, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a\r\nx-api-key: %s\r\nContent-Length: %d\r\n\r\n", c.line, c.key, len(smuggled))
				require.NoError(t, err)
				time.Sleep(pause)
				_, err = io.WriteString(conn, smuggled)
				require.NoError(t, err)
				answer, err := http.ReadResponse(in, nil)
				require.NoError(t, err)
				require.Equal(t, c.status, answer.StatusCode, c.name)
				require.False(t, answer.Close, c.name)
				_, err = io.ReadAll(answer.Body)
				require.NoError(t, err)
			}
			require.Len(t, srv.Requests(), 6, "the bodies are no requests")
			for i, r := range srv.Requests() {
				require.Equal(t, smuggled, string(r.Body), unreadBodies[i].name)
				require.EqualValues(t, len(smuggled), r.BodySize)
			}
		})
	}
}

// TestExpectedBodiesAreAskedFor: a body that the service reads is asked for, and the connection goes on.
func TestExpectedBodiesAreAskedFor(t *testing.T) {
	srv := refserver.NewServer(t, &refserver.Options{APIKey: "right"})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	in, body := bufio.NewReader(conn), fmt.Sprintf(`{"documentId":%q}`, doc)
	for range 2 {
		_, err = fmt.Fprintf(conn, "POST /void-document HTTP/1.1\r\nHost: a\r\nx-api-key: right\r\nContent-Type: application/json\r\n"+
			"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
		require.NoError(t, err)
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
		_, err = in.ReadString('\n')
		require.NoError(t, err)
		_, err = io.WriteString(conn, body)
		require.NoError(t, err)
		answer, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, 200, answer.StatusCode)
		require.False(t, answer.Close)
		_, err = io.ReadAll(answer.Body)
		require.NoError(t, err)
	}
}

// TestAClientThatSendsAllBeforeItReads gets the answer that came in the middle of its body.
func TestAClientThatSendsAllBeforeItReads(t *testing.T) {
	srv := refserver.NewServer(t, &refserver.Options{APIKey: "right"})
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	const size = 200 << 10
	answer := probe(t, conn, "POST /nowhere", "right", fmt.Sprintf("Content-Length: %d", size+1), strings.Repeat("x", size))
	require.Equal(t, 404, answer.StatusCode)
	require.True(t, answer.Close)
	_, err = conn.Write([]byte("x"))
	require.NoError(t, err)
	rest, err := io.ReadAll(conn)
	require.NoError(t, err, "the connection ends in order, not with a reset")
	require.Empty(t, rest)
}

// TestSlowUploadsGetTheirRefusal: a client that goes on sending after it was refused, with short pauses, can send all of its body, and
// then the connection ends. One that goes on for longer than a minute is cut off.
func TestSlowUploadsGetTheirRefusal(t *testing.T) {
	for _, c := range []struct{ parts, size, sent int }{
		{parts: 50, size: 1 << 10, sent: 50},
		{parts: 50, size: 200 << 10, sent: 50},
		{parts: 1000, size: 1 << 10, sent: 150},
		{parts: 50, size: 1 << 20, sent: 33}, // and a bit in net/http
	} {
		synctest.Test(t, func(t *testing.T) {
			network := refserver.NewNetwork()
			defer network.Close()
			srv := refserver.NewServer(t, &refserver.Options{Network: network, APIKey: "right"})
			defer srv.Close()
			conn := dialIn(t, network, srv)
			defer conn.Close()
			answer := probe(t, conn, "POST /pdf-template-lambda", "wrong", fmt.Sprintf("Content-Length: %d", c.parts*c.size), "")
			require.Equal(t, 403, answer.StatusCode)
			sent := 0
			for ; sent < c.parts; sent++ {
				time.Sleep(400 * time.Millisecond)
				if _, err := conn.Write(make([]byte, c.size)); err != nil {
					break
				}
			}
			require.InDelta(t, c.sent, sent, 1, "%d parts of %d bytes", c.parts, c.size)
			begin := time.Now()
			rest, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Empty(t, rest)
			require.LessOrEqual(t, time.Since(begin), 2*time.Second)
		})
	}
}

// TestLargeUploadsGetTheirRefusal: a client that is still sending when it is refused gets the answer and no reset.
func TestLargeUploadsGetTheirRefusal(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	for range 10 {
		answer, err := srv.HTTPClient().Post(srv.URL+"/pdf-template-lambda", "application/json", strings.NewReader(strings.Repeat("x", 9<<20)))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 403, answer.StatusCode)
	}
}

// TestUploadsLeaveNoFiles: what a handler's form had on the disk is gone with the answer.
func TestUploadsLeaveNoFiles(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	srv := refserver.NewServer(t, &refserver.Options{Middleware: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1); err != nil {
				t.Error(err)
			}
			if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
				t.Errorf("files of the form: %v, %v", files, err)
			}
		})
	}})
	body := "--x\r\nContent-Disposition: form-data; name=pdf; filename=a.pdf\r\n\r\n" + strings.Repeat("x", 1000) + "\r\n--x--\r\n"
	answer, err := srv.HTTPClient().Post(srv.URL, "multipart/form-data; boundary=x", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestMiddlewareMayTakeTheConnection: what the body was does not end a connection that a handler took over.
func TestMiddlewareMayTakeTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		taken := make(chan net.Conn, 1)
		srv := refserver.NewServer(t, &refserver.Options{Network: network, Middleware: func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				require.NoError(t, err)
				taken <- conn
			})
		}})
		defer srv.Close()
		conn := dialIn(t, network, srv)
		defer conn.Close()
		_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
		require.NoError(t, err)
		server := <-taken
		defer server.Close()
		time.Sleep(time.Hour)
		go io.WriteString(conn, "later")
		got := make([]byte, 5)
		_, err = io.ReadFull(server, got)
		require.NoError(t, err)
		require.Equal(t, "later", string(got))
	})
}

// TestAFormThatDoesNotArriveHoldsUpNobody: while a signer's browser sends its form, the service does other work.
func TestAFormThatDoesNotArriveHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := refserver.NewServer(t, &refserver.Options{Network: network})
		defer srv.Close()
		doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		link, err := url.Parse(string(srv.Messages()[0].Link))
		require.NoError(t, err)
		conn := dialIn(t, network, srv)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\na", link.Path)
		require.NoError(t, err)
		synctest.Wait()
		begin := time.Now()
		require.NoError(t, srv.Void(doc))
		require.Less(t, time.Since(begin), time.Second)
	})
}

// TestAFormThatIsTooLarge: it is refused, whether it announces its length or not, and signs nothing.
func TestAFormThatIsTooLarge(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	link := string(srv.Messages()[0].Link)
	body := "x=" + strings.Repeat("x", 1<<20)
	for _, form := range []io.Reader{strings.NewReader(body), io.MultiReader(strings.NewReader(body))} {
		answer, err := srv.HTTPClient().Post(link, "application/x-www-form-urlencoded", form)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 413, answer.StatusCode)
	}
	state, ok := srv.FindDocument(doc)
	require.True(t, ok)
	require.Equal(t, "PENDING", string(state.Status))
}
