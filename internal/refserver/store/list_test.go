package store_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// oddNames are names for which lower case is not a matter of single bytes. \xff is in no valid text, and ends names inside the store.
var oddNames = []string{"", "ÄRGER", "Straße", "lease\xff 1", "\xff", "İstanbul", "K", "1", "7", "Lease"}

// TestList_againstSorting adds, changes and asks at random, and compares every answer with one that is made by filtering and
// sorting everything.
func TestList_againstSorting(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s, ids := store.New(atNoon), signing.NewIDs(1)
	var all []signing.Document
	for range 1200 { // more than two blocks
		at := noon.Add(time.Duration(rnd.IntN(500)) * time.Second) // several share a time
		name := fmt.Sprintf("Lease %d", rnd.IntN(20))
		if rnd.IntN(4) == 0 {
			name = oddNames[rnd.IntN(len(oddNames))]
		}
		all = append(all, add(t, s, ids, signing.Document{Name: name}, at))
	}
	for range 1000 {
		i := rnd.IntN(len(all))
		c, err := s.Act(all[i].ID, func(d signing.Document, _ time.Time) (signing.Change, error) {
			if rnd.IntN(2) == 0 {
				return d.Archive(noon)
			}
			return d.Void(noon)
		})
		require.NoError(t, err)
		all[i] = *c.Document
	}
	for range 100 {
		q := store.Query{Page: store.Page{
			Ascending: rnd.IntN(2) == 0, Offset: rnd.Int64N(1300), Limit: 1 + rnd.IntN(100),
		}}
		if rnd.IntN(2) == 0 {
			q.Status = []signing.Status{signing.StatusPending, signing.StatusVoid, signing.StatusPaid}[rnd.IntN(3)]
			q.Offset = rnd.Int64N(600)
		}
		if rnd.IntN(2) == 0 {
			q.Archived = new(rnd.IntN(2) == 0)
		}
		if rnd.IntN(3) == 0 {
			q.From, q.To = noon.Add(time.Duration(rnd.IntN(500))*time.Second), noon.Add(time.Duration(rnd.IntN(500))*time.Second)
			q.Offset = rnd.Int64N(50)
		}
		if rnd.IntN(3) == 0 {
			q.Text, q.Offset = fmt.Sprintf("lEASE %d", rnd.IntN(20)), rnd.Int64N(20)
			if rnd.IntN(2) == 0 {
				q.Text, q.Offset = oddNames[rnd.IntN(len(oddNames))], 0
			}
		}
		requireSameList(t, s, all, q)
	}
}

// TestList_searchesEachName: no text is found where one name ends and the next one begins.
func TestList_searchesEachName(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	for i, name := range []string{"Lease", "7"} {
		add(t, s, ids, signing.Document{Name: name}, noon.Add(time.Duration(i)*time.Second))
	}
	for _, row := range []struct {
		text string
		want int
	}{{text: "lease", want: 1}, {text: "7", want: 1}, {text: "lease7", want: 0}, {text: "lease 7", want: 0}, {text: "lease\n7", want: 0},
		{text: "lease\x007", want: 0}, {text: "lease\xff7", want: 0}, {text: "\xff", want: 0}, {text: "\uFFFD", want: 0}} {
		t.Run(row.text, func(t *testing.T) {
			view(t, s, func(tx *store.Tx) {
				_, total := tx.Documents(store.Query{Text: row.text})()
				require.Equal(t, row.want, total)
			})
		})
	}
}

func requireSameList(t *testing.T, s *store.Store, all []signing.Document, q store.Query) {
	t.Helper()
	var want []string
	matching := slices.DeleteFunc(slices.Clone(all), func(d signing.Document) bool {
		return q.Status != "" && d.Status != q.Status ||
			q.Archived != nil && d.Archived != *q.Archived ||
			!q.From.IsZero() && d.CreatedAt.Before(q.From) ||
			!q.To.IsZero() && d.CreatedAt.After(q.To) ||
			!strings.Contains(strings.ToLower(d.Name), strings.ToLower(q.Text))
	})
	slices.SortFunc(matching, func(a, b signing.Document) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if !q.Ascending {
		slices.Reverse(matching)
	}
	for _, d := range matching[min(int(q.Offset), len(matching)):min(int(q.Offset)+q.Limit, len(matching))] {
		want = append(want, d.ID)
	}
	var got []string
	view(t, s, func(tx *store.Tx) {
		documents, total := tx.Documents(q)()
		for _, d := range documents {
			got = append(got, d.ID)
			require.True(t, q.Matches(d.Name, d.Status, d.Archived, d.CreatedAt), "%+v", q)
		}
		require.Equal(t, len(matching), total, "%+v", q)
	})
	require.Equal(t, want, got, "%+v", q)
}

// TestList_pagesPastTheEnd: pages have any size, and begin anywhere.
func TestList_pagesPastTheEnd(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	var all []signing.Document
	for i := range 4 {
		all = append(all, add(t, s, ids, signing.Document{Name: "Lease"}, noon.Add(time.Duration(i)*time.Second)))
	}
	for _, p := range []store.Page{{Limit: math.MaxInt}, {Limit: math.MaxInt, Offset: 1}, {Limit: 1, Offset: 3}, {Limit: math.MaxInt, Offset: math.MaxInt64}} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			for _, p.Ascending = range []bool{true, false} {
				want := slices.Clone(all[1:]) // what From leaves
				if !p.Ascending {
					slices.Reverse(want)
				}
				want = want[min(p.Offset, 3):]
				view(t, s, func(tx *store.Tx) {
					got, total := tx.Documents(store.Query{From: all[1].CreatedAt, Page: p})()
					require.Equal(t, 3, total)
					require.Len(t, got, len(want), "%+v", p)
					for i := range got {
						require.Equal(t, want[i].ID, got[i].ID, "%+v", p)
					}
				})
			}
		})
	}
}

func TestList_respondentsOfATemplate(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	first := add(t, s, ids, signing.Document{Kind: signing.KindTemplate, TemplateID: "t"}, noon)
	second := add(t, s, ids, signing.Document{Kind: signing.KindTemplate, TemplateID: "t"}, noon.Add(time.Second))
	add(t, s, ids, signing.Document{Kind: signing.KindTemplate, TemplateID: "u"}, noon)
	view(t, s, func(tx *store.Tx) {
		documents, total := tx.Respondents("t", store.Page{Limit: 9})
		require.Equal(t, 2, total)
		require.Equal(t, []string{second.ID, first.ID}, []string{documents[0].ID, documents[1].ID})
		require.Equal(t, 2, tx.CountRespondents("t", signing.StatusPending))
		require.Equal(t, 0, tx.CountRespondents("t", signing.StatusSigned))
		none, total := tx.Documents(store.Query{Page: store.Page{Limit: 9}})()
		require.Empty(t, none, "documents from templates are not in the list of documents")
		require.Zero(t, total)
	})
}
