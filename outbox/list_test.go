package outbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestList_filters(t *testing.T) {
	eachStore(t, func(f *fixture) {
		for i := range listBatch + 5 {
			f.add(fmt.Sprint("old", i), "ann@example.com")
		}
		f.advance(time.Hour)
		f.add("new", "ann@example.com")
		f.set("old3", Failed, "")
		f.set("old104", Undecided, "")
		for name, c := range map[string]struct {
			filter Filter
			want   int
			last   string
		}{
			"all":           {Filter{}, listBatch + 6, "new"},
			"by age":        {Filter{OlderThan: 30 * time.Minute}, listBatch + 5, "old104"},
			"by states":     {Filter{States: []State{Failed, Undecided}}, 2, "old104"},
			"by state, age": {Filter{States: []State{Pending}, OlderThan: 30 * time.Minute}, listBatch + 3, "old103"},
			"too old":       {Filter{OlderThan: 2 * time.Hour}, 0, ""},
		} {
			n, last := 0, ""
			for e, err := range f.List(f.Context(), c.filter) {
				require.NoError(f, err, name)
				n, last = n+1, e.Key
			}
			require.Equal(f, c.want, n, name)
			require.Equal(f, c.last, last, name)
		}
		n := 0
		for range f.List(f.Context(), Filter{}) { // the connection is free in the body of the loop
			f.db.SetMaxOpenConns(1)
			f.entry("new")
			if n++; n == 2 {
				break
			}
		}
		require.Equal(f, 2, n)
	})
}

func TestStats(t *testing.T) {
	eachStore(t, func(f *fixture) {
		for i, s := range []State{Pending, Pending, Sending, Sending, Sending, Undecided, Sent, Ended, Failed, Cancelled} {
			f.add(fmt.Sprint(i), "ann@example.com")
			f.set(fmt.Sprint(i), s, "")
			f.advance(time.Minute)
		}
		s, err := f.Stats(f.Context())
		require.NoError(f, err)
		require.Equal(f, Stats{Pending: 2, InDoubt: 3, Undecided: 1, OldestPending: 10 * time.Minute, OldestInDoubt: 8 * time.Minute,
			OldestUndecided: 5 * time.Minute}, s)
	})
}
