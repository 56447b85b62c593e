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
		{name: "digits", zero: "0", one: "1", two: "2", failed: "500"},
		{name: "fraction", zero: "0.0", one: "1.0", two: "2.0", failed: "500.0"},
		{name: "exponent", zero: "0e0", one: "1e0", two: "2e0", failed: "5e2"},
		{name: "text", zero: `"0.0"`, one: `"1.00"`, two: `"2.0"`, failed: `"5.0E2"`},
	} {
		t.Run(form.name, func(t *testing.T) {
			ref := signforms.PDFDocument(clienttest.PDFID)
			for _, body := range []string{`{"statusCode":` + form.failed + `}`, `{"status":` + form.failed + `}`, `{"success":` + form.zero + `}`} {
				t.Run(body, func(t *testing.T) {
					client := clienttest.Scripted(t, clienttest.Answers(200, body))
					_, err := client.Documents.Void(t.Context(), ref)
					require.ErrorIs(t, err, signforms.ErrUnavailable)
					_, err = client.Documents.Remind(t.Context(), ref)
					require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
				})
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
