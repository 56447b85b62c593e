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

// TestAllWithOddPagination: what a service says of its pages may be wrong. All must not end early for that, nor go on for
// ever.
func TestAllWithOddPagination(t *testing.T) {
	for name, c := range map[string]struct {
		pagination string // of page %[1]d
		most       int    // requests
	}{
		"total is of this page":         {pagination: `{"currentPage":%[1]d,"totalPages":3,"totalDocuments":100}`, most: 3},
		"total is 0":                    {pagination: `{"totalDocuments":0}`, most: 4},
		"total is negative":             {pagination: `{"totalDocuments":-1}`, most: 4},
		"one page, yet a larger total":  {pagination: `{"totalPages":1,"totalDocuments":250}`, most: 4},
		"no page, yet a larger total":   {pagination: `{"totalPages":0,"totalDocuments":250}`, most: 4},
		"no next page, yet three pages": {pagination: `{"totalPages":3,"hasNextPage":false}`, most: 4},
		"total only":                    {pagination: `{"totalDocuments":250}`, most: 4},
		"always page one":               {pagination: `{"currentPage":1,"totalPages":3}`, most: 4},
		"empty":                         {pagination: `{}`, most: 4},
	} {
		s := &listService{answer: func(_ int, r listRequest) string {
			pagination := c.pagination
			if strings.Contains(pagination, "%") {
				pagination = fmt.Sprintf(pagination, r.page)
			}
			return pageJSON(window(upTo(250), r.page, r.limit), pagination)
		}}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.NoError(t, err, name)
		require.Equal(t, wantIDs(upTo(250)), ids, name)
		require.LessOrEqual(t, len(s.requests), c.most, name)
	}
}

// TestAllWithoutIDs: without pagination nothing tells a further page from the same again, and that is an error.
func TestAllWithoutIDs(t *testing.T) {
	for pagination, wantErr := range map[string]string{
		``: "records have no id", `,"pagination":{"totalPages":1}`: "",
		`,"pagination":{"totalPages":2}`: "records have no id",
	} {
		s := &listService{answer: func(int, listRequest) string {
			return `{"documents":[{"documentName":"a"},{"documentName":"b"}]` + pagination + `}`
		}}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.Len(t, ids, 2)
		require.Len(t, s.requests, 1)
		if wantErr == "" {
			require.NoError(t, err)
		} else {
			clienttest.RequireMatches(t, err, signforms.ErrIncomplete)
			require.ErrorContains(t, err, "incomplete list: 2 ")
			require.ErrorContains(t, err, wantErr)
			require.NotEmpty(t, clienttest.AsError(t, err).RequestID)
			require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
		}
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

// TestWhatAllAsksFor: pages of 100 from the first on, unless Limit says otherwise, and the same when ranged over again.
func TestWhatAllAsksFor(t *testing.T) {
	const answer = `{"documents":[{"documentId":"` + clienttest.PDFID + `","createdAt":"2026-11-03T10:00:00Z"}],
		"respondents":[{"respondentDocumentId":"` + clienttest.CreatedID + `"}],"responses":[{"responseId":"` + clienttest.ResponseID + `"}]}`
	for limit, first := range map[int]string{0: "limit=100&page=1", 7: "limit=7&page=1"} {
		second, third := strings.Replace(first, "page=1", "page=2", 1), strings.Replace(first, "page=1", "page=3", 1)
		want := []string{first, second, third, first, second, third} // nothing tells the end
		rec := &clienttest.Recorder{Answer: answer}
		c := clienttest.Scripted(t, rec)
		require.Equal(t, want,
			queries(t, rec, c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: limit, Page: 5})))
		rec.Sent = nil
		require.Equal(t, want,
			queries(t, rec, c.Templates.All(t.Context(), signforms.TemplateListParams{Limit: limit, Page: 5})))
		rec.Sent = nil
		require.Equal(t, want,
			queries(t, rec, c.Respondents.All(t.Context(), signforms.RespondentListParams{TemplateID: clienttest.TemplateID, Limit: limit, Page: 5})))
		rec.Sent = nil
		require.Equal(t, want,
			queries(t, rec, c.FormResponses.All(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID, Limit: limit, Page: 5})))
	}
}

// TestFormResponsesAll_eitherID: the same response, and none other, is known by responseId or else by formResponseId.
func TestFormResponsesAll_eitherID(t *testing.T) {
	for answer, want := range map[string]int{
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afc0aaccca8bbc24a603532"}]}`:                                           2,
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afdd62ad605997389b3a3dd"}]}`:                                           1,
		`{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"179930b1-7a0e-4f30-880d-069fbae67a9d"}]}`:           2,
		`{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"C8C597F6-F2DF-4656-B01D-090C847B0A17"}]}`:           1,
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd","formResponseId":"x"},{"responseId":"6afc0aaccca8bbc24a603532","formResponseId":"x"}]}`: 2,
	} {
		n := 0
		for _, err := range clienttest.Scripted(t, clienttest.Answers(200, answer)).FormResponses.All(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID}) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, want, n, answer)
	}
}
