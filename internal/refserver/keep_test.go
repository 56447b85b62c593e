package refserver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestOptions_Keep_everything: a bound of Keep may be as large as an int can be.
func TestOptions_Keep_everything(t *testing.T) {
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
