package signforms_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// TestAllUnderEachProfileOfDates: the reference service reads dateTo in each of its ways, with and without totals, and writes
// "none" in each of its forms. All yields all documents that were there, and Get tells one that is not there from an answer
// that cannot be read.
func TestAllUnderEachProfileOfDates(t *testing.T) {
	for _, dateTo := range []signformstest.DateEnd{signformstest.EndIncluded, signformstest.EndExcluded, signformstest.EndAtDayStart, signformstest.EndAtDayEnd} {
		for _, format := range []signformstest.DateFormat{signformstest.DateOrTime, signformstest.DateOnly} {
			for _, totals := range []signformstest.Profile{{}, {CountPage: true}, {NoPagination: true}, {NoPagination: true, CountPage: true}} {
				for _, none := range []signformstest.NoneForm{signformstest.NoneIsEmpty, signformstest.NoneIsMissing, signformstest.NoneIsNull} {
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

					_, err := c.Documents.Get(t.Context(), pdfID)
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
		template, form := addOffer(srv), addIntake(srv)
		c := serviceClient(t, srv)
		respondents, err := c.Templates.Respondents(t.Context(), signforms.RespondentListParams{TemplateID: template})
		require.NoError(t, err, "none %d", none)
		require.Empty(t, respondents.Items)
		responses, err := c.Forms.Responses(t.Context(), signforms.ResponseListParams{FormID: form})
		require.NoError(t, err, "none %d", none)
		require.Empty(t, responses.Items)
		requireMatches(t, second(c.Templates.Respondent(t.Context(), createdID)), signforms.ErrNotFound)
		requireMatches(t, second(c.Forms.Response(t.Context(), responseID)), signforms.ErrNotFound)
	}
}
