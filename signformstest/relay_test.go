package signformstest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/signformstest/storagetest"
)

// After a restart a relay finds its webhooks by its id, wherever it listens now, and what was pending for them arrives there.
func TestRelayOutlivesARestart(t *testing.T) {
	network := signformstest.NewNetwork()
	t.Cleanup(func() { network.Close() })
	var got int
	url := network.Serve("relay.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	options := &signformstest.Options{Network: network, Storage: new(storagetest.Memory), Start: start}
	srv := signformstest.NewServer(t, options)
	before, err := srv.SetRelay("mine", signformstest.Webhook{URL: "http://nobody.test", Event: signformstest.SignatureCompleted})
	require.NoError(t, err)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: ann})
	require.NoError(t, srv.Signer(doc, ann[0].Email).View())
	require.NoError(t, srv.Settle(t.Context()))
	srv.Close()

	srv = signformstest.NewServer(t, options)
	require.Equal(t, "mine", srv.Webhooks()[0].Relay)
	after, err := srv.SetRelay("mine", signformstest.Webhook{URL: url, Event: signformstest.SignatureCompleted})
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Len(t, srv.Webhooks(), 1)
	srv.Advance(time.Minute)
	require.Equal(t, 1, got)
}

func TestRelaysThatAreRefused(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	hook := signformstest.Webhook{URL: "http://app.test", Event: signformstest.FormResponse}
	_, err := srv.SetRelay("mine", hook)
	require.NoError(t, err)
	for field, c := range map[string]struct {
		id    string
		hooks []signformstest.Webhook
	}{
		"URL":               {"mine", []signformstest.Webhook{{Event: signformstest.FormResponse}}},
		"webhooks[1].Event": {"mine", []signformstest.Webhook{hook, hook}},
		"Documents[0]":      {"mine", []signformstest.Webhook{{URL: "http://app.test", Event: signformstest.TemplateResponse, Documents: []string{"none"}}}},
	} {
		_, err := srv.SetRelay(c.id, c.hooks...)
		require.ErrorIs(t, err, signformstest.ErrInvalid)
		var wrong *signformstest.InvalidError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
		require.Len(t, srv.Webhooks(), 1, "a refused change changes nothing")
	}
	for _, id := range []string{"", strings.Repeat("a", signformstest.MaxName+1)} {
		_, err := srv.SetRelay(id, hook)
		var wrong *signformstest.InvalidError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "id", wrong.Field)
	}
}
