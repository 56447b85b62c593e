package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signforms/signforms-go"
)

// LimitStore is a [signforms.LimitStore] that processes share through Redis. It is safe for concurrent use.
type LimitStore struct {
	client redis.Scripter
	prefix string
}

var _ signforms.LimitStore = (*LimitStore)(nil)

// NewLimitStore returns a store in Redis. Processes that share budgets must use the same prefix for keys. An empty
// prefix means "signforms:limit:". client is a *redis.Client or a *redis.ClusterClient, but not a *redis.Ring. The
// caller closes it.
func NewLimitStore(client redis.Scripter, prefix string) *LimitStore {
	return &LimitStore{client, cmp.Or(prefix, "signforms:limit:")}
}

// A budget is one sorted set. Its members are slots and, when the key is blocked, "closed". The
// score of a member is the time until which the member counts, in microseconds of the server's
// clock. Numbers become text with %.0f, because Lua's own conversion loses digits.
const limitHead = `
local function text(n) return string.format('%.0f', n) end
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
`

const limitWaits = limitHead + `
local closed, slots = now, {}
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. text(now), '+inf', 'WITHSCORES')
for i = 1, #members, 2 do
  if members[i] == 'closed' then
    closed = tonumber(members[i + 1])
  else
    slots[#slots + 1] = tonumber(members[i + 1])
  end
end
-- wait returns how long it takes until the i-th of limit slots can be taken, counted from 1.
local function wait(i, limit)
  local before = i - (limit - #slots)
  return math.max(closed, before > 0 and slots[before] or now) - now
end
`

// limitHold makes a member count until a given time. The key expires with its last member; the
// expiry is rounded up.
const limitHold = `
local function hold(member, at)
  redis.call('ZADD', KEYS[1], text(at), member)
  local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  redis.call('PEXPIREAT', KEYS[1], text(math.ceil(tonumber(last[2]) / 1000)))
end
`

var (
	// takeScript has the arguments limit, hold and slot. If the slot is held already, the command
	// is a repeat after a lost response.
	takeScript = redis.NewScript(limitWaits + limitHold + `
if redis.call('ZSCORE', KEYS[1], ARGV[3]) then return 0 end
local w = wait(1, tonumber(ARGV[1]))
if w > 0 then return text(w) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
hold(ARGV[3], now + ARGV[2])
return 0
`)
	// settleScript has the arguments slot and keep.
	settleScript = redis.NewScript(limitHead + limitHold + `
if tonumber(ARGV[2]) > 0 then
  hold(ARGV[1], now + ARGV[2])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return 0
`)
	// blockScript has the argument d.
	blockScript = redis.NewScript(limitHead + limitHold + `
local until_ = now + ARGV[1]
if until_ > tonumber(redis.call('ZSCORE', KEYS[1], 'closed') or now) then hold('closed', until_) end
return 0
`)
	// peekScript has the argument limit.
	peekScript = redis.NewScript(limitWaits + `
local waits = {}
for i = 1, tonumber(ARGV[1]) do waits[i] = text(wait(i, tonumber(ARGV[1]))) end
return waits
`)
)

// Take implements [signforms.LimitStore].
func (s *LimitStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	slot := rand.Text()
	wait, err := takeScript.Run(ctx, s.client, []string{s.prefix + key}, limit, microseconds(hold), slot).Int64()
	if err != nil {
		return "", 0, fmt.Errorf("taking a slot in Redis: %w", err)
	}
	if wait > 0 {
		return "", time.Duration(wait) * time.Microsecond, nil
	}
	return slot, 0, nil
}

// Settle implements [signforms.LimitStore].
func (s *LimitStore) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	if err := settleScript.Run(ctx, s.client, []string{s.prefix + key}, slot, microseconds(keep)).Err(); err != nil {
		return fmt.Errorf("settling a slot in Redis: %w", err)
	}
	return nil
}

// Block implements [signforms.LimitStore].
func (s *LimitStore) Block(ctx context.Context, key string, d time.Duration) error {
	if err := blockScript.Run(ctx, s.client, []string{s.prefix + key}, microseconds(d)).Err(); err != nil {
		return fmt.Errorf("closing a budget in Redis: %w", err)
	}
	return nil
}

// Peek implements [signforms.LimitStore].
func (s *LimitStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	micros, err := peekScript.Run(ctx, s.client, []string{s.prefix + key}, limit).Int64Slice()
	if err != nil {
		return nil, fmt.Errorf("asking Redis for a budget: %w", err)
	}
	waits := make([]time.Duration, len(micros))
	for i, us := range micros {
		waits[i] = time.Duration(us) * time.Microsecond
	}
	return waits, nil
}

// microseconds rounds up, so that a slot is never freed early.
func microseconds(d time.Duration) int64 {
	return int64((d + time.Microsecond - 1) / time.Microsecond)
}
