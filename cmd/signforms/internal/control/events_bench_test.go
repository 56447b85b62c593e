package control_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// BenchmarkChangesBesideReaders adds documents while readers take the events, and do nothing else with them. Readers and service share
// this machine's cores.
func BenchmarkChangesBesideReaders(b *testing.B) {
	for _, readers := range []int{0, 50, 200, 500} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) {
			server := refserver.NewServer(b, nil)
			api := httptest.NewServer(control.New(control.Config{Server: server}))
			defer api.Close()
			for range readers {
				conn, err := net.Dial("tcp", strings.TrimPrefix(api.URL, "http://"))
				require.NoError(b, err)
				defer conn.Close()
				fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: sandbox\r\n\r\n", wire.Prefix)
				first := make([]byte, 64)
				_, err = conn.Read(first) // the stream has begun
				require.NoError(b, err)
				go io.Copy(io.Discard, conn)
			}
			for b.Loop() {
				answer, err := http.Post(api.URL+wire.Prefix+"/documents", "application/json", strings.NewReader(`{"name":"Lease","signers":[{"email":"ann@example.com"}]}`))
				require.NoError(b, err)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
		})
	}
}
