package signforms_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestAll_oddPagination: what a service says of its pages may be wrong. All must not end early for that, nor go on for
// ever.
func TestAll_oddPagination(t *testing.T) {
	for _, c := range []struct {
		name       string
		pagination string // of page %[1]d
		most       int    // requests
	}{
		{name: "total is of this page", pagination: `{"currentPage":%[1]d,"totalPages":3,"totalDocuments":100}`, most: 3},
		{name: "total is 0", pagination: `{"totalDocuments":0}`, most: 4},
		{name: "total is negative", pagination: `{"totalDocuments":-1}`, most: 4},
		{name: "one page, yet a larger total", pagination: `{"totalPages":1,"totalDocuments":250}`, most: 4},
		{name: "no page, yet a larger total", pagination: `{"totalPages":0,"totalDocuments":250}`, most: 4},
		{name: "no next page, yet three pages", pagination: `{"totalPages":3,"hasNextPage":false}`, most: 4},
		{name: "total only", pagination: `{"totalDocuments":250}`, most: 4},
		{name: "always page one", pagination: `{"currentPage":1,"totalPages":3}`, most: 4},
		{name: "empty", pagination: `{}`, most: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &listService{answer: func(_ int, r listRequest) string {
				pagination := c.pagination
				if strings.Contains(pagination, "%") {
					pagination = fmt.Sprintf(pagination, r.page)
				}
				return pageJSON(window(upTo(250), r.page, r.limit), pagination)
			}}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.NoError(t, err)
			require.Equal(t, wantIDs(upTo(250)), ids)
			require.LessOrEqual(t, len(s.requests), c.most)
		})
	}
}

// TestAll_recordsWithoutIDs: without pagination nothing tells a further page from the same again, and that is an error.
func TestAll_recordsWithoutIDs(t *testing.T) {
	for _, row := range []struct{ pagination, wantErr string }{
		{pagination: ``, wantErr: "records have no id"}, {pagination: `,"pagination":{"totalPages":1}`, wantErr: ""},
		{pagination: `,"pagination":{"totalPages":2}`, wantErr: "records have no id"},
	} {
		t.Run(row.pagination, func(t *testing.T) {
			s := &listService{answer: func(int, listRequest) string {
				return `{"documents":[{"documentName":"a"},{"documentName":"b"}]` + row.pagination + `}`
			}}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.Len(t, ids, 2)
			require.Len(t, s.requests, 1)
			if row.wantErr == "" {
				require.NoError(t, err)
			} else {
				clienttest.RequireMatches(t, err, signforms.ErrIncomplete)
				require.ErrorContains(t, err, "incomplete list (200): 2 ")
				require.ErrorContains(t, err, row.wantErr)
				require.NotEmpty(t, clienttest.AsError(t, err).RequestID)
				require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
			}
		})
	}
}

// queries ranges over all of a sequence, twice, and returns the queries of its requests without what they look for.
func queries[T any](t *testing.T, rec *clienttest.Recorder, all iter.Seq2[*T, error]) (queries []string) {
	t.Helper()
	for range 2 {
		for _, err := range all {
			require.NoError(t, err)
		}
	}
	for _, s := range rec.Sent {
		q := s.URL.Query()
		for _, name := range []string{"documentType", "templateId", "formId", "responseId"} {
			q.Del(name)
		}
		queries = append(queries, q.Encode())
	}
	return queries
}

// TestAll_requests: pages of 100 from the first on, unless Limit says otherwise, and the same when ranged over again.
func TestAll_requests(t *testing.T) {
	const answer = `{"documents":[{"documentId":"` + clienttest.PDFID + `","createdAt":"2026-11-03T10:00:00Z"}],
		"respondents":[{"respondentDocumentId":"` + clienttest.CreatedID + `"}],"responses":[{"responseId":"` + clienttest.ResponseID + `"}]}`
	for _, row := range []struct {
		limit int
		first string
	}{{limit: 0, first: "limit=100&page=1"}, {limit: 7, first: "limit=7&page=1"}} {
		t.Run(fmt.Sprint(row.limit), func(t *testing.T) {
			second, third := strings.Replace(row.first, "page=1", "page=2", 1), strings.Replace(row.first, "page=1", "page=3", 1)
			want := []string{row.first, second, third, row.first, second, third} // nothing tells the end
			rec := &clienttest.Recorder{Answer: answer}
			c := clienttest.Scripted(t, rec)
			require.Equal(t, want,
				queries(t, rec, c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: row.limit, Page: 5})))
			rec.Sent = nil
			require.Equal(t, want,
				queries(t, rec, c.Templates.All(t.Context(), signforms.TemplateListParams{Limit: row.limit, Page: 5})))
			rec.Sent = nil
			require.Equal(t, want,
				queries(t, rec, c.Respondents.All(t.Context(), signforms.RespondentListParams{TemplateID: clienttest.TemplateID, Limit: row.limit, Page: 5})))
			rec.Sent = nil
			require.Equal(t, want,
				queries(t, rec, c.FormResponses.All(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID, Limit: row.limit, Page: 5})))
		})
	}
}

// TestFormResponsesAll_eitherID: the same response, and none other, is known by responseId or else by formResponseId.
func TestFormResponsesAll_eitherID(t *testing.T) {
	for _, row := range []struct {
		answer string
		want   int
	}{
		{answer: `{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afc0aaccca8bbc24a603532"}]}`, want: 2},
		{answer: `{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afdd62ad605997389b3a3dd"}]}`, want: 1},
		{answer: `{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"179930b1-7a0e-4f30-880d-069fbae67a9d"}]}`, want: 2},
		{answer: `{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"C8C597F6-F2DF-4656-B01D-090C847B0A17"}]}`, want: 1},
		{answer: `{"responses":[{"responseId":"6afdd62ad605997389b3a3dd","formResponseId":"x"},{"responseId":"6afc0aaccca8bbc24a603532","formResponseId":"x"}]}`, want: 2},
	} {
		t.Run(row.answer, func(t *testing.T) {
			n := 0
			for _, err := range clienttest.Scripted(t, clienttest.Answers(200, row.answer)).FormResponses.All(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID}) {
				require.NoError(t, err)
				n++
			}
			require.Equal(t, row.want, n)
		})
	}
}
