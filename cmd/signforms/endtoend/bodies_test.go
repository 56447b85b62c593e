package endtoend_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestRefusalsDoNotWaitForBodies checks that each refusal arrives before a large body does, and before a body that
// waits for 100 Continue. Before any other refusal net/http reads the body, so that the connection stays usable.
func TestRefusalsDoNotWaitForBodies(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	s := start(t, "--memory", "--token", token)
	client, err := wire.NewClient(s.Listening, token)
	require.NoError(t, err)
	var document refserver.DocumentState
	require.NoError(t, client.Post(t.Context(), "/documents", lease("Lease"), &document))
	require.NoError(t, client.Get(t.Context(), "/documents/"+document.ID, nil, &document))
	link, err := url.Parse(string(document.Signers[0].Link))
	require.NoError(t, err)
	address := strings.TrimPrefix(s.Listening, "http://")
	proof := "Authorization: Bearer " + token + "\r\n"
	var requests sync.WaitGroup
	defer requests.Wait()
	for _, c := range []struct {
		name, line, host, header string
		size, status             int
	}{
		{name: "host", line: "POST /_/api/v1/documents", host: "evil.example", header: proof, status: 421},
		{name: "origin", line: "POST /_/api/v1/documents", header: proof + "Origin: http://evil.example\r\n", status: 403},
		{name: "no token", line: "POST /_/api/v1/documents", status: 401},
		{name: "no cookie", line: "POST /_/documents/new", status: 303},
		{name: "control path", line: "POST /_/api/v1/nowhere", header: proof, status: 404},
		{name: "control method", line: "PUT /_/api/v1/documents", header: proof, status: 405},
		{name: "control size", line: "POST /_/api/v1/documents", header: proof, size: 100 << 20, status: 413},
		{name: "console size", line: "POST /_/documents/new", header: proof, size: 100 << 20, status: 413},
		{name: "link", line: "POST /sign/nothing", status: 404},
		{name: "page size", line: "POST " + link.Path + "/sign", size: 100 << 20, status: 413},
		{name: "key", line: "POST /pdf-template-lambda", header: "x-api-key: wrong\r\n", status: 403},
		{name: "path", line: "POST /nowhere", status: 404},
	} {
		for _, start := range []string{"\r\n", "\r\n{", "Expect: 100-continue\r\n\r\n"} {
			if c.size == 0 {
				c.size = 1 << 20
			}
			if c.host == "" {
				c.host = address
			}
			requests.Go(func() {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(30 * time.Second)) // half of what a body may take
				_, err = io.WriteString(conn, fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: %d\r\n%s", c.line, c.host, c.header, c.size, start))
				answer := (*http.Response)(nil)
				if err == nil {
					answer, err = http.ReadResponse(bufio.NewReader(conn), nil)
				}
				if err != nil || answer.StatusCode != c.status {
					t.Errorf("%s, %q: %+v, %v; want status %d", c.name, start, answer, err, c.status)
				}
			})
		}
	}
}
