package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// ReplayStore remembers which events were processed, so that a repeated delivery runs nothing twice. Use one store per
// handler, or give each handler's keys a prefix: the same event may go to several webhooks. [MemoryReplayStore] serves
// a single process.
//
// Methods are called concurrently. They must return when ctx ends; it has a deadline of 5 seconds. Check an
// implementation with replaystoretest.Run. A panic in one of them counts as an error.
type ReplayStore interface {
	// Begin claims key for the caller and returns [ReplayFresh]. It is atomic: of several calls at the same time only one
	// may claim. The claim expires after lease, so that a process that died does not block it. Until then Begin
	// returns [ReplayBusy] to others; after Done, until keep is over, [ReplayDone].
	Begin(ctx context.Context, key ReplayKey, lease time.Duration) (ReplayState, error)

	// Done records that the event was processed, and remembers it for keep. It does so even when the claim has expired or
	// someone else holds it.
	Done(ctx context.Context, key ReplayKey, keep time.Duration) error

	// Abort releases the claim: the event was not processed, and the next Begin may claim it. It changes nothing for a key
	// that is done or unknown.
	Abort(ctx context.Context, key ReplayKey) error
}

// ReplayState is what [ReplayStore.Begin] says about a key.
type ReplayState int

// The states of a key. The zero value is none of them.
const (
	ReplayFresh ReplayState = iota + 1 // the key was unknown or free; the caller has claimed it
	ReplayBusy                         // someone else has claimed it
	ReplayDone                         // it was processed before
)

// ReplayKey identifies one event. It is the SHA-256 of the event's JSON as it was authenticated. When a delivery
// contains equal events, the key of the second and later ones is the SHA-256 of that and their number.
type ReplayKey [sha256.Size]byte

// String returns the key as 64 hexadecimal digits.
func (k ReplayKey) String() string { return hex.EncodeToString(k[:]) }

// ReplayKeys returns the keys of all events of one delivery, in their order. Give it all of them at once, because equal
// events are numbered. An event has the same key in each delivery, and in later versions of this package. An event that
// was not decoded from a payload has the key of an empty text. ReplayKeys panics when an event is nil.
func ReplayKeys(events []Event) []ReplayKey {
	keys := newReplayKeys(len(events), nil)
	all := make([]ReplayKey, len(events))
	for i, ev := range events {
		if isNil(ev) {
			panic(fmt.Sprintf("webhook: ReplayKeys: event %d is nil", i))
		}
		all[i] = keys.next(ev.source())
	}
	return all
}

// replayKeys makes the keys of one delivery's events, in order.
type replayKeys struct {
	scratch []byte               // memory for an event as bytes
	few     []ReplayKey          // for up to keysLinear events
	many    map[ReplayKey]uint64 // for more: how often each key occurred
}

// keysLinear bounds the events whose keys are compared pairwise.
const keysLinear = 32

func newReplayKeys(events int, scratch []byte) replayKeys {
	k := replayKeys{scratch: scratch}
	switch {
	case events < 2:
	case events <= keysLinear:
		k.few = make([]ReplayKey, 0, events)
	default:
		k.many = make(map[ReplayKey]uint64, events)
	}
	return k
}

func (k *replayKeys) next(source string) ReplayKey {
	k.scratch = append(k.scratch[:0], source...)
	key := ReplayKey(sha256.Sum256(k.scratch))
	if ordinal := k.ordinal(key); ordinal > 0 {
		return sha256.Sum256(binary.BigEndian.AppendUint64(key[:], ordinal))
	}
	return key
}

// ordinal returns how many events of the delivery had this key before.
func (k *replayKeys) ordinal(key ReplayKey) (n uint64) {
	switch {
	case k.many != nil:
		n = k.many[key]
		k.many[key] = n + 1
		return n
	case k.few == nil: // the only event
		return 0
	}
	for i := range k.few {
		if k.few[i] == key {
			n++
		}
	}
	k.few = append(k.few, key)
	return n
}
