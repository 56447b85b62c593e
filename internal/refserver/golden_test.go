package refserver_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// TestOptions_Seed compares everything that a run shows with an earlier run.
func TestOptions_Seed(t *testing.T) {
	got := goldenRun(t)
	const file = "testdata/golden.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func goldenRun(t *testing.T) string {
	network := refserver.NewNetwork()
	defer network.Close()
	srv := servicetest.Start(t, &refserver.Options{
		Seed: 1, Start: start, VirtualTimestamps: true, Network: network,
	})
	defer srv.Close()
	r := &receiver{statuses: []int{500}}
	url := network.Serve("app.test", r)
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	hook := srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.TemplateResponse})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	var b strings.Builder
	fmt.Fprintln(&b, srv.URL, srv.APIKey, srv.WorkspaceID, srv.WebhookSecret, template, hook, doc)
	for _, m := range srv.Messages() {
		fmt.Fprintln(&b, m, string(m.Link))
	}
	srv.TestWebhook(hook)
	srv.Advance(time.Hour)
	for _, d := range r.all() {
		fmt.Fprintln(&b, d.header.Get("x-timestamp"), d.header.Get("x-signature"), string(d.body))
	}
	_, body, err := list(srv, "")
	require.NoError(t, err)
	fmt.Fprintln(&b, body)
	for _, d := range srv.Deliveries() {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}
