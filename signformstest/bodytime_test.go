package signformstest_test

import (
	"fmt"
	"io"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
)

// TestBodiesThatDoNotArrive: a client that sends only one byte of a body keeps its connection for a minute, whether the service reads
// the body or refuses the request before.
func TestBodiesThatDoNotArrive(t *testing.T) {
	for _, path := range []string{"/send-pdf-reminder", "/pdf-template-lambda", "/nowhere"} {
		for _, key := range []string{"", "right"} {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close()
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network, APIKey: "right"})
				defer srv.Close()
				address, err := url.Parse(srv.URL)
				require.NoError(t, err)
				conn, err := network.DialContext(t.Context(), "tcp", address.Host+":80")
				require.NoError(t, err)
				defer conn.Close()
				start := time.Now()
				_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nx-api-key: %s\r\nContent-Length: 100\r\n\r\n{", path, address.Host, key)
				require.NoError(t, err)
				_, err = io.ReadAll(conn) // reads the answer, if any, up to the end of the connection
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(start), 2*time.Minute, "%s with the key %q", path, key)
			})
		}
	}
}
