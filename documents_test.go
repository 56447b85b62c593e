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

// TestAll_eachReportOfTotals: 250 of 250 documents, some of which were created in the same millisecond.
func TestAll_eachReportOfTotals(t *testing.T) {
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

// TestAll_documentsCountIsATotal where there is no pagination, once it is more than a page holds: All notices what vanishes from
// the part that it has read.
func TestAll_documentsCountIsATotal(t *testing.T) {
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

// TestAll_eachProfileOfTotals: the reference service reports totals in each of its ways. All yields all documents that were there,
// and Get tells one that is not there from an answer that cannot be read.
func TestAll_eachProfileOfTotals(t *testing.T) {
	for _, p := range []signformstest.Profile{{}, {CountPage: true}, {NoPagination: true}, {NoPagination: true, CountPage: true}} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
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
		})
	}
}

// The document's status decides the outcome of a void, and of all texts only "already void". Other texts that may report a
// failure make the outcome unknown.
func TestVoid_notVoided(t *testing.T) {
	for _, row := range []struct{ body, want string }{
		{body: `{"message":"Document voided"}`, want: "voided"},
		{body: `{"message":"Document is already voided","status":"VOID"}`, want: "already"},
		{body: `{"message":"It was already void","status":"void"}`, want: "already"},
		{body: `{"message":"boom","status":"VOID","success":false}`, want: "voided"},
		{body: `{"message":"Document voided successfully. It was already signed by Ann"}`, want: "doubtful"},
		{body: `{"message":"ok","status":"SIGNED"}`, want: "refused"},
		{body: `{"message":"ok","status":"PENDING"}`, want: "doubtful"},
		{body: `{"data":{"message":"ok","status":"DECLINED"}}`, want: "refused"},
		{body: `{"\u0065rror":"\u006eo"}`, want: "failed"},
		{body: `{"message":"No","status":"PENDING","success":false}`, want: "failed"},
		{body: `"already void"`, want: "already"},
		{body: `{"message":"Document is already voided","status":"SIGNED"}`, want: "refused"},
		{body: `{"message":"Document is already signed"}`, want: "doubtful"},
		{body: `{"message":"Document voided. Signers were not notified of voided documents."}`, want: "doubtful"},
		{body: `{"message":"ok","data":{"error":"Only drafts can be voided"}}`, want: "failed"},
		{body: `{"message":"Boom","status":"error"}`, want: "doubtful"},
		{body: `{"message":"ok","status":"success","data":{"status":"SIGNED"}}`, want: "refused"},
		{body: `{"message":"already voided","status":"PENDING"}`, want: "doubtful"},
		{body: `{"message":"already voided","success":false}`, want: "failed"},
		{body: `{"error":"Document is already voided"}`, want: "failed"},
		{body: `{"message":"ok","data":{"success":false}}`, want: "failed"},
		{body: `{"message":"ok","status":500}`, want: "failed"},
		{body: `{"message":"ok","status":false}`, want: "failed"},
		{body: `{"message":"ok","status":true}`, want: "voided"},
	} {
		t.Run(row.body, func(t *testing.T) {
			var ended error
			c := clienttest.Scripted(t, clienttest.Answers(200, row.body), func(o *signforms.Options) {
				o.OnCall = func(ctx context.Context, _ signforms.Operation) (context.Context, func(error)) {
					return ctx, func(err error) { ended = err }
				}
			})
			voided, err := c.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))
			require.Equal(t, err, ended)
			var e *signforms.Error
			if errors.As(err, &e) {
				require.Equal(t, row.want == "doubtful", e.Attempts == 4)
			}
			switch row.want {
			case "refused":
				require.Error(t, err)
				clienttest.RequireMatches(t, err, signforms.ErrRefused)
				return
			case "failed", "doubtful":
				require.Error(t, err)
				clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want == "already", voided.AlreadyVoided)
		})
	}
}

// An unknown outcome of a void is settled when the next response reports that the document is already void.
func TestVoid_repeatsAnUnknownOutcome(t *testing.T) {
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

// The number of reminders and the document's status decide the outcome of a reminder. A text can only make it unknown.
func TestRemind_notSent(t *testing.T) {
	refused, unknown := signforms.ErrRefused, signforms.ErrOutcomeUnknown
	for _, row := range []struct {
		body string
		want error
	}{
		{body: `{"message":"Reminder sent successfully","status":"PENDING","remindersSent":1}`, want: nil},
		{body: `{"message":"Nobody is pending","status":"PAID","remindersSent":0}`, want: nil},
		{body: `{"message":"No reminder sent: nobody is pending","remindersSent":0}`, want: nil},
		{body: `{"message":"Limit reached: 5 of 5","remindersSent":2}`, want: nil},
		{body: `{"message":"Ann was reminded and has signed","status":"SIGNED","remindersSent":1}`, want: nil},
		{body: `{"message":"sent","status":"success"}`, want: nil},
		{body: `{"message":"Erinnerung versendet"}`, want: nil},
		{body: `{}`, want: nil},
		{body: `{"message":"Document is already signed","status":"SIGNED"}`, want: refused},
		{body: `{"message":"ok","status":"SIGNED"}`, want: refused},
		{body: `{"message":"ok","status":"voided","remindersSent":0}`, want: refused},
		{body: `{"message":"ok","data":{"status":"EXPIRED"}}`, want: refused},
		{body: `{"message":"ok","status":"success","data":{"status":"EXPIRED"}}`, want: refused},
		{body: `{"message":"No reminder sent: document is void","status":"VOID"}`, want: refused},
		{body: `{"message":"Reminder sent. Ann has already signed"}`, want: unknown},
		{body: `{"message":"Reminder sent successfully. No further reminder is possible for 15 minutes."}`, want: unknown},
		{body: `{"message":"Reminded 2 signers; 1 was not reminded because they have signed"}`, want: unknown},
		{body: `{"message":"Document is already signed"}`, want: unknown},
		{body: `{"message":"Can’t remind yet"}`, want: unknown},
		{body: `{"message":"Only pending documents can be reminded"}`, want: unknown},
		{body: `{"message":"Nothing to remind"}`, want: unknown},
		{body: `{"status":"error","message":"Boom"}`, want: unknown},
		{body: `{"message":"ok","data":{"error":"Limit reached"}}`, want: unknown},
		{body: `{"message":"ok","data":{"success":false}}`, want: unknown},
		{body: `{"message":"ok","status":409}`, want: unknown},
		{body: `{"message":"ok","data":{"status":false}}`, want: unknown},
		{body: `{"message":"ok","status":200}`, want: nil},
		{body: `"Cannot send a reminder for a document that is EXPIRED"`, want: unknown},
		{body: `{"message":"Reminder not sent"}`, want: unknown},
		{body: `{"success":false,"message":"Document is void","status":"VOID"}`, want: refused},
		{body: `{"success":false,"message":"Reminder failed: mail server","status":"PENDING"}`, want: unknown},
		{body: `{"success":false,"message":"no","remindersSent":1}`, want: unknown},
	} {
		t.Run(row.body, func(t *testing.T) {
			_, err := clienttest.Scripted(t, clienttest.Answers(200, row.body)).Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
			if row.want == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			clienttest.RequireMatches(t, err, row.want)
		})
	}
	reminded, err := clienttest.Scripted(t, clienttest.Answers(200, `{"data":{"message":"sent","documentId":"x","status":"PENDING","remindersSent":2}}`)).
		Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	require.Equal(t, []any{"sent", signforms.StatusPending, 2}, []any{reminded.Message, reminded.Status, *reminded.RemindersSent})
}
