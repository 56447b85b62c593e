package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signforms/signforms-go/webhook"
)

// ReplayStore is a [webhook.ReplayStore] that processes share through Redis. It is safe for concurrent use.
type ReplayStore struct {
	client redis.Scripter
	prefix string
}

var _ webhook.ReplayStore = (*ReplayStore)(nil)

// NewReplayStore returns a store in Redis. Processes that receive for the same webhook must use the
// same prefix for keys, and different webhooks must use different prefixes. An empty prefix means
// "signforms:replay:". client is a *redis.Client or a *redis.ClusterClient, but not a *redis.Ring.
// The caller closes it. The store uses about 200 bytes for an event until it forgets the event.
func NewReplayStore(client redis.Scripter, prefix string) *ReplayStore {
	return &ReplayStore{client, cmp.Or(prefix, "signforms:replay:")}
}

// An event is stored as one string: "done", or the random text of the call that claimed the event.
var (
	// beginScript has the arguments claim and lease. If the claim exists already, the command is a
	// repeat after a lost response.
	beginScript = redis.NewScript(`
local holder = redis.call('GET', KEYS[1])
if holder == 'done' then return 3 end
if holder and holder ~= ARGV[1] then return 2 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`)
	// doneScript has the argument keep.
	doneScript = redis.NewScript(`
redis.call('SET', KEYS[1], 'done', 'PX', ARGV[1])
return 0
`)
	abortScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= 'done' then redis.call('DEL', KEYS[1]) end
return 0
`)
)

// Begin implements [webhook.ReplayStore].
func (s *ReplayStore) Begin(ctx context.Context, key webhook.ReplayKey, lease time.Duration) (webhook.ReplayState, error) {
	state, err := beginScript.Run(ctx, s.client, s.keys(key), rand.Text(), milliseconds(lease)).Int()
	if err != nil {
		return 0, fmt.Errorf("claiming an event in Redis: %w", err)
	}
	return []webhook.ReplayState{1: webhook.ReplayFresh, 2: webhook.ReplayBusy, 3: webhook.ReplayDone}[state], nil
}

// Done implements [webhook.ReplayStore].
func (s *ReplayStore) Done(ctx context.Context, key webhook.ReplayKey, keep time.Duration) error {
	if err := doneScript.Run(ctx, s.client, s.keys(key), milliseconds(keep)).Err(); err != nil {
		return fmt.Errorf("recording an event in Redis: %w", err)
	}
	return nil
}

// Abort implements [webhook.ReplayStore].
func (s *ReplayStore) Abort(ctx context.Context, key webhook.ReplayKey) error {
	if err := abortScript.Run(ctx, s.client, s.keys(key)).Err(); err != nil {
		return fmt.Errorf("ending a claim in Redis: %w", err)
	}
	return nil
}

func (s *ReplayStore) keys(key webhook.ReplayKey) []string { return []string{s.prefix + key.String()} }

// milliseconds rounds up, to at least 1, because Redis requires a positive time.
func milliseconds(d time.Duration) int64 {
	return max(int64((d+time.Millisecond-1)/time.Millisecond), 1)
}
