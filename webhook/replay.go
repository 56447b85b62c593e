package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// ReplayStore remembers which events were processed, so that a repeated delivery runs nothing
// twice. Use a separate store for each handler, or a separate key prefix, because the same event
// may go to several webhooks. [MemoryReplayStore] serves a single process.
//
// Methods are called concurrently. A method must return when ctx ends; ctx has a deadline of 5
// seconds. A panic in a method counts as an error. Check an implementation with
// replaystoretest.Run.
type ReplayStore interface {
	// Begin claims key for the caller and returns [ReplayFresh]. Begin is atomic: of several
	// concurrent calls, only one may claim the key. The claim expires after lease, so that a
	// process that died does not block the key. While the claim lasts, Begin returns [ReplayBusy]
	// to other callers. After Done, Begin returns [ReplayDone] until keep is over.
	Begin(ctx context.Context, key ReplayKey, lease time.Duration) (ReplayState, error)

	// Done records that the event was processed, and remembers it for keep. Done must do so even if
	// the claim has expired or another caller holds it.
	Done(ctx context.Context, key ReplayKey, keep time.Duration) error

	// Abort releases the claim, because the event was not processed. The next Begin may claim the
	// key. Abort changes nothing for a key that is done or unknown.
	Abort(ctx context.Context, key ReplayKey) error
}

// ReplayState is the state of a key, as [ReplayStore.Begin] returns it.
type ReplayState int

// The states of a key. The zero value is not a state.
const (
	ReplayFresh ReplayState = iota + 1 // the key was unknown or free; the caller has claimed it
	ReplayBusy                         // another caller has claimed it
	ReplayDone                         // the event was processed before
)

// ReplayKey identifies one event. It is the SHA-256 of the authenticated JSON of the event. If a
// delivery contains equal events, the key of the second and each later one is the SHA-256 of the
// first key and a number.
type ReplayKey [sha256.Size]byte

// String returns the key as 64 hexadecimal digits.
func (k ReplayKey) String() string { return hex.EncodeToString(k[:]) }

// ReplayKeys returns the keys of all events of one delivery, in their order. Pass all events of the
// delivery in one call, because equal events are numbered. An event has the same key in each
// delivery, and in later versions of this package. The key of an event that was not decoded from a
// payload is the key of an empty text. ReplayKeys panics if an event is nil.
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
	scratch []byte               // memory for the bytes of one event
	few     []ReplayKey          // for up to keysLinear events
	many    map[ReplayKey]uint64 // for more events: how often each key occurred
}

// keysLinear is the number of events up to which keys are compared pairwise.
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

// ordinal returns how many earlier events of the delivery had this key.
func (k *replayKeys) ordinal(key ReplayKey) (n uint64) {
	switch {
	case k.many != nil:
		n = k.many[key]
		k.many[key] = n + 1
		return n
	case k.few == nil: // the delivery has one event
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
