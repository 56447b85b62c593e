// Package redisstore keeps in Redis what several processes must share: the reminder budget of an API key
// ([LimitStore], for [signforms.Options]) and the webhook events that were processed ([ReplayStore], for
// [webhook.HandlerOptions]).
//
//	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
//	client, err := signforms.New(baseURL, apiKey, &signforms.Options{LimitStore: redisstore.NewLimitStore(rdb, "")})
//	handler := webhook.NewHandler(verifier, funcs, &webhook.HandlerOptions{ReplayStore: redisstore.NewReplayStore(rdb, "")})
//
// A single Redis, with or without a password and TLS, and a cluster will do. A redis.Ring will not: when a shard is away it
// asks another, which has no record of the slots that are held or the events that were processed.
//
// Set ContextTimeoutEnabled: without it go-redis waits for its own time-outs, and for its retries, whatever the deadline
// of a call's context. Tested with Redis 7.0. Its user needs the keys below the prefixes and the commands EVAL, EVALSHA, TIME,
// GET, SET, DEL, PEXPIREAT, ZADD, ZREM, ZSCORE, ZRANGEBYSCORE, ZREVRANGE and ZREMRANGEBYSCORE.
//
// Every operation is one script, which Redis carries out as a whole, on one key. All times use the Redis server's clock, so clocks of
// the processes do not matter; a command that go-redis repeats after a lost answer does the same as one. Keys expire by
// themselves. They hold hashes and random numbers: no API key, no personal data.
//
// # When Redis is away
//
// Nothing is sent without an answer from Redis: Remind fails with signforms.ErrUnavailable, Local, and the handler
// answers a webhook with 503. Whether the service then delivers it again is not documented.
//
// # When Redis loses writes
//
// A Redis that loses writes it has confirmed gives slots again that are taken, and lets events run again that were done. For
// the budget that means: up to five reminders more than the limit within 15 minutes of each such loss, which the service
// will answer with 429, and which close the budget then. It happens when
//
//   - Redis restarts without having written everything to disk: use appendonly yes with appendfsync always; with everysec a
//     crash of the machine loses up to two seconds;
//   - it fails over to a replica that had not received everything yet (Redis replicates after it confirms), or whose wall
//     clock is ahead by more than a second;
//   - it is a redis.Ring and a shard is away;
//   - it evicts keys because memory is full: use maxmemory-policy noeviction. Keys have an expiry, so the volatile policies
//     evict them too;
//   - someone deletes the keys, or FLUSHALL;
//   - its wall clock is set forward by more than a second: slots free that much earlier.
//
// After a loss that you know of, stop sending reminders for 16 minutes.
package redisstore
