package webhook

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// ErrReplayStoreFull is returned by [MemoryReplayStore.Begin] when every event it remembers is too young to be
// forgotten. A [Handler] then answers 503, and the service delivers again later.
var ErrReplayStoreFull = errors.New("webhook: replay store is full of events that are too young to forget; raise MaxEvents")

// MemoryReplayOptions are the optional settings of [NewMemoryReplayStore].
type MemoryReplayOptions struct {
	// MaxEvents is how many events are remembered. Default 100,000, which takes about 20 MB when full. Then the
	// events that were done first are forgotten first.
	MaxEvents int

	// MinKeep is for how long a processed event is never forgotten, even when the store is full. It should be twice
	// the Verifier's tolerance, so that no delivery can be repeated while its timestamp is still good. Default 10
	// minutes.
	MinKeep time.Duration

	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// MemoryReplayStore is a [ReplayStore] in the memory of one process, bounded in size. It knows nothing of other
// processes, nor of what happened before a restart.
type MemoryReplayStore struct {
	max     int
	minKeep time.Duration
	now     func() time.Time

	mu      sync.Mutex
	records map[ReplayKey]*replayRecord
	claimed replayList // in the order of their Begin
	done    replayList // in the order of their Done
	spare   *replayRecord
}

// replayRecord is a member of one of the two lists.
type replayRecord struct {
	key        ReplayKey
	list       *replayList
	since      time.Time // of Begin or Done
	until      time.Time
	prev, next *replayRecord
}

type replayList struct {
	first, last *replayRecord
}

// NewMemoryReplayStore returns an empty store. opts may be nil.
func NewMemoryReplayStore(opts *MemoryReplayOptions) *MemoryReplayStore {
	if opts == nil {
		opts = &MemoryReplayOptions{}
	}
	s := &MemoryReplayStore{
		max:     cmp.Or(opts.MaxEvents, 100_000),
		minKeep: cmp.Or(opts.MinKeep, 2*DefaultTolerance),
		now:     opts.Now,
		records: make(map[ReplayKey]*replayRecord),
	}
	if s.max < 1 || s.minKeep < 0 {
		panic("webhook: NewMemoryReplayStore: negative MaxEvents or MinKeep")
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Begin claims key; see [ReplayStore]. Its only error is [ErrReplayStoreFull]. ctx is not used: it never waits.
func (s *MemoryReplayStore) Begin(_ context.Context, key ReplayKey, lease time.Duration) (ReplayState, error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[key]
	switch {
	case r == nil:
		if r = s.add(key, now); r == nil {
			return 0, ErrReplayStoreFull
		}
	case now.Before(r.until):
		if r.list == &s.done {
			return ReplayDone, nil
		}
		return ReplayBusy, nil
	}
	s.move(r, &s.claimed, now, lease)
	return ReplayFresh, nil
}

// Done records that the event was processed; see [ReplayStore]. Its only error is [ErrReplayStoreFull], for a claim
// that had ended and was forgotten.
func (s *MemoryReplayStore) Done(_ context.Context, key ReplayKey, keep time.Duration) error {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[key]
	if r == nil {
		if r = s.add(key, now); r == nil {
			return ErrReplayStoreFull
		}
	}
	s.move(r, &s.done, now, keep)
	return nil
}

// Abort ends a claim; see [ReplayStore]. It never fails.
func (s *MemoryReplayStore) Abort(_ context.Context, key ReplayKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.records[key]; r != nil && r.list == &s.claimed {
		s.forget(r)
	}
	return nil
}

// add returns a record that is in no list yet, or nil when the store is full. Up to two records that are over leave
// for each that comes: so the store shrinks after a burst, and no single call has to do all of that.
func (s *MemoryReplayStore) add(key ReplayKey, now time.Time) *replayRecord {
	for _, list := range []*replayList{&s.done, &s.claimed} {
		if r := list.first; r != nil && !now.Before(r.until) {
			s.forget(r)
		}
	}
	if len(s.records) >= s.max {
		oldest := s.done.first
		if oldest == nil || now.Sub(oldest.since) < s.minKeep {
			return nil
		}
		s.forget(oldest)
	}
	r := s.spare
	if r == nil {
		r = new(replayRecord)
	}
	s.spare = nil
	*r = replayRecord{key: key}
	s.records[key] = r
	return r
}

func (s *MemoryReplayStore) forget(r *replayRecord) {
	delete(s.records, r.key)
	r.leave()
	s.spare = r
}

// move puts r at the end of list.
func (s *MemoryReplayStore) move(r *replayRecord, list *replayList, now time.Time, lasts time.Duration) {
	r.leave()
	r.since, r.until = now, now.Add(lasts)
	r.list, r.prev = list, list.last
	if list.last == nil {
		list.first = r
	} else {
		list.last.next = r
	}
	list.last = r
}

func (r *replayRecord) leave() {
	if r.list == nil {
		return
	}
	if r.prev == nil {
		r.list.first = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		r.list.last = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.list, r.prev, r.next = nil, nil, nil
}
