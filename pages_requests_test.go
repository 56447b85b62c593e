package signforms_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// queries ranges over all of a sequence, twice, and returns the queries of its requests without what they look for.
func queries[T any](t *testing.T, rec *recorder, all iter.Seq2[*T, error]) (queries []string) {
	t.Helper()
	for range 2 {
		for _, err := range all {
			require.NoError(t, err)
		}
	}
	for _, s := range rec.sent {
		q := s.URL.Query()
		for _, name := range []string{"documentType", "templateId", "formId", "responseId"} {
			q.Del(name)
		}
		queries = append(queries, q.Encode())
	}
	return queries
}

// TestWhatAllAsksFor: pages of 100 from the first on, unless told otherwise, and the same when ranged over again. The first
// page is asked for again with the bound, to see whether it is safe.
func TestWhatAllAsksFor(t *testing.T) {
	const answer = `{"documents":[{"documentId":"` + pdfID + `","createdAt":"2026-11-03T10:00:00Z"}],
		"respondents":[{"respondentDocumentId":"` + createdID + `"}],"responses":[{"responseId":"` + responseID + `"}]}`
	const until = "dateTo=2026-11-03T10%3A00%3A00.000Z&"
	for limit, want := range map[int][2]string{0: {"limit=100&page=1", "limit=100&page=2"}, 7: {"limit=7&page=1", "limit=7&page=2"}} {
		first, second := want[0], want[1]
		rec := &recorder{answer: answer}
		c := scriptedClient(t, rec)
		require.Equal(t, []string{first, until + first, until + second, first, until + first, until + second},
			queries(t, rec, c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: limit, Page: 5})))
		rec.sent = nil
		require.Equal(t, []string{first, until + first, until + second, first, until + first, until + second},
			queries(t, rec, c.Templates.All(t.Context(), signforms.TemplateListParams{Limit: limit, Page: 5})))
		rec.sent = nil
		require.Equal(t, []string{first, second, first, second},
			queries(t, rec, c.Templates.AllRespondents(t.Context(), signforms.RespondentListParams{TemplateID: templateID, Limit: limit, Page: 5})))
		rec.sent = nil
		require.Equal(t, []string{first, second, first, second},
			queries(t, rec, c.Forms.AllResponses(t.Context(), signforms.ResponseListParams{FormID: formID, Limit: limit, Page: 5})))
	}

	rec := &recorder{answer: answer}
	require.Equal(t, []string{"", "", "", ""}, queries(t, rec,
		scriptedClient(t, rec).Forms.AllResponses(t.Context(), signforms.ResponseListParams{ResponseID: responseID})), "without a form no page applies")
}

// TestAllResponsesByEitherID: the same response, and none other, is known by responseId or else by formResponseId.
func TestAllResponsesByEitherID(t *testing.T) {
	for answer, want := range map[string]int{
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afc0aaccca8bbc24a603532"}]}`:                                           2,
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd"},{"responseId":"6afdd62ad605997389b3a3dd"}]}`:                                           1,
		`{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"179930b1-7a0e-4f30-880d-069fbae67a9d"}]}`:           2,
		`{"responses":[{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17"},{"formResponseId":"C8C597F6-F2DF-4656-B01D-090C847B0A17"}]}`:           1,
		`{"responses":[{"responseId":"6afdd62ad605997389b3a3dd","formResponseId":"x"},{"responseId":"6afc0aaccca8bbc24a603532","formResponseId":"x"}]}`: 2,
	} {
		n := 0
		for _, err := range scriptedClient(t, answers(200, answer)).Forms.AllResponses(t.Context(), signforms.ResponseListParams{FormID: formID}) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, want, n, answer)
	}
}

// TestAllRespondentsTellsIDsApart: ids that are no UUIDs are known by their hash.
func TestAllRespondentsTellsIDsApart(t *testing.T) {
	var records []string
	for i := range 2000 {
		records = append(records, fmt.Sprintf(`{"respondentDocumentId":"%024x"}`, i))
	}
	n := 0
	for _, err := range scriptedClient(t, answers(200, `{"respondents":[`+strings.Join(records, ",")+`],"pagination":{"totalPages":1}}`)).
		Templates.AllRespondents(t.Context(), signforms.RespondentListParams{TemplateID: templateID}) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 2000, n)
}
