package signforms_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestFindSent: a look-up that reports a send which never happened is worse than one that cannot tell.
func TestFindSent(t *testing.T) {
	const own, other = "6afac610c07043658fde1996", "6afac610c07043658fde1997"
	sentAt := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	record := func(id, email string, at time.Time) string {
		return fmt.Sprintf(`{"respondentDocumentId":%q,"createdAt":%q,"signers":[{"email":%q}]}`, id, at.Format(time.RFC3339), email)
	}
	for name, c := range map[string]struct {
		records      []string
		total        int
		recorded     string
		want, reason string
	}{
		"none":               {},
		"found":              {records: []string{record(own, "ann@EXAMPLE.com", sentAt)}, want: own},
		"without a time":     {records: []string{fmt.Sprintf(`{"respondentDocumentId":%q,"signers":[{"email":"ann@example.com"}]}`, own)}, want: own},
		"of another send":    {records: []string{record(other, "ann@example.com", sentAt)}, recorded: other},
		"beside another":     {records: []string{record(own, "ann@example.com", sentAt), record(other, "ann@example.com", sentAt)}, recorded: other, want: own},
		"to somebody else":   {records: []string{record(other, "ben@example.com", sentAt)}},
		"older":              {records: []string{record(other, "ann@example.com", sentAt.Add(-time.Hour))}},
		"one of two":         {records: []string{record(own, "ann@example.com", sentAt), record(other, "ann@example.com", sentAt)}, reason: "may both be this send"},
		"a list with a hole": {records: []string{record(other, "ben@example.com", sentAt)}, total: 3, reason: "incomplete list"},
	} {
		answer := fmt.Sprintf(`{"respondents":[%s],"pagination":{"currentPage":1,"totalPages":1,"totalDocuments":%d}}`,
			strings.Join(c.records, ","), max(c.total, len(c.records)))
		found, err := findSent(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, answer)), sentAt.Add(-time.Minute),
			map[string]bool{c.recorded: true}, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID,
				Receivers: []signforms.Receiver{{Name: "Ann", Email: "Ann@example.com", RoleTitle: "Client"}}})
		require.Equal(t, c.want, found, name)
		if c.reason != "" {
			require.ErrorContains(t, err, c.reason, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
