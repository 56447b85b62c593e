package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// Ways in which a service may say how long a list is.
var totalReports = map[string]func(r listRequest, items, total int) string{
	"none": func(listRequest, int, int) string { return "" },
	"pagination": func(r listRequest, _, total int) string {
		return fmt.Sprintf(`,"pagination":{"currentPage":%d,"totalPages":%d,"totalDocuments":%d}`, r.page, (total+r.limit-1)/r.limit, total)
	},
	"pagination without total": func(r listRequest, _, total int) string {
		return fmt.Sprintf(`,"pagination":{"currentPage":%d,"totalPages":%d}`, r.page, (total+r.limit-1)/r.limit)
	},
	"total alone": func(_ listRequest, _, total int) string {
		return fmt.Sprintf(`,"pagination":{"totalDocuments":%d}`, total)
	},
	"total of the page": func(_ listRequest, items, _ int) string {
		return fmt.Sprintf(`,"pagination":{"totalDocuments":%d}`, items)
	},
	"documentsCount of all":       func(_ listRequest, _, total int) string { return fmt.Sprintf(`,"documentsCount":%d`, total) },
	"documentsCount of the page":  func(_ listRequest, items, _ int) string { return fmt.Sprintf(`,"documentsCount":%d`, items) },
	"documentsCount of something": func(listRequest, int, int) string { return `,"documentsCount":137` },
	"total of something":          func(listRequest, int, int) string { return `,"pagination":{"totalDocuments":137}` },
}

// TestAllUnderEachReportOfTotals: 250 of 250 documents, some of which were created in the same millisecond.
func TestAllUnderEachReportOfTotals(t *testing.T) {
	for reported, report := range totalReports {
		s := &listService{answer: func(_ int, r listRequest) string {
			ids := window(upTo(250), r.page, r.limit)
			page := pageJSONAt(ids, "", func(n int) int { return -n / 3 })
			return page[:len(page)-1] + report(r, len(ids), 250) + "}"
		}}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.NoError(t, err, reported)
		require.Equal(t, wantIDs(upTo(250)), ids, reported)
		require.LessOrEqual(t, len(s.requests), 5, reported)
		for _, r := range s.requests {
			require.Empty(t, r.dateTo, "a bound that the caller did not set")
		}
	}
}

// TestDocumentsCountIsATotal where there is no pagination, once it is more than a page holds: All notices what vanishes from
// the part that it has read.
func TestDocumentsCountIsATotal(t *testing.T) {
	ids := upTo(250)
	s := &listService{answer: func(_ int, r listRequest) string {
		if r.page == 3 && len(ids) == 250 {
			ids = ids[100:]
		}
		return fmt.Sprintf(`{"documentsCount":%d,%s`, len(ids), pageJSON(window(ids, r.page, 100), "")[1:])
	}}
	got, err := collect(t, s.client(t), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.ElementsMatch(t, wantIDs(upTo(250)), got)
}

// TestAllUnderEachProfileOfTotals: the reference service reports totals in each of its ways. All yields all documents that were there,
// and Get tells one that is not there from an answer that cannot be read.
func TestAllUnderEachProfileOfTotals(t *testing.T) {
	for _, p := range []signformstest.Profile{{}, {CountPage: true}, {NoPagination: true}, {NoPagination: true, CountPage: true}} {
		name := fmt.Sprintf("no pagination %t, count of the page %t", p.NoPagination, p.CountPage)
		srv := signformstest.NewServer(t, &signformstest.Options{Profile: p})
		want := addPending(srv, 25)
		c := serviceClient(t, srv)
		var got []string
		for d, err := range c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: 10}) {
			require.NoError(t, err, name)
			if got = append(got, d.ID); len(got) == 1 {
				srv.Advance(26 * time.Hour)
			}
		}
		require.Equal(t, want, got, name)
		require.LessOrEqual(t, len(srv.Requests()), 5, name)

		_, err := c.Documents.Get(t.Context(), clienttest.PDFID)
		require.ErrorIs(t, err, signforms.ErrNotFound, name)
	}
}

// A document's status decides about a void, and of words only "already void". All others raise a doubt.
func TestVoidsThatWereNotDone(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Document voided"}`:                                            "voided",
		`{"message":"Document is already voided","status":"VOID"}`:                 "already",
		`{"message":"It was already void","status":"void"}`:                        "already",
		`{"message":"boom","status":"VOID","success":false}`:                       "voided",
		`{"message":"Document voided successfully. It was already signed by Ann"}`: "doubtful",
		`{"message":"ok","status":"SIGNED"}`:                                       "refused",
		`{"message":"ok","status":"PENDING"}`:                                      "doubtful",
		`{"data":{"message":"ok","status":"DECLINED"}}`:                            "refused",
		`{"\u0065rror":"\u006eo"}`:                                                 "failed",
		`{"message":"No","status":"PENDING","success":false}`:                      "failed",
		`"already void"`: "already",
		`{"message":"Document is already voided","status":"SIGNED"}`:                    "refused",
		`{"message":"Document is already signed"}`:                                      "doubtful",
		`{"message":"Document voided. Signers were not notified of voided documents."}`: "doubtful",
		`{"message":"ok","data":{"error":"Only drafts can be voided"}}`:                 "failed",
		`{"message":"Boom","status":"error"}`:                                           "doubtful",
		`{"message":"ok","status":"success","data":{"status":"SIGNED"}}`:                "refused",
		`{"message":"already voided","status":"PENDING"}`:                               "doubtful",
		`{"message":"already voided","success":false}`:                                  "failed",
		`{"error":"Document is already voided"}`:                                        "failed",
		`{"message":"ok","data":{"success":false}}`:                                     "failed",
		`{"message":"ok","status":500}`:                                                 "failed",
		`{"message":"ok","status":false}`:                                               "failed",
		`{"message":"ok","status":true}`:                                                "voided",
	} {
		var ended error
		c := clienttest.Scripted(t, clienttest.Answers(200, body), func(o *signforms.Options) {
			o.OnCall = func(ctx context.Context, _ signforms.Operation) (context.Context, func(error)) {
				return ctx, func(err error) { ended = err }
			}
		})
		voided, err := c.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))
		require.Equal(t, err, ended)
		var e *signforms.Error
		if errors.As(err, &e) {
			require.Equal(t, want == "doubtful", e.Attempts == 4, body)
		}
		switch want {
		case "refused":
			require.Error(t, err, body)
			clienttest.RequireMatches(t, err, signforms.ErrRefused)
			continue
		case "failed", "doubtful":
			require.Error(t, err, body)
			clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
			continue
		}
		require.NoError(t, err, body)
		require.Equal(t, want == "already", voided.AlreadyVoided, body)
	}
}

// A doubt about a void ends when the next answer says that the document is void already.
func TestDoubtfulVoidIsRepeated(t *testing.T) {
	answers := []string{`{"message":"Document voided. Signers were not notified."}`, `{"message":"Document is already voided"}`}
	client := clienttest.Scripted(t, clienttest.Transport(func(r *http.Request) (*http.Response, error) {
		answer := answers[0]
		answers = answers[1:]
		return clienttest.Reply(r, 200, answer), nil
	}))
	voided, err := client.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	require.True(t, voided.AlreadyVoided)
	require.Empty(t, answers)
}

// A number of reminders and a document's status decide about a reminder. Words can only raise a doubt.
func TestRemindersThatWereNotSent(t *testing.T) {
	refused, unknown := signforms.ErrRefused, signforms.ErrOutcomeUnknown
	for body, want := range map[string]error{
		`{"message":"Reminder sent successfully","status":"PENDING","remindersSent":1}`:             nil,
		`{"message":"Nobody is pending","status":"PAID","remindersSent":0}`:                         nil,
		`{"message":"No reminder sent: nobody is pending","remindersSent":0}`:                       nil,
		`{"message":"Limit reached: 5 of 5","remindersSent":2}`:                                     nil,
		`{"message":"Ann was reminded and has signed","status":"SIGNED","remindersSent":1}`:         nil,
		`{"message":"sent","status":"success"}`:                                                     nil,
		`{"message":"Erinnerung versendet"}`:                                                        nil,
		`{}`:                                                                                        nil,
		`{"message":"Document is already signed","status":"SIGNED"}`:                                refused,
		`{"message":"ok","status":"SIGNED"}`:                                                        refused,
		`{"message":"ok","status":"voided","remindersSent":0}`:                                      refused,
		`{"message":"ok","data":{"status":"EXPIRED"}}`:                                              refused,
		`{"message":"ok","status":"success","data":{"status":"EXPIRED"}}`:                           refused,
		`{"message":"No reminder sent: document is void","status":"VOID"}`:                          refused,
		`{"message":"Reminder sent. Ann has already signed"}`:                                       unknown,
		`{"message":"Reminder sent successfully. No further reminder is possible for 15 minutes."}`: unknown,
		`{"message":"Reminded 2 signers; 1 was not reminded because they have signed"}`:             unknown,
		`{"message":"Document is already signed"}`:                                                  unknown,
		`{"message":"Can’t remind yet"}`:                                                            unknown,
		`{"message":"Only pending documents can be reminded"}`:                                      unknown,
		`{"message":"Nothing to remind"}`:                                                           unknown,
		`{"status":"error","message":"Boom"}`:                                                       unknown,
		`{"message":"ok","data":{"error":"Limit reached"}}`:                                         unknown,
		`{"message":"ok","data":{"success":false}}`:                                                 unknown,
		`{"message":"ok","status":409}`:                                                             unknown,
		`{"message":"ok","data":{"status":false}}`:                                                  unknown,
		`{"message":"ok","status":200}`:                                                             nil,
		`"Cannot send a reminder for a document that is EXPIRED"`:                                   unknown,
		`{"message":"Reminder not sent"}`:                                                           unknown,
		`{"success":false,"message":"Document is void","status":"VOID"}`:                            refused,
		`{"success":false,"message":"Reminder failed: mail server","status":"PENDING"}`:             unknown,
		`{"success":false,"message":"no","remindersSent":1}`:                                        unknown,
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
	require.Equal(t, []any{"sent", signforms.StatusPending, 2}, []any{reminded.Message, reminded.Status, *reminded.RemindersSent})
}
