package control_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// TestRequestFault_retryAfter checks the header Retry-After of requests that a fault of the control API meets.
func TestRequestFault_retryAfter(t *testing.T) {
	server, api := newAPI(t)
	client, err := wire.NewClient(api.URL, "")
	require.NoError(t, err)
	for _, c := range []struct{ name, fault, want string }{
		{name: "429", fault: `{"status":429}`, want: "60"},
		{name: "429 with a time", fault: `{"status":429,"retryAfter":"7"}`, want: "7"},
		{name: "429 with none", fault: `{"status":429,"retryAfter":""}`},
		{name: "503", fault: `{"status":503}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, client.Post(t.Context(), "/faults/requests", json.RawMessage(c.fault), nil))
			r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/get-documents", nil)
			require.NoError(t, err)
			r.Header.Set("x-api-key", server.APIKey)
			met, err := server.HTTPClient().Do(r)
			require.NoError(t, err)
			require.NoError(t, met.Body.Close())
			require.Equal(t, c.want, met.Header.Get("Retry-After"))
			var listed wire.Page[wire.ActiveFault]
			require.NoError(t, client.Get(t.Context(), "/faults", nil, &listed))
			if c.want != "" {
				require.Equal(t, &c.want, listed.Items[0].Fault.RetryAfter)
			}
			server.ClearFaults()
		})
	}
}
