package signformstest_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/signformstest/storagetest"
)

// TestMethodsOfProgramsReturnErrors calls each method with invalid input.
func TestMethodsOfProgramsReturnErrors(t *testing.T) {
	srv, err := signformstest.Start(nil)
	require.NoError(t, err)
	defer srv.Close()
	id := func(_ string, err error) error { return err }
	for _, c := range []struct {
		name string
		got  error
		want error
		text string
	}{
		{"template", id(srv.TryAddTemplate(signformstest.Template{Name: "Offer"})), signformstest.ErrInvalid, "Roles: is empty: a template needs one"},
		{"form", id(srv.TryAddForm(signformstest.Form{Title: "F"})), signformstest.ErrInvalid, "Fields: is empty: a form needs one"},
		{"document", id(srv.TryAddDocument(signformstest.Document{Name: "D"})), signformstest.ErrInvalid, "Signers: a document needs a signer before it can be sent"},
		{"webhook's URL", id(srv.TryAddWebhook(signformstest.Webhook{URL: "app"})), signformstest.ErrInvalid,
			`URL: must be an absolute one, as in http://127.0.0.1:8080/webhook, not "app"`},
		{"webhook's documents", id(srv.TryAddWebhook(signformstest.Webhook{URL: "http://app.test", Event: signformstest.FormResponse, Documents: []string{"x"}})),
			signformstest.ErrInvalid, `Documents[0]: no form with id "x"`},
		{"fault", id(srv.TryFail(signformstest.Fault{Status: 99})), signformstest.ErrInvalid, "Status: 99 is not 200 to 599"},
		{"webhook fault", id(srv.TryFailWebhooks(signformstest.WebhookFault{Nth: -1})), signformstest.ErrInvalid, "Nth: must not be negative"},
		{"clock", srv.TryAdvance(t.Context(), -1), signformstest.ErrInvalid, "-1ns would move the clock back"},
		{"sample", id(srv.TryTestWebhook("x")), signformstest.ErrNotFound, `no webhook with id "x"`},
		{"rotate", id(srv.RotateWebhookSecret("x")), signformstest.ErrNotFound, `no webhook with id "x"`},
		{"remove", srv.RemoveFault("x"), signformstest.ErrNotFound, `no fault with id "x"`},
		{"resend", srv.Resend("x"), signformstest.ErrNotFound, `no delivery with id "x"`},
		{"act", srv.Pay("x"), signformstest.ErrNotFound, `no document with id "x"`},
		{"submit", id(srv.SubmitForm("x", signformstest.Submission{})), signformstest.ErrNotFound, `no form with id "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, c.got, c.want)
			require.EqualError(t, c.got, c.text)
		})
	}
}

func TestDraftsAreSentAndVoided(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: ann, Draft: true})
	require.NoError(t, srv.SendDraft(doc))
	require.ErrorIs(t, srv.SendDraft(doc), signformstest.ErrRefused)
	require.Len(t, srv.Messages(), 1)
	require.NoError(t, srv.Void(doc))
	d, _ := srv.FindDocument(doc)
	require.Equal(t, signforms.StatusVoid, d.Status)
}

func TestFaultsAreListedAndCleared(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	first, err := srv.TryFail(signformstest.Fault{Status: 503, Body: "{}", Times: 2})
	require.NoError(t, err)
	second, err := srv.TryFailWebhooks(signformstest.WebhookFault{Drop: true})
	require.NoError(t, err)
	call(t, srv, "GET", "/get-documents", "{}")
	require.Equal(t, []signformstest.ActiveFault{
		{ID: first, Fault: &signformstest.Fault{Status: 503, Body: "{}", Times: 2}, Matched: 1, Happened: 1, LastAt: srv.Faults()[0].LastAt},
		{ID: second, WebhookFault: &signformstest.WebhookFault{Drop: true}},
	}, srv.Faults())
	require.NoError(t, srv.RemoveFault(second))
	require.ErrorIs(t, srv.RemoveFault(second), signformstest.ErrNotFound)
	require.Len(t, srv.Faults(), 1)
	srv.ClearFaults()
	require.Empty(t, srv.Faults())
	third, err := srv.TryFail(signformstest.Fault{Status: 503})
	require.NoError(t, err)
	require.NotContains(t, []string{first, second}, third)
}

// TestResetLeavesNothing resets a server that has one of everything, and restarts it.
func TestResetLeavesNothing(t *testing.T) {
	storage, endpoint := &storagetest.Memory{}, newReceiver(t)
	srv := signformstest.NewServer(t, &signformstest.Options{Start: start, Storage: storage})
	doc := signedLease(t, srv, endpoint.URL)
	other := srv.AddDocument(signformstest.Document{Name: "Other", Signers: ann})
	for range 5 {
		status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+other, "")
		require.Equal(t, 200, status)
	}
	require.NoError(t, srv.Settle(t.Context()))
	srv.Fail(signformstest.Fault{DocumentID: doc, Status: 500})
	before := stateOf(srv)
	require.NoError(t, srv.Reset())

	empty := state{
		APIKey: srv.APIKey, WorkspaceID: srv.WorkspaceID, WebhookSecret: srv.WebhookSecret, Deliveries: []signformstest.Delivery{}, Messages: []signformstest.Message{},
	}
	for range 2 {
		now := stateOf(srv)
		require.Empty(t, now.Audit)
		now.Audit = nil
		require.Equal(t, empty, now)
		require.Empty(t, srv.Requests())
		require.Empty(t, srv.Faults())
		require.Equal(t, 3, storage.Count(""), "service, workspace, key, and nothing else: no file either")
		srv, storage = restart(t, srv, storage, signformstest.Options{Start: start})
	}
	signedLease(t, srv, endpoint.URL)
	again := srv.AddDocument(signformstest.Document{Name: "Other", Signers: ann})
	status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+again, "")
	require.Equal(t, 200, status, "the limit begins anew")
	require.NoError(t, srv.Settle(t.Context()))
	require.Greater(t, srv.Deliveries()[0].ID, before.Deliveries[len(before.Deliveries)-1].ID, "numbers go on")
	require.Greater(t, srv.Messages()[0].ID, before.Messages[len(before.Messages)-1].ID)
}

// A reset keeps the keys, also over a restart.
func TestResetKeepsItsKeys(t *testing.T) {
	storage := &storagetest.Memory{}
	srv := signformstest.NewServer(t, &signformstest.Options{Start: start, Storage: storage})
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
		srv, storage = restart(t, srv, storage, signformstest.Options{Start: start})
	}
}

// Clients of the server may remind again after a reset, as the service allows.
func TestResetFreesTheClientsReminders(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	for range 2 {
		for range 5 {
			doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: ann})
			_, err := srv.Client().Documents.Remind(t.Context(), signforms.PDFDocument(doc))
			require.NoError(t, err)
		}
		require.NoError(t, srv.Reset())
	}
}

// TestShutdownWaits: Shutdown lets a request and an attempt under way end, and starts no other attempt.
func TestShutdownWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
		ended := 0
		url := network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			time.Sleep(5 * time.Second)
			ended++
		}))
		hook := srv.AddWebhook(signformstest.Webhook{URL: url, Event: signformstest.SignatureCompleted})
		for range 3 {
			srv.TestWebhook(hook)
		}
		srv.Fail(signformstest.Fault{Latency: 3 * time.Second})
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
		require.Equal(t, signformstest.DeliverySending, srv.Deliveries()[2].Status, "it is sent after a restart")
	})
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
		url := network.Serve("app.test", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		srv.TestWebhook(srv.AddWebhook(signformstest.Webhook{URL: url, Event: signformstest.SignatureCompleted}))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, srv.Shutdown(ctx), context.DeadlineExceeded)
	})
}
