package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// ReplayStore remembers which events were processed, so that a delivery that arrives twice runs nothing twice. The
// service sends no id of an event or a delivery; events are known by a hash of their content.
//
// Use one store per handler, or give each handler's keys a prefix of their own: the same event may go to several
// webhooks. Methods are called concurrently. They must end with ctx, which has a deadline of 5 seconds. An
// implementation is checked by webhooktest.TestReplayStore. [MemoryReplayStore] serves a single process.
type ReplayStore interface {
	// Begin claims key for the caller and returns [ReplayFresh], in one step: of several calls at once only one may.
	// The claim ends by itself after lease, so that a process that died does not hold it for ever. While the claim
	// lasts, Begin returns [ReplayBusy]; after Done, until keep is over, [ReplayDone].
	Begin(ctx context.Context, key ReplayKey, lease time.Duration) (ReplayState, error)

	// Done records that the event was processed, and remembers it for keep. It does so even when the claim has ended
	// meanwhile, or someone else holds it.
	Done(ctx context.Context, key ReplayKey, keep time.Duration) error

	// Abort ends the claim: the event was not processed, and the next Begin gets it. It changes nothing for a key that
	// is done or unknown.
	Abort(ctx context.Context, key ReplayKey) error
}

// ReplayState is what [ReplayStore.Begin] says about a key.
type ReplayState int

// The states of a key. The zero value is none of them.
const (
	ReplayFresh ReplayState = iota + 1 // the key was unknown; the caller has claimed it now
	ReplayBusy                         // someone else has claimed it and is not done
	ReplayDone                         // it was processed before
)

// ReplayKey identifies one event: the SHA-256 of its JSON as it was authenticated and, for the second and later of
// equal elements of one delivery, of that and their number.
type ReplayKey [sha256.Size]byte

// String returns the key as 64 hexadecimal digits.
func (k ReplayKey) String() string { return hex.EncodeToString(k[:]) }

// ReplayKeys returns the key of each event of one delivery, in their order. Give it all events of the delivery at once:
// equal elements are numbered, so that each counts for itself. The keys of an event are the same in each delivery, in
// later versions of this package too. An event that was not decoded from a payload has the key of an empty text.
func ReplayKeys(events []Event) []ReplayKey {
	keys := newReplayKeys(len(events))
	all := make([]ReplayKey, len(events))
	for i, ev := range events {
		all[i] = keys.next(ev.source())
	}
	return all
}

// replayKeys makes the keys of one delivery's events, in order.
type replayKeys struct {
	few  []ReplayKey          // of up to keysLinear events
	many map[ReplayKey]uint64 // of more: how often each occurred
}

// keysLinear is up to how many events each one's key is compared with each.
const keysLinear = 32

func newReplayKeys(events int) replayKeys {
	switch {
	case events < 2:
		return replayKeys{}
	case events <= keysLinear:
		return replayKeys{few: make([]ReplayKey, 0, events)}
	}
	return replayKeys{many: make(map[ReplayKey]uint64, events)}
}

func (k *replayKeys) next(source string) ReplayKey {
	key := ReplayKey(sha256.Sum256(bytesOf(source)))
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
