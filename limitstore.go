package signforms

// This file has the stores of reminder slots. internal/reminderlimit/budget.go decides when a
// reminder has to wait.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// A LimitStore keeps the reminder budget of API keys: at most limit slots of a key are held at any
// time. Processes that use the same key keep the limit together by sharing a store. Times are
// durations, so the store's own clock decides.
//
// Implementations must be safe for concurrent use and comparable (a pointer is). Each method must
// be atomic, and return when its ctx ends. limitstoretest.Run checks an implementation.
//
// Each method has 3 seconds, and runs in its own goroutine. The context of Take, Settle and Block
// does not end with the call's context, so that a slot that comes too late for its call can be
// given back. The SDK waits at most 0.1 s longer than the 3 seconds, or than the call's context. If
// a method does not return, its goroutine remains, and all calls that wait for it fail with
// ErrUnavailable. A method that panics has failed.
//
// A store whose clock can be moved, as in tests, may have a method Changed() <-chan struct{}. It
// returns a channel that is closed when the clock is moved. Then calls that wait for a slot ask the
// store again.
type LimitStore interface {
	// Take takes a slot of key for hold, if fewer than limit are held and the key is not blocked,
	// and returns its id. If no slot is free, it returns the time until a slot frees, which must be
	// above 0, so round up. After an error no reminder is sent. key is a hash, never the API key.
	// hold is how long a crashed process keeps the slot.
	Take(ctx context.Context, key string, limit int, hold time.Duration) (slot string, wait time.Duration, err error)
	// Settle keeps a taken slot for keep, counted from now. A keep of 0 gives it back. If the slot has expired, Settle takes
	// it again for keep, because its request may have been sent.
	Settle(ctx context.Context, key, slot string, keep time.Duration) error
	// Block keeps the budget of key from giving slots for d from now. A longer block of the key is
	// not shortened.
	Block(ctx context.Context, key string, d time.Duration) error
	// Peek returns the time until each of limit slots can be taken, soonest first, and 0 for a slot
	// that is free. It takes no slot.
	Peek(ctx context.Context, key string, limit int) ([]time.Duration, error)
}

// process is the only package state. It has what the clients of a process share, as they share
// http.DefaultTransport: the store of clients without their own LimitStore, and the calls that wait
// for a slot.
var process = struct {
	store *MemoryLimitStore
	lines *reminderlimit.Lines
}{NewMemoryLimitStore(nil), reminderlimit.NewLines()}

// newBudget returns the budget of a base URL and API key. The store gets a hash of both. A dot at the end of the host's
// name makes no difference.
func newBudget(store LimitStore, attempt time.Duration, base, apiKey string) *reminderlimit.Budget {
	base = dotAtTheEnd.ReplaceAllString(base, "$1$2")
	sum := sha256.Sum256([]byte(base + "\n" + apiKey))
	return reminderlimit.New(process.lines, store, hex.EncodeToString(sum[:]), attempt)
}

var dotAtTheEnd = regexp.MustCompile(`^(https?://[^/:]+)\.(/|:|$)`)

// MemoryLimitStore is a [LimitStore] for one process. It has a mutex and plain values, but no
// goroutine, timer or channel. A key takes memory while one of its slots is held or the key is
// blocked. After that, the key is forgotten when other keys are added. Use a store in a single
// testing/synctest bubble, or only outside of bubbles. The zero value is an empty store with the
// clock time.Now.
type MemoryLimitStore struct {
	now   func() time.Time // nil: time.Now
	mu    sync.Mutex
	keys  map[string]*heldKey
	sweep int // the number of keys at which free keys are forgotten
	slots uint64
}

type heldKey struct {
	slots        map[string]time.Time // when each slot frees
	blockedUntil time.Time
}

// NewMemoryLimitStore returns an empty store. now is its clock; nil means time.Now.
func NewMemoryLimitStore(now func() time.Time) *MemoryLimitStore {
	return &MemoryLimitStore{now: now}
}

// Take implements [LimitStore].
func (s *MemoryLimitStore) Take(_ context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, now := s.key(key)
	if wait := k.frees(limit, now)[0]; wait > 0 {
		return "", wait, nil
	}
	s.slots++
	slot := strconv.FormatUint(s.slots, 36)
	k.slots[slot] = now.Add(hold)
	return slot, 0, nil
}

// Settle implements [LimitStore].
func (s *MemoryLimitStore) Settle(_ context.Context, key, slot string, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, now := s.key(key)
	k.slots[slot] = now.Add(keep)
	return nil
}

// Block implements [LimitStore].
func (s *MemoryLimitStore) Block(_ context.Context, key string, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, now := s.key(key)
	if until := now.Add(d); until.After(k.blockedUntil) {
		k.blockedUntil = until
	}
	return nil
}

// Peek implements [LimitStore].
func (s *MemoryLimitStore) Peek(_ context.Context, key string, limit int) ([]time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, now := s.key(key)
	return k.frees(limit, now), nil
}

// key returns the state of a key, and the time. Each time the number of keys has doubled, a sweep
// forgets the free keys.
func (s *MemoryLimitStore) key(key string) (*heldKey, time.Time) {
	k, now := s.keys[key], time.Now()
	if s.now != nil {
		now = s.now()
	}
	if s.keys == nil {
		s.keys = map[string]*heldKey{}
	}
	if k == nil {
		if len(s.keys) >= s.sweep {
			maps.DeleteFunc(s.keys, func(_ string, k *heldKey) bool { return k.free(now) })
			s.sweep = 2*len(s.keys) + 16
		}
		k = &heldKey{slots: map[string]time.Time{}}
		s.keys[key] = k
	}
	return k, now
}

// free reports whether no slot of a key is held, and forgets its free slots.
func (k *heldKey) free(now time.Time) bool {
	maps.DeleteFunc(k.slots, func(_ string, until time.Time) bool { return !until.After(now) })
	return len(k.slots) == 0 && !k.blockedUntil.After(now)
}

// frees returns the time until each of limit slots can be taken, soonest first.
func (k *heldKey) frees(limit int, now time.Time) []time.Duration {
	waits := make([]time.Duration, limit)
	if k.free(now) {
		return waits
	}
	held := slices.SortedFunc(maps.Values(k.slots), time.Time.Compare)
	for i := range waits {
		at := k.blockedUntil
		if n := i - (limit - len(held)); n >= 0 && held[n].After(at) {
			at = held[n]
		}
		waits[i] = max(at.Sub(now), 0)
	}
	return waits
}
