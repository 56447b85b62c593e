package webhook_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/replaystoretest"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

func TestMemoryReplayStore(t *testing.T) {
	replaystoretest.Run(t, func(*testing.T) (webhook.ReplayStore, func(time.Duration)) {
		clock := webhooktest.NewClock(noon)
		return webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{Now: clock.Now}), clock.Advance
	})
}

func replayKey(n int) (key webhook.ReplayKey) {
	binary.BigEndian.PutUint64(key[:], uint64(n))
	return key
}

// TestMemoryReplayStore_full fills a store of three.
func TestMemoryReplayStore_full(t *testing.T) {
	clock := webhooktest.NewClock(noon)
	s := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: 3, Now: clock.Now})
	begin := func(n int) (webhook.ReplayState, error) { return s.Begin(t.Context(), replayKey(n), time.Hour) }
	run := func(n int) {
		t.Helper()
		state, err := begin(n)
		require.NoError(t, err)
		require.Equal(t, webhook.ReplayFresh, state)
		require.NoError(t, s.Done(t.Context(), replayKey(n), 24*time.Hour))
	}
	run(1)
	clock.Advance(time.Minute)
	state, err := begin(2) // a long lease
	require.NoError(t, err)
	require.Equal(t, webhook.ReplayFresh, state)
	clock.Advance(time.Minute)
	run(3)
	_, err = begin(4)
	require.ErrorIs(t, err, webhook.ErrReplayStoreFull, "all are younger than ten minutes")
	state, err = begin(1)
	require.NoError(t, err)
	require.Equal(t, webhook.ReplayDone, state, "a full store still knows what it has")

	clock.Advance(8 * time.Minute)
	run(4) // takes the place of 1, which was done first
	state, _ = begin(3)
	require.Equal(t, webhook.ReplayDone, state)
	state, _ = begin(2)
	require.Equal(t, webhook.ReplayBusy, state, "a claim is never given up before its lease ends")
	clock.Advance(2 * time.Minute)
	run(1)
	state, _ = begin(4)
	require.Equal(t, webhook.ReplayDone, state)
	_, err = begin(5)
	require.ErrorIs(t, err, webhook.ErrReplayStoreFull)
	require.ErrorIs(t, s.Done(t.Context(), replayKey(5), time.Hour), webhook.ErrReplayStoreFull)

	clock.Advance(time.Hour)
	run(5) // takes the place of 2, whose lease has ended
	run(6)
}

// TestMemoryReplayStore_longDurations has durations that reach beyond the end of time.
func TestMemoryReplayStore_longDurations(t *testing.T) {
	clock := webhooktest.NewClock(noon)
	s := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{Now: clock.Now})
	for n, since := range []time.Duration{time.Second, -time.Hour} {
		clock.Advance(since)
		for _, want := range []webhook.ReplayState{webhook.ReplayFresh, webhook.ReplayBusy, webhook.ReplayBusy} {
			state, err := s.Begin(t.Context(), replayKey(n), math.MaxInt64)
			require.NoError(t, err)
			require.Equal(t, want, state)
			clock.Advance(10 * 365 * 24 * time.Hour)
		}
		require.NoError(t, s.Done(t.Context(), replayKey(n), math.MaxInt64))
		state, err := s.Begin(t.Context(), replayKey(n), time.Hour)
		require.NoError(t, err)
		require.Equal(t, webhook.ReplayDone, state)
		clock.Advance(-30 * 365 * 24 * time.Hour)
	}
}

// TestMemoryReplayStore_againstModel compares 50,000 random calls with a map that is never full: of few keys that come
// often, and of so many that the store grows several times and forgets most of them again.
func TestMemoryReplayStore_againstModel(t *testing.T) {
	t.Run("few", func(t *testing.T) { compareWithModel(t, 150, 100) })
	if !testing.Short() {
		t.Run("many", func(t *testing.T) { compareWithModel(t, 20_000, 10_000) })
	}
}

func compareWithModel(t *testing.T, keys, seconds int) {
	type record struct {
		state webhook.ReplayState
		until time.Time
	}
	random := rand.New(rand.NewPCG(1, 2))
	clock := webhooktest.NewClock(noon)
	s := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: keys, Now: clock.Now})
	model := map[int]record{}
	for range 50_000 {
		n, d := random.IntN(keys), time.Duration(random.IntN(seconds))*time.Second
		now := clock.Now()
		known, ok := model[n]
		ok = ok && now.Before(known.until)
		switch random.IntN(4) {
		case 0, 1:
			want := webhook.ReplayFresh
			if ok {
				want = known.state
			} else {
				model[n] = record{webhook.ReplayBusy, now.Add(d)}
			}
			got, err := s.Begin(t.Context(), replayKey(n), d)
			require.NoError(t, err)
			require.Equal(t, want, got)
		case 2:
			model[n] = record{webhook.ReplayDone, now.Add(d)}
			require.NoError(t, s.Done(t.Context(), replayKey(n), d))
		case 3:
			if known.state == webhook.ReplayBusy {
				delete(model, n)
			}
			require.NoError(t, s.Abort(t.Context(), replayKey(n)))
		}
		clock.Advance(time.Duration(random.IntN(1000)) * time.Millisecond)
	}
}

// TestMemoryReplayStore_memory fills a store and lets three times as many events come and go. Each is
// known for as long as it should be, and the memory stays what the documentation says.
func TestMemoryReplayStore_memory(t *testing.T) {
	const size = 20_000
	clock := webhooktest.NewClock(noon)
	before := liveHeap()
	s := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: size, Now: clock.Now})
	for n := range 4 * size {
		if n >= size {
			clock.Advance(50 * time.Millisecond) // 20,000 of them are more than ten minutes
		} else if n == size-1 {
			clock.Advance(10 * time.Minute)
		}
		if state, err := s.Begin(t.Context(), replayKey(n), time.Minute); state != webhook.ReplayFresh || err != nil {
			t.Fatalf("Begin of event %d = %v, %v, want ReplayFresh", n, state, err)
		}
		require.NoError(t, s.Done(t.Context(), replayKey(n), 24*time.Hour))
	}
	require.Less(t, liveHeap()-before, int64(2e6))
	for n := 3 * size; n < 4*size; n++ {
		if state, err := s.Begin(t.Context(), replayKey(n), time.Minute); state != webhook.ReplayDone || err != nil {
			t.Fatalf("Begin of event %d once more = %v, %v, want ReplayDone", n, state, err)
		}
	}
	state, err := s.Begin(t.Context(), replayKey(3*size-1), time.Minute)
	require.NoError(t, err)
	require.Equal(t, webhook.ReplayFresh, state, "one that had to make room")
}

func TestNewMemoryReplayStore_panics(t *testing.T) {
	require.Panics(t, func() { webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: -1}) })
}
