package signforms_test

import (
	"fmt"
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

// TestOnePageIsOneRequest where its total is reported.
func TestOnePageIsOneRequest(t *testing.T) {
	for _, n := range []int{0, 30, 100} {
		s := &listService{answer: func(_ int, r listRequest) string { return pageJSON(upTo(n), total(n, r)) }}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.NoError(t, err)
		require.Len(t, ids, n)
		require.Len(t, s.requests, 1)
	}
}

// TestDocumentsCountIsATotal where there is no pagination, once it is more than a full page holds: All notices what
// vanishes from the part that it has read.
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

// TestAllUnderEachProfileOfDates: the reference service reads dateTo in each of its ways, with and without totals, and writes
// "none" in each of its forms. All yields all documents that were there, and Get tells one that is not there from an answer
// that cannot be read.
func TestAllUnderEachProfileOfDates(t *testing.T) {
	for _, dateTo := range []signformstest.DateEnd{signformstest.EndIncluded, signformstest.EndExcluded, signformstest.EndAtDayStart, signformstest.EndAtDayEnd} {
		for _, format := range []signformstest.DateFormat{signformstest.DateOrTime, signformstest.DateOnly} {
			for _, totals := range []signformstest.Profile{{}, {CountPage: true}, {NoPagination: true}, {NoPagination: true, CountPage: true}} {
				nones := []signformstest.NoneForm{signformstest.NoneIsMissing, signformstest.NoneIsEmpty, signformstest.NoneIsNull}
				for _, none := range nones[:clienttest.Long(3, 1)] {
					p := totals
					p.DateTo, p.DateFormat, p.None = dateTo, format, none
					name := fmt.Sprintf("dateTo %d, format %d, no pagination %t, count of the page %t, none %d", dateTo, format, p.NoPagination, p.CountPage, none)
					srv := signformstest.NewServer(t, &signformstest.Options{Profile: p})
					want := addPending(srv, 25)
					c := serviceClient(t, srv)
					var got []string
					for d, err := range c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: 10}) {
						require.NoError(t, err, name)
						if got = append(got, d.DocumentID); len(got) == 1 {
							srv.Advance(26 * time.Hour)
						}
					}
					require.Equal(t, want, got, name)
					require.LessOrEqual(t, len(srv.Requests()), 5, name)

					_, err := c.Documents.Get(t.Context(), clienttest.PDFID)
					require.ErrorIs(t, err, signforms.ErrNotFound, name)
				}
			}
		}
	}
}

// TestNoneUnderEachProfile: respondents and responses that are none are an empty list, in each form of "none".
func TestNoneUnderEachProfile(t *testing.T) {
	for _, none := range []signformstest.NoneForm{signformstest.NoneIsEmpty, signformstest.NoneIsMissing, signformstest.NoneIsNull} {
		srv := signformstest.NewServer(t, &signformstest.Options{Profile: signformstest.Profile{None: none, UnknownIDEmpty: true}})
		template, form := clienttest.AddOffer(srv), clienttest.AddIntake(srv)
		c := serviceClient(t, srv)
		respondents, err := c.Templates.Respondents(t.Context(), signforms.RespondentListParams{TemplateID: template})
		require.NoError(t, err, "none %d", none)
		require.Empty(t, respondents.Items)
		responses, err := c.Forms.Responses(t.Context(), signforms.ResponseListParams{FormID: form})
		require.NoError(t, err, "none %d", none)
		require.Empty(t, responses.Items)
		clienttest.RequireMatches(t, clienttest.Second(c.Templates.Respondent(t.Context(), clienttest.CreatedID)), signforms.ErrNotFound)
		clienttest.RequireMatches(t, clienttest.Second(c.Forms.Response(t.Context(), clienttest.ResponseID)), signforms.ErrNotFound)
	}
}
