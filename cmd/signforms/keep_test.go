package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/signformstest"
)

func TestKeepBoundsTheLogs(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_KEEP", "messages=8 requests=5")
	s := serveInProcess(t, "--memory")
	client, err := control.NewClient(s.BaseURL, "")
	require.NoError(t, err)
	for range 30 {
		require.NoError(t, client.Post(t.Context(), "/documents", control.Document{Name: "Lease", Signers: []control.Signer{{Email: "ann@example.com"}}}, nil))
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

func TestKeepNamesItsLogs(t *testing.T) {
	k, err := parseKeep([]string{"requests=1", "deliveries=2", "messages=3", "audit=4"})
	require.NoError(t, err)
	require.Equal(t, signformstest.Keep{Requests: 1, Deliveries: 2, Messages: 3, Audit: 4}, k)
	for setting, want := range map[string]string{
		"mail=1": `there is no log "mail"; there are audit, deliveries, messages, requests`, "audit": `--keep audit: "" is not a number from 1 on`,
		"audit=0": `"0" is not`, "audit=-1": `"-1" is not`, "audit=many": `"many" is not`,
	} {
		_, stderr, code := execute(t, "serve", "--memory", "--addr", "127.0.0.1:0", "--keep", setting)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, want, setting)
	}
}
