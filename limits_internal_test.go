package signforms

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The default store and the lines before it are package state: nothing may stay there when a key is free.

func TestKeyIsForgottenWhenItsSlotsAreGivenBack(t *testing.T) {
	s := NewMemoryLimitStore(nil)
	var slots []string
	for range 5 {
		slot, _, err := s.Take(t.Context(), "k", 5, time.Hour)
		require.NoError(t, err)
		slots = append(slots, slot)
	}
	for _, slot := range slots {
		require.Contains(t, s.keys, "k")
		require.NoError(t, s.Settle(t.Context(), "k", slot, 0))
	}
	require.Empty(t, s.keys)
	_, err := s.Peek(t.Context(), "other", 5)
	require.NoError(t, err)
	require.Empty(t, s.keys, "asking is not holding")
}

func TestFreeKeysAreForgottenAsOthersCome(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewMemoryLimitStore(func() time.Time { return now })
	const atOnce = 1000 // keys in use at any time
	most := 0
	for n := range 50 * atOnce {
		_, _, err := s.Take(t.Context(), fmt.Sprint(n), 5, atOnce*time.Second)
		require.NoError(t, err)
		now = now.Add(time.Second)
		if n > 10*atOnce {
			most = max(most, len(s.keys))
		}
	}
	require.Less(t, most, 2*atOnce)
	require.GreaterOrEqual(t, most, atOnce-1, "keys in use")
}

func TestLineIsGoneWhenItsLastCallLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := New("https://api.example.com", "key", &Options{
			LimitStore: NewMemoryLimitStore(nil), ReminderMaxWait: time.Hour,
			HTTPClient: &http.Client{Transport: answering{}},
		})
		require.NoError(t, err)
		key := client.Documents.c.budget.lineKey
		for range 30 {
			go client.Documents.Remind(t.Context(), PDFDocument("00000000-0000-4000-8000-000000000000"))
		}
		time.Sleep(time.Minute)
		require.Equal(t, 15, lines.length(key), "5 are sent, 15 can wait for an hour, 10 are refused")
		time.Sleep(2 * time.Hour)
		lines.mu.Lock()
		defer lines.mu.Unlock()
		require.NotContains(t, lines.m, key)
	})
}

type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
}

func TestStoreGetsAHashOfTheKey(t *testing.T) {
	o := Options{LimitStore: NewMemoryLimitStore(nil)}
	b := newBudget(o, "https://api.example.com", "secret-api-key")
	require.Regexp(t, "^[0-9a-f]{64}$", b.key)
	require.False(t, strings.Contains(b.key, "secret"))
	require.NotEqual(t, b.key, newBudget(o, "https://api.example.com", "secret-api-kez").key)
}

// BenchmarkSlot takes and settles a slot that nobody else wants: of a key that is in use, and of one that comes anew.
func BenchmarkSlot(b *testing.B) {
	for _, keep := range []bool{true, false} {
		b.Run(map[bool]string{true: "kept", false: "given back"}[keep], func(b *testing.B) {
			var passed time.Duration
			o := Options{LimitStore: NewMemoryLimitStore(func() time.Time { return time.Now().Add(passed) })}.withDefaults()
			budget := newBudget(o, fmt.Sprint("https://api.example.com/", rand.Uint64()), "key")
			done := outcome{unwritten: !keep, status: http.StatusOK}
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				s, err := budget.take(ctx, 0, 0)
				if err != nil {
					b.Fatal(err)
				}
				budget.settle(ctx, s, done)
				passed += 4 * time.Minute // a slot is free again when five are taken
			}
		})
	}
}
