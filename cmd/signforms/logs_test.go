package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestKeepBoundsTheLogs(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_KEEP", "messages=8 requests=5")
	s := serveInProcess(t, "--memory")
	client, err := wire.NewClient(s.BaseURL, "")
	require.NoError(t, err)
	for range 30 {
		require.NoError(t, client.Post(t.Context(), "/documents", wire.Document{Document: refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}}}, nil))
		s.get(t, "/get-documents", "x-api-key", s.APIKey)
	}
	total := func(log string) (page struct{ Total int }) {
		status, body := s.get(t, "/_/api/v1/"+log)
		require.Equal(t, http.StatusOK, status, body)
		require.NoError(t, json.Unmarshal([]byte(body), &page))
		return page
	}
	require.InDelta(t, 8, total("messages").Total, 1)
	require.Equal(t, 5, total("requests").Total)
}
