package signforms_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// The ways in which a service may read dateTo, of which the description says nothing: which creations it leaves in.
var dateToReadings = map[string]func(created, dateTo time.Time) bool{
	"inclusive":        func(created, dateTo time.Time) bool { return !created.After(dateTo) },
	"exclusive":        func(created, dateTo time.Time) bool { return created.Before(dateTo) },
	"start of the day": func(created, dateTo time.Time) bool { return !created.After(dateTo.Truncate(24 * time.Hour)) },
	"end of the day": func(created, dateTo time.Time) bool {
		return created.Before(dateTo.Truncate(24 * time.Hour).Add(24 * time.Hour))
	},
	"whole seconds":        func(created, dateTo time.Time) bool { return !created.After(dateTo.Truncate(time.Second)) },
	"the wrong time zone":  func(created, dateTo time.Time) bool { return !created.After(dateTo.Add(-5 * time.Hour)) },
	"not at all":           func(created, dateTo time.Time) bool { return true },
	"as an input mistake":  nil,
	"everything is beyond": func(created, dateTo time.Time) bool { return false },
}

// Ways in which a service may say how long a list is. The total is of the records that match, dateTo included.
var totalReports = map[string]func(page, items, total int) string{
	"none": func(int, int, int) string { return "" },
	"pagination": func(page, _, total int) string {
		return fmt.Sprintf(`,"pagination":{"currentPage":%d,"totalPages":%d,"totalDocuments":%d}`, page, (total+99)/100, total)
	},
	"pagination without total": func(page, _, total int) string {
		return fmt.Sprintf(`,"pagination":{"currentPage":%d,"totalPages":%d}`, page, (total+99)/100)
	},
	"total alone":                 func(_, _, total int) string { return fmt.Sprintf(`,"pagination":{"totalDocuments":%d}`, total) },
	"total of the page":           func(_, items, _ int) string { return fmt.Sprintf(`,"pagination":{"totalDocuments":%d}`, items) },
	"documentsCount of all":       func(_, _, total int) string { return fmt.Sprintf(`,"documentsCount":%d`, total) },
	"documentsCount of the page":  func(_, items, _ int) string { return fmt.Sprintf(`,"documentsCount":%d`, items) },
	"documentsCount of something": func(int, int, int) string { return `,"documentsCount":137` },
	"total of something":          func(int, int, int) string { return `,"pagination":{"totalDocuments":137}` },
}

// datedService lists documents that were created one a minute, newest first, some in the same millisecond.
func datedService(readsDateTo func(created, dateTo time.Time) bool, report func(page, items, total int) string) *listService {
	newest := time.Date(2026, 11, 18, 2, 30, 0, 125e6, time.UTC)
	created := func(n int) time.Time { return newest.Add(-time.Duration(n/3*3) * time.Minute) }
	var records []string
	for _, n := range upTo(250) {
		records = append(records, fmt.Sprintf(`{"documentId":%q,"createdAt":%q}`, docID(n), created(n).Format("2006-01-02T15:04:05.000Z")))
	}
	return &listService{answer: func(_ int, r listRequest) string {
		ids := upTo(250)
		if r.dateTo != "" {
			dateTo, err := time.Parse(time.RFC3339, r.dateTo)
			if err != nil {
				panic(err)
			}
			ids = slices.DeleteFunc(ids, func(n int) bool { return !readsDateTo(created(n), dateTo) })
		}
		items := window(ids, r.page, r.limit)
		docs := make([]string, len(items))
		for i, n := range items {
			docs[i] = records[n]
		}
		return `{"message":"ok","documents":[` + strings.Join(docs, ",") + `]` + report(r.page, len(items), len(ids)) + `}`
	}}
}

// TestAllUnderEachReadingOfDateTo: 250 of 250 documents, whatever a service makes of the bound that All sets.
func TestAllUnderEachReadingOfDateTo(t *testing.T) {
	for reading, reads := range dateToReadings {
		for reported, report := range totalReports {
			s := datedService(reads, report)
			refused := reads == nil
			if refused {
				s.refuse = func(r listRequest) bool { return r.dateTo != "" }
			}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.NoError(t, err, "%s, %s", reading, reported)
			require.Equal(t, wantIDs(upTo(250)), ids, "dateTo %s, total %s: %d requests", reading, reported, len(s.requests))
			most := 6
			if reported == "total of the page" { // it shrinks at the last page, so All goes back
				most = 10
			}
			require.LessOrEqual(t, len(s.requests), most, "dateTo %s, total %s", reading, reported)
			bounded := reading == "inclusive" || reading == "end of the day" || reading == "not at all"
			require.Equal(t, bounded, s.requests[2].dateTo != "", "dateTo %s: whether the bound was kept", reading)
			t.Logf("dateTo %-20s  total %-27s  %d records in %d requests", reading, reported, len(ids), len(s.requests))
		}
	}
}

// TestOnePageNeedsNoBound: what is read with one request is not asked for again.
func TestOnePageNeedsNoBound(t *testing.T) {
	s := &listService{answer: func(_ int, r listRequest) string { return pageJSON(upTo(30), `{"totalPages":1,"totalDocuments":30}`) }}
	ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Len(t, ids, 30)
	require.Len(t, s.requests, 1)
}

// TestTheBoundsCheckMayFail: any other error than that of a wrong input ends the list.
func TestTheBoundsCheckMayFail(t *testing.T) {
	s := &listService{answer: func(_ int, r listRequest) string {
		if r.dateTo != "" {
			return `{"data":[]}`
		}
		return pageJSON(window(upTo(250), r.page, 100), "")
	}}
	ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
	require.ErrorIs(t, err, signforms.ErrUnavailable)
	require.Len(t, ids, 100)
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

// TestAllUnderAProfileWhileDocumentsAreCreated: where the bound is not safe, what is created meanwhile is yielded or not,
// and nothing else is lost.
func TestAllUnderAProfileWhileDocumentsAreCreated(t *testing.T) {
	for _, dateTo := range []signformstest.DateEnd{signformstest.EndIncluded, signformstest.EndExcluded, signformstest.EndAtDayStart, signformstest.EndAtDayEnd} {
		srv := signformstest.NewServer(t, &signformstest.Options{Profile: signformstest.Profile{DateTo: dateTo}})
		want := addPending(srv, 65)
		var got []string
		for d, err := range serviceClient(t, srv).Documents.All(t.Context(), signforms.DocumentListParams{Limit: 10}) {
			require.NoError(t, err)
			got = append(got, d.DocumentID)
			if len(got)%20 == 1 && len(got) < 60 {
				addPending(srv, 7)
			}
		}
		require.Subset(t, got, want, "dateTo %d", dateTo)
		require.IsIncreasing(t, positions(want, got), "in order, each once")
	}
}

// positions tells where each of want is in got.
func positions(want, got []string) (at []int) {
	where := map[string]int{}
	for i, id := range got {
		where[id] = i
	}
	for _, id := range want {
		at = append(at, where[id])
	}
	return at
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
