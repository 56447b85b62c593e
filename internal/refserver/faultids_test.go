package refserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestFault_thatMatchesNothingIsRefused: a fault that can never match is refused, such as one with a mistyped id.
func TestFault_thatMatchesNothingIsRefused(t *testing.T) {
	srv := servicetest.Start(t, nil)
	document := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	for _, id := range []string{"lease", document[1:], document + "0", "0123456789abcdef0123456g"} {
		t.Run(id, func(t *testing.T) {
			_, err := srv.Server.Fail(refserver.Fault{DocumentID: id, Status: 503})
			require.ErrorIs(t, err, refserver.ErrInvalid)
			require.ErrorContains(t, err, "is a UUID or has 24 hexadecimal digits")
			_, err = srv.Server.FailWebhooks(refserver.WebhookFault{DocumentID: id, Drop: true})
			require.ErrorIs(t, err, refserver.ErrInvalid)
			require.ErrorContains(t, err, "is a UUID or has 24 hexadecimal digits")
		})
	}
	_, err := srv.Server.FailWebhooks(refserver.WebhookFault{WebhookID: document, Drop: true})
	require.ErrorIs(t, err, refserver.ErrInvalid)
	require.ErrorContains(t, err, "add the webhook first")
	forms := srv.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1", Event: refserver.FormResponse})
	for _, row := range []struct {
		says string
		f    refserver.WebhookFault
	}{
		{says: "Shift: 1.5s is not a whole number of seconds", f: refserver.WebhookFault{Shift: 1500 * time.Millisecond}},
		{says: `EventType: "new_signature_pdf_completed" is never delivered`, f: refserver.WebhookFault{WebhookID: forms, EventType: "new_signature_pdf_completed", Drop: true}},
	} {
		t.Run(row.says, func(t *testing.T) {
			_, err := srv.Server.FailWebhooks(row.f)
			require.ErrorIs(t, err, refserver.ErrInvalid)
			require.ErrorContains(t, err, row.says)
		})
	}
	precise := servicetest.Start(t, &refserver.Options{Profile: refserver.Profile{Timestamps: refserver.UnixMilliseconds}})
	precise.FailWebhooks(refserver.WebhookFault{Shift: 1500 * time.Millisecond})
	_, err = precise.Server.FailWebhooks(refserver.WebhookFault{Shift: 1500 * time.Microsecond})
	require.ErrorContains(t, err, "Shift: 1.5ms is not a whole number of milliseconds")
	for says, f := range map[string]refserver.Fault{
		"RetryAfter: has only spaces": {Status: 503, RetryAfter: " "},
	} {
		_, err := srv.Server.Fail(f)
		require.ErrorIs(t, err, refserver.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
	require.Empty(t, srv.Faults())
}

// TestFault_mayNameFutureRecords: a fault may name a document that does not exist yet, and requests may name any id.
func TestFault_mayNameFutureRecords(t *testing.T) {
	const unknown, unknownResponse = "0D8E3A4C-5B1F-4C7E-9A55-2F6F1F0C9D11", "0123456789ABCDEF01234567"
	srv := servicetest.Start(t, nil)
	hook := srv.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1", Event: refserver.SignatureCompleted})
	for _, id := range []string{unknown, unknownResponse} {
		srv.Fail(refserver.Fault{DocumentID: id, Status: http.StatusTeapot})
		srv.FailWebhooks(refserver.WebhookFault{WebhookID: hook, DocumentID: id, Drop: true})
	}
	_, err := srv.Client().Documents.Void(t.Context(), signforms.PDFDocument(strings.ToLower(unknown)))
	require.ErrorContains(t, err, "418")
}
