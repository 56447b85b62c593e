package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// newRelayed returns a service that accepts deliveries for relays at its own address, and a client of its interface.
func newRelayed(t *testing.T) (*servicetest.Server, *wire.Client) {
	t.Helper()
	var api *control.API
	server := servicetest.Start(t, &refserver.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, control.RelayPrefix) {
				api.Relay().ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	api = control.New(control.Config{Server: server.Server})
	l := httptest.NewServer(api)
	t.Cleanup(l.Close)
	c, err := wire.NewClient(l.URL, "")
	require.NoError(t, err)
	return server, c
}

const relayID = "abcdefghijklmnopqrstuvwxyz"

func TestRelay(t *testing.T) {
	server, c := newRelayed(t)
	var relay wire.RelayRecord
	require.NoError(t, c.Post(t.Context(), "/relays/"+relayID, wire.RelayInput{Events: []string{"new_signature_completed"}}, &relay))
	require.Equal(t, server.WebhookSecret, relay.WebhookSecret)
	var again wire.RelayRecord
	require.NoError(t, c.Post(t.Context(), "/relays/"+relayID, wire.RelayInput{Events: []string{"new_signature_completed"}}, &again))
	require.Equal(t, relay, again, "opening it again changes nothing")
	require.Len(t, server.Webhooks(), 1)

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	id := server.AddDocument(refserver.Document{Name: "Lease <&>", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	began := func() { assert.NoError(t, server.Signer(id, "ann@example.com").View()) }
	go func() {
		ended <- c.Stream(ctx, "/relays/"+relayID+"/attempts", began, func(data []byte) error {
			var a wire.RelayedAttempt
			assert.NoError(t, json.Unmarshal(data, &a))
			assert.Contains(t, string(a.Body), "Lease <&>", "the exact bytes")
			assert.NotEmpty(t, a.Header.Get("X-Signature"))
			answer := wire.RelayedAnswer{Status: 418, Header: http.Header{"X-Kind": {"pot"}}, Body: []byte("short")}
			var refused *wire.Error
			path := fmt.Sprintf("/relays/%s/attempts/%d", relayID, a.ID)
			if assert.ErrorAs(t, c.Post(ctx, "/relays/"+relayID+"/attempts/999", answer, nil), &refused) {
				assert.Equal(t, http.StatusNotFound, refused.Status)
			}
			assert.ErrorAs(t, c.Post(ctx, path, wire.RelayedAnswer{Status: 99}, nil), &refused)
			// Do not use ctx: it ends when the attempt is in the log, which may be before the answer arrives.
			assert.NoError(t, c.Post(t.Context(), path, answer, nil))
			if assert.ErrorAs(t, c.Post(t.Context(), path, answer, nil), &refused) {
				assert.Equal(t, http.StatusNotFound, refused.Status, "it has one report")
			}
			return nil
		})
	}()
	require.Eventually(t, func() bool { d := server.Deliveries(); return len(d) == 1 && len(d[0].Attempts) == 1 }, 30*time.Second, 2*time.Millisecond)
	stop()
	require.Error(t, <-ended)
	attempt := server.Deliveries()[0].Attempts[0]
	require.Equal(t, 418, attempt.StatusCode)
	require.Equal(t, "short", string(attempt.Answer))
	require.Equal(t, "pot", attempt.AnswerHeader.Get("X-Kind"))

	require.NoError(t, c.Delete(t.Context(), "/relays/"+relayID))
	require.Empty(t, server.Webhooks())
	require.Error(t, c.Stream(t.Context(), "/relays/"+relayID+"/attempts", func() {}, nil))
}

func TestImpossibleRelaysAreRefused(t *testing.T) {
	_, c := newRelayed(t)
	for id, in := range map[string]wire.RelayInput{"short": {}, strings.ToUpper(relayID): {}, relayID: {Events: []string{"new_things"}}} {
		var refused *wire.Error
		require.ErrorAs(t, c.Post(t.Context(), "/relays/"+id, in, nil), &refused, id)
		require.Equal(t, "input", refused.Code)
	}
}

// A relay's webhooks are those that were made for it. Others are never adopted, changed or deleted, even if their URL looks the same.
func TestRelaysTouchOnlyTheirOwnWebhooks(t *testing.T) {
	server, c := newRelayed(t)
	lease := server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	var others []refserver.WebhookState
	for _, host := range []string{server.URL, "http://app.example.com"} {
		server.AddWebhook(refserver.Webhook{URL: host + control.RelayPrefix + relayID, Event: refserver.SignatureCompleted, Documents: []string{lease}})
	}
	others = server.Webhooks()
	var relay, again wire.RelayRecord
	in := wire.RelayInput{Events: []string{"new_signature_completed", "new_form_response", "new_form_response"}}
	require.NoError(t, c.Post(t.Context(), "/relays/"+relayID, in, &relay))
	require.Len(t, relay.Webhooks, 2)
	for _, hook := range server.Webhooks()[2:] {
		require.Contains(t, relay.Webhooks, hook.ID)
		require.Equal(t, relayID, hook.Relay)
		require.Empty(t, hook.Documents)
	}
	require.NoError(t, server.DisableWebhook(relay.Webhooks[1]))
	in = wire.RelayInput{Events: []string{"new_signature_completed"}, Documents: []string{lease}}
	require.NoError(t, c.Post(t.Context(), "/relays/"+relayID, in, &again))
	require.Equal(t, relay.Webhooks[1:], again.Webhooks)
	all := server.Webhooks()
	require.Len(t, all, 3, "it no longer gets forms")
	require.Equal(t, []string{lease}, all[2].Documents)
	require.False(t, all[2].Disabled)
	require.NoError(t, c.Delete(t.Context(), "/relays/"+relayID))
	require.Equal(t, others, server.Webhooks())
}
