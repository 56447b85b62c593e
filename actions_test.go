package signforms_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestAlreadyVoidedNeedsAWitness: "already" alone may be about a signature.
func TestAlreadyVoidedNeedsAWitness(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Document voided"}`:                                                        "voided",
		`{"message":"Document is already voided","status":"VOID"}`:                             "already",
		`{"message":"It was done already","status":"VOIDED"}`:                                  "voided",
		`{"message":"It was already void","status":"void"}`:                                    "already",
		`{"message":"Voided","status":"success"}`:                                              "voided",
		`{"data":{"message":"It is already voided"}}`:                                          "already",
		`{"message":"already voided","success":false}`:                                         "already",
		`{"error":"Document is already voided"}`:                                               "already",
		`{"message":"boom","status":"VOID","success":false}`:                                   "voided",
		`{"message":"Document voided successfully. It was already signed by Ann"}`:             "voided",
		`{"message":"Document was already sent to 2 signers; it is now void","status":"VOID"}`: "voided",
		`{"message":"It is no longer valid, for it was voided. Ann will not be notified"}`:     "voided",
		`{"message":"ok","status":"SIGNED"}`:                                                   "refused",
		`{"message":"ok","status":"signed"}`:                                                   "refused",
		`{"message":"ok","status":"PENDING"}`:                                                  "refused",
		`{"data":{"message":"ok","status":"DECLINED"}}`:                                        "refused",
		`{"message":"No","status":"SIGNED","success":false}`:                                   "refused",
		`{"data":{"message":"Document is already signed"}}`:                                    "refused",
		`{"message":"Void is not allowed"}`:                                                    "refused",
		`{"message":"Unable to void this document"}`:                                           "refused",
		`{"message":"No","status":"PENDING","success":false}`:                                  "failed",
		`{"message":"Document has already been voided"}`:                                       "already",
		`{"message":"The document is already in status VOID"}`:                                 "already",
		`"already void"`: "already",
		`{"message":"Document is already voided","status":"SIGNED"}`:                 "refused",
		`{"message":"Document is already signed"}`:                                   "refused",
		`{"message":"Document is already signed","status":"SIGNED"}`:                 "refused",
		`{"message":"Document is already signed and cannot be voided"}`:              "refused",
		`{"message":"Document cannot be voided because it has already been signed"}`: "refused",
		`"Already signed"`: "refused",
	} {
		var ended error
		c := clienttest.Scripted(t, clienttest.Answers(200, body), func(o *signforms.Options) {
			o.OnCall = func(ctx context.Context, _ signforms.Operation) (context.Context, func(error)) {
				return ctx, func(err error) { ended = err }
			}
		})
		voided, err := c.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))
		require.Equal(t, err, ended)
		switch want {
		case "refused":
			require.Error(t, err, body)
			clienttest.RequireMatches(t, err, signforms.ErrRefused)
			continue
		case "failed":
			require.Error(t, err, body)
			clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
			continue
		}
		require.NoError(t, err, body)
		require.Equal(t, want == "already", voided.AlreadyVoided, body)
	}
}

// TestRemindersThatWereNotSent: a status of 200 is no proof where the same answer denies it.
func TestRemindersThatWereNotSent(t *testing.T) {
	refused, unknown := signforms.ErrRefused, signforms.ErrOutcomeUnknown
	for body, want := range map[string]error{
		`{"message":"Reminder sent successfully","status":"PENDING","remindersSent":1}`:     nil,
		`{"message":"Reminder sent. Ann has already signed"}`:                               nil,
		`{"message":"Nobody is pending","status":"PAID","remindersSent":0}`:                 nil,
		`{"message":"No reminder sent: nobody is pending","remindersSent":0}`:               nil,
		`{"message":"Ann was reminded and has signed","status":"SIGNED","remindersSent":1}`: nil,
		`{"message":"sent","status":"success"}`:                                             nil,
		`{}`:                                                                                nil,
		`{"message":"Document is already signed","status":"SIGNED"}`:                        refused,
		`{"message":"ok","status":"SIGNED"}`:                                                refused,
		`{"message":"ok","status":"voided","remindersSent":0}`:                              refused,
		`{"message":"ok","data":{"status":"EXPIRED"}}`:                                      refused,
		`{"message":"No reminder sent: document is void","status":"VOID"}`:                  refused,
		`{"message":"Reminder limit reached"}`:                                              refused,
		`{"message":"Document is already signed"}`:                                          refused,
		`"Cannot send a reminder for a document that is EXPIRED"`:                           refused,
		`{"message":"Reminder not sent"}`:                                                   refused,
		`{"success":false,"message":"Document is void","status":"VOID"}`:                    refused,
		`{"success":false,"message":"Reminder failed: mail server","status":"PENDING"}`:     unknown,
		`{"success":false,"message":"no","remindersSent":1}`:                                unknown,
	} {
		_, err := clienttest.Scripted(t, clienttest.Answers(200, body)).Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
		if want == nil {
			require.NoError(t, err, body)
			continue
		}
		require.Error(t, err, body)
		clienttest.RequireMatches(t, err, want)
	}
	reminded, err := clienttest.Scripted(t, clienttest.Answers(200, `{"data":{"message":"sent","documentId":"x","status":"PENDING","remindersSent":2}}`)).
		Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	require.Equal(t, []any{"sent", "x", signforms.StatusPending, 2}, []any{reminded.Message, reminded.DocumentID, reminded.Status, *reminded.RemindersSent})
}
