package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// The clock of another process, or of this one after a restart, may be a day off.
func TestClocksThatDiffer(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			each(t, func(f *fixture) {
				options := f.srv.ClientOptions()
				network := &late{RoundTripper: options.HTTPClient.Transport}
				options.HTTPClient = &http.Client{Transport: network}
				var err error
				f.client, err = signforms.New(f.srv.URL, f.srv.APIKey, options)
				require.NoError(f, err)
				f.want("1", "ann@example.com")
				f.passes()
				other := newApp(f.T, f.srv, f.where)
				other.now = func() time.Time { return f.srv.Now().Add(off) }
				require.NoError(f, other.pass(f.Context()))
				require.NoError(f, other.pass(f.Context()))
				require.Equal(f, []string{"1 sending"}, f.states())
				answer, err := network.RoundTripper.RoundTrip(network.held)
				require.NoError(f, err)
				require.NoError(f, answer.Body.Close())
				f.srv.Advance(f.doubt)
				require.NoError(f, other.pass(f.Context()))
				require.Equal(f, []string{"1 open"}, f.states())
				require.Equal(f, 1, f.documents())
			})
		})
	}
}
