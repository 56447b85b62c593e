package refserver_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestServer_errorsNameMissingRecords names records that there are not.
func TestServer_errorsNameMissingRecords(t *testing.T) {
	srv := servicetest.Start(t, nil)
	id := func(_ string, err error) error { return err }
	for _, c := range []struct {
		name string
		got  error
		text string
	}{
		{name: "sample", got: id(srv.Server.TestWebhook("x")), text: `no webhook with id "x"`},
		{name: "rotate", got: id(srv.RotateWebhookSecret("x")), text: `no webhook with id "x"`},
		{name: "remove", got: srv.RemoveFault("x"), text: `no fault with id "x"`},
		{name: "resend", got: srv.Resend("x"), text: `no delivery with id "x"`},
		{name: "act", got: srv.Pay("x"), text: `no document with id "x"`},
		{name: "submit", got: id(srv.SubmitForm("x", refserver.Submission{})), text: `no form with id "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, c.got, refserver.ErrNotFound)
			require.EqualError(t, c.got, c.text)
		})
	}
}

func TestServer_drafts(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, Draft: true})
	require.NoError(t, srv.SendDraft(doc))
	require.ErrorIs(t, srv.SendDraft(doc), refserver.ErrRefused)
	require.Len(t, srv.Messages(), 1)
	require.NoError(t, srv.Void(doc))
	d, _ := srv.FindDocument(doc)
	require.Equal(t, refserver.StatusVoid, d.Status)
}

func TestFault_listAndClear(t *testing.T) {
	srv := servicetest.Start(t, nil)
	first, err := srv.Server.Fail(refserver.Fault{Status: 503, Body: "{}", Times: 2})
	require.NoError(t, err)
	second, err := srv.Server.FailWebhooks(refserver.WebhookFault{Drop: true})
	require.NoError(t, err)
	call(t, srv, "GET", "/get-documents", "{}")
	require.Equal(t, []refserver.ActiveFault{
		{ID: first, Fault: &refserver.Fault{Status: 503, Body: "{}", Times: 2}, Matched: 1, Happened: 1, LastAt: srv.Faults()[0].LastAt},
		{ID: second, WebhookFault: &refserver.WebhookFault{Drop: true}},
	}, srv.Faults())
	require.NoError(t, srv.RemoveFault(second))
	require.ErrorIs(t, srv.RemoveFault(second), refserver.ErrNotFound)
	require.Len(t, srv.Faults(), 1)
	srv.ClearFaults()
	require.Empty(t, srv.Faults())
	third, err := srv.Server.Fail(refserver.Fault{Status: 503})
	require.NoError(t, err)
	require.NotContains(t, []string{first, second}, third)
}

// TestReset_leavesNothing resets a server that has one of everything, and restarts it.
func TestReset_leavesNothing(t *testing.T) {
	storage, endpoint := &memory{}, newReceiver(t)
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage})
	doc := signedLease(t, srv, endpoint.URL)
	other := srv.AddDocument(refserver.Document{Name: "Other", Signers: ann})
	for range 5 {
		status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+other, "")
		require.Equal(t, 200, status)
	}
	require.NoError(t, srv.Settle(t.Context()))
	srv.Fail(refserver.Fault{DocumentID: doc, Status: 500})
	before := stateOf(srv)
	require.NoError(t, srv.Reset())

	empty := state{
		APIKey: srv.APIKey, WorkspaceID: srv.WorkspaceID, WebhookSecret: srv.WebhookSecret, Deliveries: []refserver.Delivery{}, Messages: []refserver.Message{},
	}
	for range 2 {
		now := stateOf(srv)
		require.Empty(t, now.Audit)
		now.Audit = nil
		require.Equal(t, empty, now)
		require.Empty(t, srv.Requests())
		require.Empty(t, srv.Faults())
		require.Equal(t, 2, storage.Count(""), "service, key, and nothing else: no file either")
		srv, storage = restart(t, srv, storage, refserver.Options{Start: start})
	}
	signedLease(t, srv, endpoint.URL)
	again := srv.AddDocument(refserver.Document{Name: "Other", Signers: ann})
	status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+again, "")
	require.Equal(t, 200, status, "the limit begins anew")
	require.NoError(t, srv.Settle(t.Context()))
	require.Greater(t, srv.Deliveries()[0].ID, before.Deliveries[len(before.Deliveries)-1].ID, "numbers go on")
	require.Greater(t, srv.Messages()[0].ID, before.Messages[len(before.Messages)-1].ID)
}

// A reset keeps the keys, also over a restart.
func TestReset_keepsItsKeys(t *testing.T) {
	storage := &memory{}
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage})
	added, err := srv.AddAPIKey()
	require.NoError(t, err)
	require.NoError(t, srv.Reset())
	for range 2 {
		for _, row := range []struct {
			key      string
			accepted bool
		}{{key: srv.APIKey, accepted: true}, {key: added, accepted: true}, {key: "other", accepted: false}} {
			t.Run(row.key, func(t *testing.T) {
				client, err := signforms.New(srv.URL, row.key, nil)
				require.NoError(t, err)
				_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{})
				require.Equal(t, row.accepted, err == nil, "%v", err)
			})
		}
		srv, storage = restart(t, srv, storage, refserver.Options{Start: start})
	}
}

// Clients of the server may remind again after a reset, as the service allows.
func TestReset_freesTheClientsReminders(t *testing.T) {
	srv := servicetest.Start(t, nil)
	for range 2 {
		for range 5 {
			doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
			_, err := srv.Client().Documents.Remind(t.Context(), signforms.PDFDocument(doc))
			require.NoError(t, err)
		}
		require.NoError(t, srv.Reset())
	}
}

// TestShutdown_waits: Shutdown lets a request and an attempt under way end, and starts no other attempt.
func TestShutdown_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		ended := 0
		url := network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			time.Sleep(5 * time.Second)
			ended++
		}))
		hook := srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
		for range 3 {
			srv.TestWebhook(hook)
		}
		srv.Fail(refserver.Fault{Latency: 3 * time.Second})
		answered := make(chan error, 1)
		go func() {
			_, err := srv.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
			answered <- err
		}()
		synctest.Wait()
		require.NoError(t, srv.Shutdown(t.Context()))
		require.NoError(t, <-answered)
		require.Equal(t, 1, ended)
		require.Len(t, srv.Deliveries()[0].Attempts, 1)
		require.Equal(t, refserver.DeliverySending, srv.Deliveries()[2].Status, "it is sent after a restart")
	})
}

func TestShutdown_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		url := network.Serve("app.test", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		srv.TestWebhook(srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted}))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, srv.Shutdown(ctx), context.DeadlineExceeded)
	})
}
