// Package replaystoretest checks implementations of [webhook.ReplayStore], as testing/fstest checks
// file systems. [Run] is its only function.
package replaystoretest

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// The durations of [Run], long enough for a real server's clock and short enough to wait for.
const (
	lease = 2 * time.Second
	keep  = 6 * time.Second
)

// Run checks that a [webhook.ReplayStore] behaves as its interface documents. For each subtest,
// open returns an empty store and a function pass. pass lets time pass for the store: it moves the
// clock that the store reads, or sleeps. All subtests together let less than a minute pass.
func Run(t *testing.T, open func(t *testing.T) (store webhook.ReplayStore, pass func(time.Duration))) {
	for _, c := range []struct {
		name string
		test func(t *replayTest)
	}{
		{name: "a claimed key is busy", test: claimedIsBusy},
		{name: "a done key stays done for keep", test: doneIsKept},
		{name: "an aborted key is fresh", test: abortedIsFresh},
		{name: "a lease ends by itself", test: leaseEnds},
		{name: "done counts after the lease", test: doneAfterLease},
		{name: "done counts whoever holds the claim", test: doneDuringAnotherClaim},
		{name: "abort leaves a done key alone", test: abortAfterDone},
		{name: "abort and done of unknown keys", test: unknownKeys},
		{name: "keys are apart", test: keysAreApart},
		{name: "one of many claims wins", test: oneWins},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, pass := open(t)
			c.test(&replayTest{T: t, store: store, pass: pass})
		})
	}
}

type replayTest struct {
	*testing.T
	store webhook.ReplayStore
	pass  func(time.Duration)
}

// key returns the n-th of many different keys.
func key(n int) (k webhook.ReplayKey) {
	binary.BigEndian.PutUint64(k[8:], uint64(n))
	return k
}

func (t *replayTest) begin(n int, want webhook.ReplayState, when string) {
	t.Helper()
	got, err := t.store.Begin(t.Context(), key(n), lease)
	if err != nil || got != want {
		t.Fatalf("Begin %s = %v, %v, want %v", when, name(got), err, name(want))
	}
}

func (t *replayTest) done(n int) {
	t.Helper()
	if err := t.store.Done(t.Context(), key(n), keep); err != nil {
		t.Fatalf("Done = %v", err)
	}
}

func (t *replayTest) abort(n int) {
	t.Helper()
	if err := t.store.Abort(t.Context(), key(n)); err != nil {
		t.Fatalf("Abort = %v", err)
	}
}

func name(s webhook.ReplayState) string {
	switch s {
	case webhook.ReplayFresh:
		return "ReplayFresh"
	case webhook.ReplayBusy:
		return "ReplayBusy"
	case webhook.ReplayDone:
		return "ReplayDone"
	}
	return "no state"
}

func claimedIsBusy(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.begin(1, webhook.ReplayBusy, "of a claimed key")
	t.pass(lease / 2)
	t.begin(1, webhook.ReplayBusy, "half way through the lease")
}

func doneIsKept(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.done(1)
	t.begin(1, webhook.ReplayDone, "after Done")
	t.pass(lease + keep/3)
	t.begin(1, webhook.ReplayDone, "after the lease, before the end of keep")
	t.pass(keep)
	t.begin(1, webhook.ReplayFresh, "after keep")
	t.begin(1, webhook.ReplayBusy, "of a key claimed a second time")
}

func abortedIsFresh(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.abort(1)
	t.begin(1, webhook.ReplayFresh, "after Abort")
	t.done(1)
	t.begin(1, webhook.ReplayDone, "after Abort, Begin and Done")
}

func leaseEnds(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.pass(lease + lease/2)
	t.begin(1, webhook.ReplayFresh, "after the lease")
	t.begin(1, webhook.ReplayBusy, "of the new claim")
	t.pass(lease / 2)
	t.begin(1, webhook.ReplayBusy, "half way through the new claim's lease")
}

func doneAfterLease(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.pass(lease + lease/2)
	t.done(1)
	t.begin(1, webhook.ReplayDone, "after a late Done")
}

func doneDuringAnotherClaim(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.pass(lease + lease/2)
	t.begin(1, webhook.ReplayFresh, "by another caller after the lease")
	t.done(1)
	t.begin(1, webhook.ReplayDone, "after the first caller's Done")
}

func abortAfterDone(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.done(1)
	t.abort(1)
	t.begin(1, webhook.ReplayDone, "after Done and Abort")
}

func unknownKeys(t *replayTest) {
	t.abort(1)
	t.begin(1, webhook.ReplayFresh, "after Abort of an unknown key")
	t.done(2)
	t.begin(2, webhook.ReplayDone, "after Done of an unknown key")
}

func keysAreApart(t *replayTest) {
	t.begin(1, webhook.ReplayFresh, "of a new key")
	t.begin(2, webhook.ReplayFresh, "of another new key")
	t.done(1)
	t.abort(2)
	t.begin(1, webhook.ReplayDone, "of the key that is done")
	t.begin(2, webhook.ReplayFresh, "of the key that was aborted")
}

func oneWins(t *replayTest) {
	const callers, rounds = 16, 20
	for n := range rounds {
		states := make([]webhook.ReplayState, callers)
		var calls sync.WaitGroup
		for i := range callers {
			calls.Go(func() {
				var err error
				if states[i], err = t.store.Begin(t.Context(), key(n), lease); err != nil {
					t.Errorf("Begin = %v", err)
				}
			})
		}
		calls.Wait()
		fresh := 0
		for _, s := range states {
			if s == webhook.ReplayFresh {
				fresh++
			} else if s != webhook.ReplayBusy {
				t.Errorf("Begin beside others = %v, want ReplayFresh or ReplayBusy", name(s))
			}
		}
		if fresh != 1 {
			t.Fatalf("%d of %d concurrent calls of Begin got ReplayFresh, want 1", fresh, callers)
		}
	}
}
