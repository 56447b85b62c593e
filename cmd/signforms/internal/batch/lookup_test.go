package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// A run has sent one document a minute. The outcome of the send at minute 2 is unknown; it took a minute. The service's clock is ahead
// by a day.
func TestWhatListsSayOfAnUnknownSend(t *testing.T) {
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	at := func(minute float64) time.Time { return begin.Add(time.Duration(minute * float64(time.Minute))) }
	byService := func(minute float64) time.Time { return at(minute).Add(24 * time.Hour) }
	send := func(minute float64, id string) *journal.Entry {
		return &journal.Entry{Who: []string{id}, ID: id, State: journal.Done, Intended: at(minute), At: at(minute + 0.5)}
	}
	to := func(id string, minute float64, emails ...string) *signforms.Respondent {
		r := &signforms.Respondent{RespondentDocumentID: id, CreatedAt: byService(minute)}
		for _, e := range emails {
			r.Signers = append(r.Signers, signforms.Signer{Email: e})
		}
		return r
	}
	const ann, ben = "ann@example.com", "ben@example.com"
	all := []*signforms.Respondent{to("0", 0.2, "0@x"), to("1", 1.2, "1@x"), to("4", 4.2, "4@x")}
	with := func(more ...*signforms.Respondent) []*signforms.Respondent { return append(more, all...) }
	undated := to("new", 0, ann, ben)
	undated.CreatedAt = time.Time{}

	for name, c := range map[string]struct {
		list          []*signforms.Respondent
		now           float64 // minutes; 0 is an hour later
		outcome, says string
	}{
		"found":                      {with(to("new", 2.2, ann, ben)), 0, lookupFound, "made 2026-11-23T09:02:12Z"},
		"found at once":              {with(to("new", 2.2, "Ben@Example.com", ann)), 3, lookupFound, "made"},
		"carried out late":           {with(to("new", 17, ann, ben)), 0, lookupFound, "made"},
		"not found":                  {all, 0, lookupNotFound, "all 3 that this run is known to have made"},
		"an earlier run's":           {with(to("old", 1, ann, ben)), 0, lookupNotFound, ""},
		"to others":                  {with(to("new", 2.2, ann, "cem@example.com")), 0, lookupCannotTell, "1 document of no known send may be it under other addresses: new made 2026-11-23T09:02:12Z"},
		"to others before":           {with(to("old", 1, ann, "cem@example.com")), 0, lookupNotFound, ""},
		"to others much later":       {with(to("new", 300, ann, "cem@example.com")), 0, lookupNotFound, ""},
		"a hidden address":           {with(to("new", 2.2, "***")), 0, lookupCannotTell, "1 document of no known send"},
		"another unknown send's":     {with(to("new", 2.2, "dan@example.com")), 0, lookupNotFound, ""},
		"still under way":            {all, 17.9, lookupCannotTell, "the send may still be carried out until 2026-11-22T09:18:00Z"},
		"as old as the one sent":     {with(to("old", 1.2, ann, ben)), 0, lookupCannotTell, "1 document may belong to 1 unknown send to the same people: old made 2026-11-23T09:01:12Z"},
		"much later":                 {with(to("new", 300, ann, ben)), 0, lookupCannotTell, "1 document may belong"},
		"two":                        {with(to("new", 2.2, ann, ben), to("two", 2.3, ann, ben)), 0, lookupCannotTell, "2 documents may belong"},
		"one without a time":         {with(undated), 0, lookupCannotTell, "new made at a time that is not shown"},
		"one without signers":        {with(to("new", 2.2)), 0, lookupCannotTell, "1 document may belong"},
		"one without an address":     {with(to("new", 2.2, ann, "")), 0, lookupCannotTell, "1 document may belong"},
		"and one without":            {with(to("new", 2.2, ann, ben), to("two", 2.3)), 0, lookupCannotTell, "2 documents may belong"},
		"a list that lags":           {all[:2], 0, lookupCannotTell, "but shows only 2 of the 3 documents"},
		"a document without address": {append(all[:2:2], to("4", 4.2)), 0, lookupCannotTell, "but shows only 2 of the 3"},
		"times out of order":         {append(all[1:], to("0", 3, "0@x"), to("new", 3.5, ann, ben)), 0, lookupCannotTell, "1 document may belong"},
	} {
		t.Run(name, func(t *testing.T) {
			unknown := &journal.Entry{Who: []string{"u"}, State: journal.Unknown, Intended: at(2), At: at(3)}
			m := newMadeList(c.list, []journal.Entry{*send(0, "0"), *send(1, "1"), *unknown, *send(4, "4")})
			m.asked = [][]string{{"dan@example.com"}}
			m.witness(send(0, "0"), []string{"0@x"})
			m.witness(send(1, "1"), []string{"1@x"})
			m.witness(send(4, "4"), []string{"4@x"})
			if c.now == 0 {
				c.now = 60
			}
			outcome, _, says := m.find(unknown, []string{ann, ben}, at(c.now))
			require.Equal(t, c.outcome, outcome, says)
			require.Contains(t, says, c.says)
		})
	}

	// Without a document before it or after it, the send has no witness.
	first := &journal.Entry{Who: []string{"u"}, State: journal.Unknown, Intended: at(-2), At: at(-1)}
	m := newMadeList(with(to("old", -3, ann, ben)), []journal.Entry{*first, *send(0, "0")})
	m.witness(send(0, "0"), []string{"0@x"})
	outcome, _, says := m.find(first, []string{ann, ben}, at(60))
	require.Equal(t, lookupCannotTell, outcome, says)
	m = newMadeList(append([]*signforms.Respondent{to("old", -3, ann, ben)}, all[0]), []journal.Entry{*first, *send(0, "0")})
	m.witness(send(0, "0"), []string{"0@x"})
	outcome, _, says = m.find(first, []string{"cem@example.com"}, at(60))
	require.Equal(t, lookupCannotTell, outcome)
	require.Contains(t, says, "1 document of no known send may be it") // nothing shows that it is older
	m = newMadeList(all[:1], []journal.Entry{*first, *send(0, "0")})
	m.witness(send(0, "0"), []string{"0@x"})
	outcome, _, says = m.find(first, []string{"cem@example.com"}, at(60))
	require.Equal(t, lookupNotFound, outcome, says)
	last := &journal.Entry{Who: []string{"u"}, State: journal.Unknown, Intended: at(5), At: at(6)}
	m = newMadeList(all, []journal.Entry{*send(0, "0"), *last})
	m.witness(send(0, "0"), []string{"0@x"})
	outcome, _, says = m.find(last, []string{ann, ben}, at(60))
	require.Equal(t, lookupCannotTell, outcome)
	require.Equal(t, "the list has no such document, but shows none of this run that was sent later, so it may lag behind", says)
}
