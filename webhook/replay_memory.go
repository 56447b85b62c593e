package webhook

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// ErrReplayStoreFull is returned by [MemoryReplayStore.Begin] when every event it remembers is too young to be
// forgotten. A [Handler] then answers 503, which asks the service to deliver later.
var ErrReplayStoreFull = errors.New("webhook: replay store is full of events that are too young to forget: raise MemoryReplayOptions.MaxEvents")

// MemoryReplayOptions are the optional settings of [NewMemoryReplayStore].
type MemoryReplayOptions struct {
	// MaxEvents is how many events are remembered. Default 100,000, which takes less than 15 MB when full. Then the
	// events that were done first are forgotten first.
	MaxEvents int

	// MinKeep is for how long a processed event is never forgotten, even when the store is full. It should be twice
	// the Verifier's tolerance, so that no delivery can be repeated while its timestamp is still good. Default 10
	// minutes.
	MinKeep time.Duration

	// Now is the clock. Default [time.Now]. The store calls it once at a time.
	Now func() time.Time
}

// MemoryReplayStore is a [ReplayStore] in the memory of one process, bounded in size. It knows nothing of other
// processes, nor of what happened before a restart. Make one with [NewMemoryReplayStore]; it is safe for concurrent use.
type MemoryReplayStore struct {
	max     int
	minKeep time.Duration
	now     func() time.Time
	start   time.Time // instants are kept as durations since then

	mu      sync.Mutex
	index   map[ReplayKey]int32
	blocks  []*[blockSize]replayRecord // a block is never moved: growing copies no record
	records int32                      // in use, in all blocks
}

const blockSize = 256

// replayRecord is a member of one of three rings. It holds no pointer, so that the garbage collector need not look at
// the records, however many there are.
type replayRecord struct {
	key          ReplayKey
	state        ReplayState
	since, until time.Duration // Begin or Done, and the end of lease or keep
	prev, next   int32
}

// The first records are the heads of the rings and stand for no event.
const (
	claimedRing int32 = iota // in the order of their Begin
	doneRing                 // in the order of their Done
	spareRing
	rings
)

// NewMemoryReplayStore returns an empty store. opts may be nil. It panics when MaxEvents or MinKeep is negative.
func NewMemoryReplayStore(opts *MemoryReplayOptions) *MemoryReplayStore {
	if opts == nil {
		opts = &MemoryReplayOptions{}
	}
	s := &MemoryReplayStore{
		max:     min(cmp.Or(opts.MaxEvents, 100_000), math.MaxInt32-int(rings)),
		minKeep: cmp.Or(opts.MinKeep, 2*DefaultTolerance),
		now:     opts.Now,
		index:   make(map[ReplayKey]int32),
		blocks:  []*[blockSize]replayRecord{new([blockSize]replayRecord)},
		records: rings,
	}
	if s.max < 0 || s.minKeep < 0 {
		panic("webhook: NewMemoryReplayStore: negative MaxEvents or MinKeep: leave it 0 for the default")
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.start = s.now()
	for i := range rings {
		s.record(i).prev, s.record(i).next = i, i
	}
	return s
}

// Begin claims key; see [ReplayStore]. Its only error is [ErrReplayStoreFull]. ctx is not used: it never waits.
func (s *MemoryReplayStore) Begin(_ context.Context, key ReplayKey, lease time.Duration) (ReplayState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	i, known := s.index[key]
	if !known {
		if i = s.add(key, now); i < 0 {
			return 0, ErrReplayStoreFull
		}
	} else if r := s.record(i); now < r.until {
		return r.state, nil
	}
	s.settle(i, claimedRing, ReplayBusy, now, lease)
	return ReplayFresh, nil
}

// Done records that the event was processed; see [ReplayStore]. Its only error is [ErrReplayStoreFull], for a claim
// that had ended and was forgotten.
func (s *MemoryReplayStore) Done(_ context.Context, key ReplayKey, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	i, known := s.index[key]
	if !known {
		if i = s.add(key, now); i < 0 {
			return ErrReplayStoreFull
		}
	}
	s.settle(i, doneRing, ReplayDone, now, keep)
	return nil
}

// Abort ends a claim; see [ReplayStore]. It never fails.
func (s *MemoryReplayStore) Abort(_ context.Context, key ReplayKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, known := s.index[key]; known && s.record(i).state == ReplayBusy {
		s.forget(i)
	}
	return nil
}

// add returns the number of a new record, or -1 when the store is full. Up to two records whose time is over leave for
// each that comes: so the store shrinks after a burst, and no single call has to do all of that.
func (s *MemoryReplayStore) add(key ReplayKey, now time.Duration) int32 {
	for ring := range spareRing {
		if i := s.record(ring).next; i != ring && now >= s.record(i).until {
			s.forget(i)
		}
	}
	if len(s.index) >= s.max {
		oldest := s.record(doneRing).next
		if oldest == doneRing || now-s.record(oldest).since < s.minKeep {
			return -1
		}
		s.forget(oldest)
	}
	i := s.record(spareRing).next
	if i == spareRing {
		i = s.grow()
	}
	s.record(i).key = key
	s.index[key] = i
	return i
}

func (s *MemoryReplayStore) record(i int32) *replayRecord { return &s.blocks[i/blockSize][i%blockSize] }

// grow returns the number of a record more, which is in no ring.
func (s *MemoryReplayStore) grow() int32 {
	i := s.records
	if s.records++; i%blockSize == 0 {
		s.blocks = append(s.blocks, new([blockSize]replayRecord))
	}
	s.record(i).prev, s.record(i).next = i, i
	return i
}

func (s *MemoryReplayStore) forget(i int32) {
	delete(s.index, s.record(i).key)
	s.move(i, spareRing)
}

func (s *MemoryReplayStore) settle(i, ring int32, state ReplayState, now, lasts time.Duration) {
	r := s.record(i)
	r.state, r.since, r.until = state, now, now+min(lasts, math.MaxInt64-max(now, 0))
	s.move(i, ring)
}

// move puts record i at the end of a ring.
func (s *MemoryReplayStore) move(i, ring int32) {
	r, head := s.record(i), s.record(ring)
	s.record(r.prev).next, s.record(r.next).prev = r.next, r.prev
	r.prev, r.next = head.prev, ring
	s.record(r.prev).next, head.prev = i, i
}
