package refserver_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// dialIn connects to a server in a network by hand.
func dialIn(t *testing.T, network *refserver.Network, srv *servicetest.Server) net.Conn {
	t.Helper()
	address, err := url.Parse(srv.URL)
	require.NoError(t, err)
	conn, err := network.DialContext(t.Context(), "tcp", address.Host+":80")
	require.NoError(t, err)
	return conn
}

// TestServe_bodiesThatDoNotArrive: a client that sends only one byte of a body keeps its connection for a minute at most, whether the
// service reads the body or refuses the request before.
func TestServe_bodiesThatDoNotArrive(t *testing.T) {
	for _, path := range []string{"/send-reminder", "/pdf-template-lambda", "/nowhere"} {
		t.Run(path, func(t *testing.T) {
			for _, key := range []string{"", "right"} {
				t.Run(key, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						network := refserver.NewNetwork()
						defer network.Close()
						srv := servicetest.Start(t, &refserver.Options{Network: network, APIKey: "right"})
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
				})
			}
		})
	}
}

// TestServe_slowHandler: once a request has arrived, nothing ends its handler.
func TestServe_slowHandler(t *testing.T) {
	for _, body := range []string{"", "x"} {
		t.Run(body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := refserver.NewNetwork()
				defer network.Close()
				srv := servicetest.Start(t, &refserver.Options{Network: network, Middleware: func(http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						io.Copy(io.Discard, r.Body)
						select {
						case <-time.After(time.Hour):
						case <-r.Context().Done():
							w.WriteHeader(http.StatusServiceUnavailable)
						}
					})
				}})
				defer srv.Close()
				answer, err := srv.HTTPClient().Post(srv.URL, "text/plain", strings.NewReader(body))
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				require.Equal(t, http.StatusOK, answer.StatusCode)
			})
		})
	}
}

// TestServe_largeUploadGetsItsRefusal: a client that is still sending when it is refused gets the answer and no reset.
func TestServe_largeUploadGetsItsRefusal(t *testing.T) {
	srv := servicetest.Start(t, nil)
	for range 3 {
		answer, err := srv.HTTPClient().Post(srv.URL+"/pdf-template-lambda", "application/json", strings.NewReader(strings.Repeat("x", 9<<20)))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 403, answer.StatusCode)
	}
}

// TestServe_uploadsLeaveNoFiles: what a handler's form had on the disk is gone after the answer.
func TestServe_uploadsLeaveNoFiles(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	srv := servicetest.Start(t, &refserver.Options{Middleware: func(http.Handler) http.Handler {
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
	srv.Close() // net/http removes the files after the answer
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestServe_slowFormHoldsUpNobody: while a signer's browser sends its form, the service does other work.
func TestServe_slowFormHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
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

// TestServe_formThatIsTooLarge: it is refused, whether it announces its length or not, and signs nothing.
func TestServe_formThatIsTooLarge(t *testing.T) {
	srv := servicetest.Start(t, nil)
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
