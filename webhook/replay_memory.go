package webhook

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"math"
	"sync"
	"time"
)

// ErrReplayStoreFull is returned by [MemoryReplayStore.Begin] if the store is full and may not
// forget any of its events yet. A [Handler] then responds with 503, which asks the service to
// deliver later.
var ErrReplayStoreFull = errors.New("webhook: replay store is full of events that are too young to forget: " +
	"raise MemoryReplayOptions.MaxEvents")

// MemoryReplayOptions are the optional settings of [NewMemoryReplayStore].
type MemoryReplayOptions struct {
	// MaxEvents is how many events are remembered. Default 100,000, which takes less than 10 MB. A
	// full store forgets the events that were done first. It forgets no event within ten minutes,
	// because a delivery could be repeated during that time.
	MaxEvents int

	// Now is the clock. Default [time.Now]. The store never calls it concurrently.
	Now func() time.Time
}

// MemoryReplayStore is a [ReplayStore] in the memory of one process. It is not shared with other
// processes and does not survive a restart. Its size is bounded, and its memory does not shrink.
// Make a store with [NewMemoryReplayStore]. It is safe for concurrent use.
type MemoryReplayStore struct {
	max     int
	minKeep time.Duration
	now     func() time.Time
	start   time.Time // times are stored as durations since start

	mu      sync.Mutex
	blocks  []*[blockSize]replayRecord // a block is never moved, so growing copies no record
	records int32                      // number of records in all blocks
	known   int                        // number of events that are remembered
	chains  []int32                    // the hash table: the index of the first record of each chain; at least as long as records
	seed    maphash.Seed
}

const blockSize = 256

// replayRecord is a member of one of three rings. Unless it is spare, it is also a member of a
// chain of the hash table. It has no pointer, so the garbage collector skips the records.
//
// The store has its own hash table, because Go maps under churn grow severalfold: a map of 100,000
// of these keys grows from 5 to 21 MB within 60 rounds of replacing all keys.
type replayRecord struct {
	key          ReplayKey
	since, until time.Duration // the time of Begin or Done, and the end of lease or keep
	done         bool          // if false, the record is claimed
	prev, next   int32         // neighbours in the ring
	chained      int32         // the next record of the chain; none at its end
}

// The first records are the heads of the rings and hold no events.
const (
	claimedRing int32 = iota // in the order of their Begin
	doneRing                 // in the order of their Done
	spareRing
	rings
)

const none = claimedRing // ends a chain; the head of a ring is never in a chain

// defaultMinKeep is how long a processed event is kept even if the store is full. The default store
// of a [Handler] keeps each event for twice the Verifier's tolerance. So no delivery can be
// repeated while its timestamp is valid.
const defaultMinKeep = 2 * defaultTolerance

// NewMemoryReplayStore returns an empty store. opts may be nil. NewMemoryReplayStore panics if
// MaxEvents is negative.
func NewMemoryReplayStore(opts *MemoryReplayOptions) *MemoryReplayStore {
	if opts == nil {
		opts = &MemoryReplayOptions{}
	}
	return newMemoryReplayStore(opts, defaultMinKeep)
}

func newMemoryReplayStore(opts *MemoryReplayOptions, minKeep time.Duration) *MemoryReplayStore {
	s := &MemoryReplayStore{
		max:     min(cmp.Or(opts.MaxEvents, 100_000), math.MaxInt32-int(rings)),
		minKeep: minKeep,
		now:     opts.Now,
		blocks:  []*[blockSize]replayRecord{new([blockSize]replayRecord)},
		records: rings,
		chains:  make([]int32, blockSize),
		seed:    maphash.MakeSeed(),
	}
	if s.max < 0 {
		panic("webhook: NewMemoryReplayStore: negative MaxEvents: leave it 0 for the default")
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

// Begin claims key; see [ReplayStore]. Its only error is [ErrReplayStoreFull]. Begin never waits,
// so it does not use ctx.
func (s *MemoryReplayStore) Begin(_ context.Context, key ReplayKey, lease time.Duration) (ReplayState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	i := s.find(key)
	if i == none {
		if i = s.add(key, now); i == none {
			return 0, ErrReplayStoreFull
		}
	} else if r := s.record(i); now < r.until {
		if r.done {
			return ReplayDone, nil
		}
		return ReplayBusy, nil
	}
	s.place(i, claimedRing, now, lease)
	return ReplayFresh, nil
}

// Done records that the event was processed; see [ReplayStore]. Its only error is
// [ErrReplayStoreFull], which occurs if the claim had expired and was forgotten.
func (s *MemoryReplayStore) Done(_ context.Context, key ReplayKey, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Sub(s.start)
	i := s.find(key)
	if i == none {
		if i = s.add(key, now); i == none {
			return ErrReplayStoreFull
		}
	}
	s.place(i, doneRing, now, keep)
	return nil
}

// Abort releases a claim; see [ReplayStore]. Abort never fails.
func (s *MemoryReplayStore) Abort(_ context.Context, key ReplayKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(key); i != none && !s.record(i).done {
		s.forget(i)
	}
	return nil
}

// find returns the index of the record with this key, or none.
func (s *MemoryReplayStore) find(key ReplayKey) int32 {
	i := *s.chain(&key)
	for i != none && s.record(i).key != key {
		i = s.record(i).chained
	}
	return i
}

// add returns the index of a new record, or none if the store is full. For each new record, add
// removes up to two records that have expired. So the memory of a burst is freed without a call
// that takes long.
func (s *MemoryReplayStore) add(key ReplayKey, now time.Duration) int32 {
	for ring := range spareRing {
		if i := s.record(ring).next; i != ring && now >= s.record(i).until {
			s.forget(i)
		}
	}
	if s.known >= s.max {
		oldest := s.record(doneRing).next
		if oldest == doneRing || now-s.record(oldest).since < s.minKeep {
			return none
		}
		s.forget(oldest)
	}
	i := s.record(spareRing).next
	if i == spareRing {
		i = s.grow()
	}
	s.record(i).key = key
	s.link(i)
	s.known++
	return i
}

func (s *MemoryReplayStore) record(i int32) *replayRecord { return &s.blocks[i/blockSize][i%blockSize] }

// chain returns the head of a key's chain.
func (s *MemoryReplayStore) chain(key *ReplayKey) *int32 {
	return &s.chains[maphash.Bytes(s.seed, key[:])%uint64(len(s.chains))]
}

func (s *MemoryReplayStore) link(i int32) {
	first := s.chain(&s.record(i).key)
	s.record(i).chained, *first = *first, i
}

// grow returns the index of an additional record, which is in no ring and no chain.
func (s *MemoryReplayStore) grow() int32 {
	if int(s.records) == len(s.chains) {
		s.chains = make([]int32, 2*len(s.chains))
		for i := rings; i < s.records; i++ { // no record is spare, because grow is called only without spare records
			s.link(i)
		}
	}
	i := s.records
	if s.records++; i%blockSize == 0 {
		s.blocks = append(s.blocks, new([blockSize]replayRecord))
	}
	s.record(i).prev, s.record(i).next = i, i
	return i
}

func (s *MemoryReplayStore) forget(i int32) {
	r := s.record(i)
	at := s.chain(&r.key)
	for *at != i {
		at = &s.record(*at).chained
	}
	*at = r.chained
	s.known--
	s.move(i, spareRing)
}

func (s *MemoryReplayStore) place(i, ring int32, now, lasts time.Duration) {
	r := s.record(i)
	r.done, r.since, r.until = ring == doneRing, now, now+min(lasts, math.MaxInt64-max(now, 0))
	s.move(i, ring)
}

// move moves record i to the end of a ring.
func (s *MemoryReplayStore) move(i, ring int32) {
	r, head := s.record(i), s.record(ring)
	s.record(r.prev).next, s.record(r.next).prev = r.next, r.prev
	r.prev, r.next = head.prev, ring
	s.record(r.prev).next, head.prev = i, i
}
