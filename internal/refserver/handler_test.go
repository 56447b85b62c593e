package refserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecentKeepsTheNewest(t *testing.T) {
	const maxRecent = 100_000
	l := recent[int]{most: maxRecent}
	for i := range 3*maxRecent + 5 {
		l.add(i)
		if i == 2 {
			require.Equal(t, []int{0, 1, 2}, l.all())
		}
	}
	got := l.all()
	require.Len(t, got, maxRecent)
	require.Equal(t, []int{2*maxRecent + 5, 3*maxRecent + 4}, []int{got[0], got[maxRecent-1]})
	require.LessOrEqual(t, len(l.entries), 2*maxRecent)
}
