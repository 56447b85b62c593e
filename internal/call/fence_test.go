package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// late is a time after the deadline of an attempt.
const late = 31 * time.Second

// TestFence_connection: a transport that ignores the context gets its connection after the deadline of the attempt.
// Nothing arrives, and what was not accepted for certain is repeated.
func TestFence_connection(t *testing.T) {
	for _, dumped := range []bool{false, true} {
		for _, s := range sendings(t) {
			t.Run(fmt.Sprintf("dumped=%t/%s", dumped, s.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					service, tries := &wireService{behave: answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")}, 0
					c := service.client(t, "http", func(tr *http.Transport, o *signforms.Options) {
						o.Endpoints, o.ReminderMaxWait = s.endpoints, -1
						o.Transport = clienttest.Transport(func(req *http.Request) (*http.Response, error) {
							tries++
							if dumped { // which replaces the body
								_, err := httputil.DumpRequestOut(req, true)
								require.NoError(t, err)
							}
							time.Sleep(late)
							return tr.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
						})
					})
					err := s.call.Do(t.Context(), c)
					synctest.Wait()
					require.Empty(t, service.requests())
					require.ErrorIs(t, err, context.DeadlineExceeded)
					kind, attempts := signforms.ErrUnavailable, 4
					if s.mails() && (dumped || !s.hasBody()) { // the transport may have sent a copy unseen
						kind, attempts = signforms.ErrOutcomeUnknown, 1
					}
					clienttest.RequireMatches(t, err, kind)
					require.Equal(t, attempts, tries)
				})
			})
		}
	}
}

// TestFence_body: a body cannot be read after the deadline, and its last byte is read apart. A refused body
// proves nothing, because the header may have arrived.
func TestFence_body(t *testing.T) {
	read := func(t *testing.T, read func(req *http.Request) error) {
		attempts := 0
		err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			attempts++
			return nil, read(req)
		})))
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 1, attempts)
	}
	read(t, func(req *http.Request) error {
		n, err := req.Body.Read(make([]byte, req.ContentLength+1))
		require.EqualValues(t, req.ContentLength-1, n, "the last byte has a Read of its own")
		return errors.Join(err, io.ErrUnexpectedEOF)
	})
	for _, row := range []struct {
		name string
		left int64
	}{{name: "before its second half", left: 100}, {name: "before its last byte", left: 1}, {name: "before its end", left: 0}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read(t, func(req *http.Request) error {
					_, err := io.CopyN(io.Discard, req.Body, req.ContentLength-row.left)
					require.NoError(t, err)
					time.Sleep(late)
					n, err := req.Body.Read(make([]byte, 100))
					require.Zero(t, n)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					return err
				})
			})
		})
	}
}
