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

// TestMethodsSayWhatIsNotThere names records that there are not.
func TestMethodsSayWhatIsNotThere(t *testing.T) {
	srv := servicetest.Start(t, nil)
	id := func(_ string, err error) error { return err }
	for _, c := range []struct {
		name string
		got  error
		text string
	}{
		{"sample", id(srv.Server.TestWebhook("x")), `no webhook with id "x"`},
		{"rotate", id(srv.RotateWebhookSecret("x")), `no webhook with id "x"`},
		{"remove", srv.RemoveFault("x"), `no fault with id "x"`},
		{"resend", srv.Resend("x"), `no delivery with id "x"`},
		{"act", srv.Pay("x"), `no document with id "x"`},
		{"submit", id(srv.SubmitForm("x", refserver.Submission{})), `no form with id "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, c.got, refserver.ErrNotFound)
			require.EqualError(t, c.got, c.text)
		})
	}
}

func TestDraftsAreSentAndVoided(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, Draft: true})
	require.NoError(t, srv.SendDraft(doc))
	require.ErrorIs(t, srv.SendDraft(doc), refserver.ErrRefused)
	require.Len(t, srv.Messages(), 1)
	require.NoError(t, srv.Void(doc))
	d, _ := srv.FindDocument(doc)
	require.Equal(t, refserver.StatusVoid, d.Status)
}

func TestFaultsAreListedAndCleared(t *testing.T) {
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

// TestResetLeavesNothing resets a server that has one of everything, and restarts it.
func TestResetLeavesNothing(t *testing.T) {
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
func TestResetKeepsItsKeys(t *testing.T) {
	storage := &memory{}
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage})
	added, err := srv.AddAPIKey()
	require.NoError(t, err)
	require.NoError(t, srv.Reset())
	for range 2 {
		for key, accepted := range map[string]bool{srv.APIKey: true, added: true, "other": false} {
			client, err := signforms.New(srv.URL, key, nil)
			require.NoError(t, err)
			_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{})
			require.Equal(t, accepted, err == nil, "%v", err)
		}
		srv, storage = restart(t, srv, storage, refserver.Options{Start: start})
	}
}

// Clients of the server may remind again after a reset, as the service allows.
func TestResetFreesTheClientsReminders(t *testing.T) {
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

// TestShutdownWaits: Shutdown lets a request and an attempt under way end, and starts no other attempt.
func TestShutdownWaits(t *testing.T) {
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

func TestShutdownEndsWithItsContext(t *testing.T) {
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
