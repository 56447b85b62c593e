package signforms_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestRetriesByOperation has a cell for every operation and failure.
func TestRetriesByOperation(t *testing.T) {
	certificates := httptest.NewTLSServer(nil)
	certificates.Close()
	for _, f := range failures(certificates) {
		for _, call := range everyCall {
			t.Run(f.name+"/"+call.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f.run(t, call) })
			})
		}
	}
}

func (f failure) want(call aCall) cell {
	switch {
	case call.op == signforms.OpSendReminder && f.remind != nil:
		return *f.remind
	case notRepeatable(call.op):
		return f.sends
	}
	return f.reads
}

func (f failure) service() (*wireService, func(*http.Transport, *signforms.Options)) {
	s := &wireService{behave: f.behave}
	return s, func(tr *http.Transport, _ *signforms.Options) {
		tr.TLSClientConfig = f.trust
		if f.dial != nil {
			tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, f.dial(ctx) }
		}
	}
}

func (f failure) run(t *testing.T, call aCall) {
	s, change := f.service()
	scheme := f.scheme
	if scheme == "" {
		scheme = "http"
	}
	err := call.do(t.Context(), s.client(t, scheme, change))
	want, e := f.want(call), asError(t, err)
	require.Equal(t, want.attempts, e.Attempts, "attempts; %v", err)
	require.Len(t, s.requests(), want.seen, "requests that the service saw; %v", err)
	require.Equal(t, want.status, e.StatusCode)
	switch {
	case want.status == 400 && (call.op == signforms.OpVoidDocument || call.op == signforms.OpSendReminder):
		requireMatches(t, err, want.kind, signforms.ErrRefused)
	default:
		requireMatches(t, err, want.kind)
	}
	if f.is != nil {
		require.ErrorIs(t, err, f.is)
	}
	require.Contains(t, err.Error(), f.text)
	if f.body != "" {
		require.Equal(t, f.body, string(e.Body))
	}
	for _, r := range s.requests() {
		require.Equal(t, s.requests()[0], r, "each attempt carries the same body and x-request-id")
		require.Equal(t, e.RequestID, r.id)
	}
}
