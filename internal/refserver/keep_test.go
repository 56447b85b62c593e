package refserver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestKeepEverything: a bound of Keep may be as large as an int can be.
func TestKeepEverything(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{
		Start: start, Keep: refserver.Keep{Requests: math.MaxInt, Deliveries: math.MaxInt, Messages: math.MaxInt, Audit: math.MaxInt},
	})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	for range 3 {
		call(t, srv, "GET", "/get-documents?documentType=PDF", "")
		require.Error(t, srv.Pay(doc))
	}
	require.Len(t, srv.Requests(), 3)
	require.Len(t, srv.Audit(doc), 2)
	require.Len(t, srv.Messages(), 1)
}

// TestDroppedMailIsInNoList: the lists of a document and of an address drop what the log of all mail drops.
func TestDroppedMailIsInNoList(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Keep: refserver.Keep{Messages: 8, Audit: 8}})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	for range 4 {
		status, _ := call(t, srv, "POST", "/send-reminder?documentType=PDF&documentId="+doc, "")
		require.Equal(t, 200, status)
	}
	for range 7 {
		srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ben@example.com"}}})
	}
	all := srv.Messages()
	require.Len(t, all, 8)
	_, toAnn := srv.FindMessages(refserver.MessageFilter{To: "ann@example.com"})
	_, about := srv.FindMessages(refserver.MessageFilter{DocumentID: doc})
	_, toBen := srv.FindMessages(refserver.MessageFilter{To: "ben@example.com"})
	require.Equal(t, toAnn, about)
	require.Equal(t, len(all), toAnn+toBen)
	require.Positive(t, toAnn)
	require.Less(t, toAnn, 5)
}
