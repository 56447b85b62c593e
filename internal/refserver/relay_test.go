package refserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// After a restart a relay finds its webhooks by its id, wherever it listens now, and what was pending for them arrives there.
func TestRelay_outlivesARestart(t *testing.T) {
	network := refserver.NewNetwork()
	t.Cleanup(func() { network.Close() })
	var got int
	url := network.Serve("relay.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	options := &refserver.Options{Network: network, Storage: new(memory), Start: start}
	srv := servicetest.Start(t, options)
	before, err := srv.SetRelay("mine", refserver.Webhook{URL: "http://nobody.test", Event: refserver.SignatureCompleted})
	require.NoError(t, err)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	require.NoError(t, srv.Signer(doc, ann[0].Email).View())
	require.NoError(t, srv.Settle(t.Context()))
	srv.Close()

	srv = servicetest.Start(t, options)
	require.Equal(t, "mine", srv.Webhooks()[0].Relay)
	after, err := srv.SetRelay("mine", refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Len(t, srv.Webhooks(), 1)
	srv.Advance(time.Minute)
	require.Equal(t, 1, got)
}

func TestRelay_refused(t *testing.T) {
	srv := servicetest.Start(t, nil)
	hook := refserver.Webhook{URL: "http://app.test", Event: refserver.FormResponse}
	_, err := srv.SetRelay("mine", hook)
	require.NoError(t, err)
	for _, c := range []struct {
		field string
		id    string
		hooks []refserver.Webhook
	}{
		{field: "URL", id: "mine", hooks: []refserver.Webhook{{Event: refserver.FormResponse}}},
		{field: "webhooks[1].Event", id: "mine", hooks: []refserver.Webhook{hook, hook}},
		{field: "Documents[0]", id: "mine", hooks: []refserver.Webhook{{URL: "http://app.test", Event: refserver.TemplateResponse, Documents: []string{"none"}}}},
	} {
		t.Run(c.field, func(t *testing.T) {
			_, err := srv.SetRelay(c.id, c.hooks...)
			require.ErrorIs(t, err, refserver.ErrInvalid)
			var wrong *refserver.InvalidError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, c.field, wrong.Field)
			require.Len(t, srv.Webhooks(), 1, "a refused change changes nothing")
		})
	}
	for _, id := range []string{"", strings.Repeat("a", refserver.MaxName+1)} {
		t.Run(fmt.Sprintf("%.60s", id), func(t *testing.T) {
			_, err := srv.SetRelay(id, hook)
			var wrong *refserver.InvalidError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, "id", wrong.Field)
		})
	}
}
