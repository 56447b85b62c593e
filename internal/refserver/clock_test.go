package refserver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClock_addsAdvances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var c clock
		require.Equal(t, start.UTC(), c.Now())
		time.Sleep(time.Minute)
		c.advance(72 * time.Hour)
		require.Equal(t, start.Add(72*time.Hour+time.Minute).UTC(), c.Now())
	})
}

func TestClock_neverGoesBack(t *testing.T) {
	c := clock{start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	c.advance(time.Hour)
	before := c.Now()
	c.advance(-time.Minute) // as if the wall clock had been set back
	require.Equal(t, before, c.Now())
	c.advance(2 * time.Minute)
	require.Equal(t, before.Add(time.Minute), c.Now())
}

func TestClock_withAStartStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
		c := clock{start: start}
		time.Sleep(time.Minute)
		require.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 678_000_000, time.UTC), c.Now())
		c.advance(time.Second)
		require.Equal(t, time.Date(2026, 1, 2, 2, 4, 6, 678_000_000, time.UTC), c.Now())
	})
}
