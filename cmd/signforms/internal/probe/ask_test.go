package probe_test

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
)

// slow answers some requests late, with their header or within their body.
type slow struct {
	*imitation
	late   func(*http.Request) bool
	inBody bool
	by     time.Duration
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.imitation.RoundTrip(r)
	if err != nil || !s.late(r) {
		return resp, err
	}
	wait := func() error {
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case <-time.After(s.by):
			return nil
		}
	}
	if !s.inBody {
		return resp, wait()
	}
	resp.Body = late{resp.Body, sync.OnceValue(wait)}
	return resp, nil
}

type late struct {
	io.ReadCloser
	wait func() error
}

func (l late) Read(p []byte) (int, error) {
	if err := l.wait(); err != nil {
		return 0, err
	}
	return l.ReadCloser.Read(p)
}

// However slow the service is, a run ends in time, with what it found by then.
func TestSlowServicesAreBounded(t *testing.T) {
	every := func(*http.Request) bool { return true }
	strange := func(r *http.Request) bool { return r.URL.Path != "/get-documents" }
	for name, s := range map[string]slow{
		"each answer":               {late: every, by: 20 * time.Second},
		"each body":                 {late: every, by: 9 * time.Second, inBody: true},
		"all but the documents":     {late: strange, by: 40 * time.Second},
		"answers within the time":   {late: every, by: 29 * time.Second},
		"bodies as slow as allowed": {late: every, by: 14 * time.Second, inBody: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.imitation = &imitation{n: 64}
				start := time.Now()
				rep, err := probe.Run(t.Context(), probe.Options{BaseURL: "https://imitation.test", APIKey: fakeKey, WorkspaceID: "ws-1", Transport: s, Timeout: 30 * time.Second})
				require.NoError(t, err)
				require.Less(t, time.Since(start), probe.MostTime) // so that the rest, which takes no virtual time, has some
				require.True(t, rep.Early, show(rep))
				require.Contains(t, factsWith(rep, probe.Holds), "list documents")
			})
		})
	}
}

// A service that answers nothing within the time for one request does not answer. The time is the user's.
func TestSilentServiceIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{imitation: &imitation{n: 64}, late: func(*http.Request) bool { return true }, by: time.Hour}
		_, err := probe.Run(t.Context(), probe.Options{BaseURL: "https://imitation.test", APIKey: fakeKey, WorkspaceID: "ws-1", Transport: s, Timeout: 30 * time.Second})
		require.EqualError(t, err, "the service does not answer: no complete answer within Options.AttemptTimeout, 30s")
	})
}
