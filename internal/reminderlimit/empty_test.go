package reminderlimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// The waiters of a process are package state of signforms: nothing may stay there when nobody waits.
func TestLines_removedWithTheLastWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := reminderlimit.NewLines()
		b := reminderlimit.New(lines, signforms.NewMemoryLimitStore(nil), "k", 30*time.Second)
		for range 30 {
			go func() {
				if slot, err := b.Take(t.Context(), time.Hour, 0); err == nil {
					b.Settle(t.Context(), slot, reminderlimit.Answered)
				}
			}()
		}
		time.Sleep(time.Minute)
		require.Equal(t, 15, lines.Waiting(), "5 are sent, 15 can wait for an hour, 10 are refused")
		time.Sleep(2 * time.Hour)
		require.Zero(t, lines.Waiting())
		require.Zero(t, lines.Len())
	})
}

// BenchmarkSlot takes and settles a slot without competition: of a key that is in use, and of a new key.
func BenchmarkSlot(b *testing.B) {
	for name, keep := range map[string]time.Duration{"kept": reminderlimit.Answered, "given back": 0} {
		b.Run(name, func(b *testing.B) {
			var passed time.Duration
			store := signforms.NewMemoryLimitStore(func() time.Time { return time.Now().Add(passed) })
			own := reminderlimit.New(reminderlimit.NewLines(), store, "k", 30*time.Second)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				slot, err := own.Take(ctx, 0, 0)
				if err != nil {
					b.Fatal(err)
				}
				own.Settle(ctx, slot, keep)
				passed += 4 * time.Minute // a slot is free again when five are taken
			}
		})
	}
}
