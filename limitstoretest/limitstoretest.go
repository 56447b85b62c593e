// Package limitstoretest checks implementations of [signforms.LimitStore], as testing/fstest checks
// file systems. [Run] is its only function.
package limitstoretest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
)

// The durations of [Run], long enough for the clock of a real server and short enough to wait for.
const (
	storeLimit = 3
	holdFor    = 4 * time.Second
	brief      = time.Second
	precision  = 2 * time.Millisecond // a store may round to this
)

// Run checks that a [signforms.LimitStore] behaves as its interface documents. For each subtest,
// open returns an empty store and a function pass. pass lets at least the given time pass for the
// store: it moves the clock that the store reads, or sleeps. All subtests together let less than a
// minute pass.
func Run(t *testing.T, open func(t *testing.T) (store signforms.LimitStore, pass func(time.Duration))) {
	for _, c := range []struct {
		name string
		test func(t *limitTest)
	}{
		{"as many slots as the limit", asManyAsTheLimit},
		{"a slot frees after its hold", freesAfterHold},
		{"a slot settled with 0 is given back", givenBack},
		{"settling shortens", settlingShortens},
		{"settling lengthens", settlingLengthens},
		{"a slot no longer held is held again", heldAgain},
		{"settling twice is settling once", settledTwice},
		{"a blocked key gives no slot", blockedKey},
		{"blocking never unblocks", blockingNeverUnblocks},
		{"blocking and holding, whichever lasts longer", blockedAndHeld},
		{"peeking tells when each slot frees", peeking},
		{"keys are apart", keysApart},
		{"one of many takes the last slot", oneTakesTheLast},
		{"any order of calls", anyOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, pass := open(t)
			c.test(&limitTest{T: t, store: store, pass: pass})
		})
	}
}

type limitTest struct {
	*testing.T
	store signforms.LimitStore
	pass  func(time.Duration)
}

// take takes a slot of key, which must be free.
func (t *limitTest) take(key string, hold time.Duration) string {
	t.Helper()
	slot, wait, err := t.store.Take(t.Context(), key, storeLimit, hold)
	if err != nil || wait != 0 || slot == "" {
		t.Fatalf("Take of a free slot = %q, %v, %v, want a slot, 0, nil", slot, wait, err)
	}
	return slot
}

// full takes every slot of key and returns them.
func (t *limitTest) full(key string, hold time.Duration) (slots []string) {
	t.Helper()
	for range storeLimit {
		slots = append(slots, t.take(key, hold))
	}
	return slots
}

// refused checks that key gives no slot for the rest of d, counted from began.
func (t *limitTest) refused(key string, d time.Duration, began time.Time) {
	t.Helper()
	slot, wait, err := t.store.Take(t.Context(), key, storeLimit, holdFor)
	if err != nil || slot != "" {
		t.Fatalf("Take = %q, %v, %v, want no slot, a wait, nil", slot, wait, err)
	}
	t.about("wait of Take", wait, d, began)
}

// about checks got, which must be the rest of a duration that was d at some time since began.
func (t *limitTest) about(what string, got, d time.Duration, began time.Time) {
	t.Helper()
	if least := max(d-time.Since(began)-precision, 1); got < least || got > d+precision {
		t.Fatalf("%s = %v, want %v to %v", what, got, least, d+precision)
	}
}

func (t *limitTest) settle(key, slot string, keep time.Duration) {
	t.Helper()
	if err := t.store.Settle(t.Context(), key, slot, keep); err != nil {
		t.Fatalf("Settle = %v", err)
	}
}

func (t *limitTest) block(key string, d time.Duration) {
	t.Helper()
	if err := t.store.Block(t.Context(), key, d); err != nil {
		t.Fatalf("Block = %v", err)
	}
}

// free checks how many slots Peek reports as free now, and checks the rules for every result of
// Peek.
func (t *limitTest) free(key string, want int) []time.Duration {
	t.Helper()
	waits, err := t.store.Peek(t.Context(), key, storeLimit)
	if err != nil || len(waits) != storeLimit || !slices.IsSorted(waits) || waits[0] < 0 {
		t.Fatalf("Peek = %v, %v, want %d durations in ascending order, nil", waits, err, storeLimit)
	}
	n := 0
	for n < len(waits) && waits[n] == 0 {
		n++
	}
	if n != want {
		t.Fatalf("Peek = %v: %d free slots, want %d", waits, n, want)
	}
	return waits
}

func asManyAsTheLimit(t *limitTest) {
	began := time.Now()
	slots := t.full("k", holdFor)
	t.refused("k", holdFor, began)
	slices.Sort(slots)
	if n := len(slices.Compact(slots)); n != storeLimit {
		t.Fatalf("%d different slots, want %d", n, storeLimit)
	}
}

func freesAfterHold(t *limitTest) {
	began := time.Now()
	t.take("k", 2*holdFor)
	t.take("k", holdFor)
	t.take("k", 2*holdFor)
	t.refused("k", holdFor, began)
	t.pass(brief)
	t.free("k", 0)
	t.pass(holdFor - brief)
	t.free("k", 1)
	t.take("k", holdFor)
	t.free("k", 0)
}

func givenBack(t *limitTest) {
	slots := t.full("k", holdFor)
	t.settle("k", slots[1], 0)
	t.free("k", 1)
	t.take("k", holdFor)
	t.free("k", 0)
}

func settlingShortens(t *limitTest) {
	slots := t.full("k", 10*holdFor)
	began := time.Now()
	t.settle("k", slots[2], brief)
	t.refused("k", brief, began)
	t.pass(brief)
	t.free("k", 1)
}

func settlingLengthens(t *limitTest) {
	slots := t.full("k", holdFor)
	for _, slot := range slots {
		t.settle("k", slot, 3*holdFor)
	}
	t.pass(holdFor)
	t.free("k", 0)
}

func heldAgain(t *limitTest) {
	slots := t.full("k", brief)
	t.pass(brief)
	t.free("k", storeLimit)
	t.settle("k", slots[0], 0)
	t.free("k", storeLimit)
	t.settle("k", slots[0], holdFor)
	t.free("k", storeLimit-1)
	again := []string{t.take("k", holdFor), t.take("k", holdFor)}
	began := time.Now()
	t.settle("k", slots[1], 2*holdFor) // one slot more than the limit is held now
	t.free("k", 0)
	t.settle("k", again[0], 0)
	t.free("k", 0)
	t.settle("k", slots[0], 0)
	t.free("k", 1)
	t.settle("k", again[1], 0)
	t.about("last of Peek", t.free("k", 2)[storeLimit-1], 2*holdFor, began)
}

func settledTwice(t *limitTest) {
	slot := t.take("k", holdFor)
	for range 2 {
		t.settle("k", slot, holdFor)
		t.free("k", storeLimit-1)
	}
	for range 2 {
		t.settle("k", slot, 0)
		t.free("k", storeLimit)
	}
}

func blockedKey(t *limitTest) {
	began := time.Now()
	t.block("k", holdFor)
	t.refused("k", holdFor, began)
	for _, wait := range t.free("k", 0) {
		t.about("Peek of a blocked key", wait, holdFor, began)
	}
	t.pass(brief)
	t.free("k", 0)
	t.pass(holdFor - brief)
	t.free("k", storeLimit)
	t.take("k", holdFor)
}

func blockingNeverUnblocks(t *limitTest) {
	began := time.Now()
	t.block("k", 2*holdFor)
	t.block("k", brief)
	t.block("k", 0)
	t.refused("k", 2*holdFor, began)
	t.settle("k", "unknown", 0)
	t.refused("k", 2*holdFor, began)
	t.block("k", 3*holdFor)
	t.refused("k", 3*holdFor, began)
}

func blockedAndHeld(t *limitTest) {
	began := time.Now()
	slots := t.full("k", 2*holdFor)
	t.block("k", holdFor)
	t.refused("k", 2*holdFor, began)
	t.settle("k", slots[0], 0)
	t.refused("k", holdFor, began)
	waits := t.free("k", 0)
	t.about("first of Peek", waits[0], holdFor, began)
	t.about("last of Peek", waits[storeLimit-1], 2*holdFor, began)
}

func peeking(t *limitTest) {
	t.free("k", storeLimit)
	began := time.Now()
	t.take("k", 3*holdFor)
	t.free("k", storeLimit-1)
	t.free("k", storeLimit-1) // Peek takes no slot
	t.take("k", holdFor)
	t.take("k", 2*holdFor)
	for i, wait := range t.free("k", 0) {
		t.about(fmt.Sprintf("Peek[%d]", i), wait, time.Duration(i+1)*holdFor, began)
	}
}

func keysApart(t *limitTest) {
	slots := t.full("a", holdFor)
	t.block("b", holdFor)
	t.free("c", storeLimit)
	t.take("c", holdFor)
	t.settle("c", slots[0], 0)
	t.free("a", 0)
	t.free("b", 0)
	t.free("c", storeLimit-1)
}

func oneTakesTheLast(t *limitTest) {
	const callers, rounds = 16, 20
	for round := range rounds {
		key := fmt.Sprint("k", round)
		slots := make([]string, callers)
		var calls sync.WaitGroup
		for i := range callers {
			calls.Go(func() {
				var err error
				if slots[i], _, err = t.store.Take(t.Context(), key, storeLimit, holdFor); err != nil {
					t.Errorf("Take = %v", err)
				}
			})
		}
		calls.Wait()
		slices.Sort(slots)
		if taken := slices.Compact(slots); len(taken) != storeLimit+1 {
			t.Fatalf("%d concurrent calls of Take got the slots %q, want %d different ones and none", callers, taken, storeLimit)
		}
	}
}

// anyOrder makes random calls and compares the store with a model. The time that passes is too
// short to matter.
func anyOrder(t *limitTest) {
	const long = time.Hour
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	held, known := map[string]bool{}, []string{}
	for range 300 {
		switch n := rng.IntN(10); {
		case n < 5 && len(held) < storeLimit:
			slot := t.take("k", long)
			held[slot], known = true, append(known, slot)
		case n < 5:
			t.refused("k", long, time.Now().Add(-long)) // accepts any wait up to long
		case len(known) == 0:
		case n < 8:
			slot := known[rng.IntN(len(known))]
			t.settle("k", slot, 0)
			delete(held, slot)
		default:
			slot := known[rng.IntN(len(known))]
			t.settle("k", slot, long)
			held[slot] = true
		}
		t.free("k", max(storeLimit-len(held), 0))
	}
}
