package signforms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestNumbers_inAnyForm: a whole number is the same as digits, with a fraction of zeros, with an exponent and as text.
func TestNumbers_inAnyForm(t *testing.T) {
	for _, form := range []struct{ name, zero, one, two, failed string }{
		{"digits", "0", "1", "2", "500"},
		{"fraction", "0.0", "1.0", "2.0", "500.0"},
		{"exponent", "0e0", "1e0", "2e0", "5e2"},
		{"text", `"0.0"`, `"1.00"`, `"2.0"`, `"5.0E2"`},
	} {
		t.Run(form.name, func(t *testing.T) {
			ref := signforms.PDFDocument(clienttest.PDFID)
			for _, body := range []string{`{"statusCode":` + form.failed + `}`, `{"status":` + form.failed + `}`, `{"success":` + form.zero + `}`} {
				client := clienttest.Scripted(t, clienttest.Answers(200, body))
				_, err := client.Documents.Void(t.Context(), ref)
				require.ErrorIs(t, err, signforms.ErrUnavailable, body)
				_, err = client.Documents.Remind(t.Context(), ref)
				require.ErrorIs(t, err, signforms.ErrOutcomeUnknown, body)
			}
			_, err := clienttest.Scripted(t, clienttest.Answers(200, `{"success":`+form.one+`,"error":0.0}`)).Documents.Void(t.Context(), ref)
			require.NoError(t, err)
			reminded, err := clienttest.Scripted(t, clienttest.Answers(200, `{"remindersSent":`+form.one+`,"status":"SIGNED"}`)).Documents.Remind(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, 1, *reminded.RemindersSent)

			client := clienttest.Scripted(t, clienttest.Answers(200, `{"documents":[{"documentId":"`+clienttest.PDFID+
				`","signers":[{"signingOrderNo":`+form.two+`}]}],"pagination":{"totalDocuments":`+form.two+`}}`))
			page, err := client.Documents.List(t.Context(), signforms.DocumentListParams{})
			require.NoError(t, err)
			require.Equal(t, 2, page.Items[0].Signers[0].SigningOrderNo)
			require.Equal(t, 2, *page.Total)
			for _, err = range client.Documents.All(t.Context(), signforms.DocumentListParams{}) {
			}
			require.ErrorIs(t, err, signforms.ErrIncomplete)
		})
	}
}
