// Package redisstore has stores in Redis that several processes can share: [LimitStore] for the reminder budget of an
// API key (see [signforms.Options]), and [ReplayStore] for the webhook events that were processed (see
// [webhook.HandlerOptions]).
//
//	rdb, err := redisstore.NewClient("redis://localhost:6379/0")
//	…
//	client, err := signforms.New(baseURL, apiKey, &signforms.Options{LimitStore: redisstore.NewLimitStore(rdb, "")})
//	handler := webhook.NewHandler(verifier, funcs, &webhook.HandlerOptions{ReplayStore: redisstore.NewReplayStore(rdb, "")})
//
// The stores work with a single Redis, with or without a password and TLS, and with a cluster. They do not work with a
// redis.Ring: when a shard is down, a Ring asks another shard, which does not know the slots and events of the first.
//
// Set ContextTimeoutEnabled in a client of your own, as [NewClient] does. Without it go-redis ignores the deadline of a
// call's context. The package is tested with Redis 7.0. The Redis user needs access to the keys below the prefixes, and
// the commands EVAL, EVALSHA, TIME, GET, SET, DEL, PEXPIREAT, ZADD, ZREM, ZSCORE, ZRANGEBYSCORE, ZREVRANGE and
// ZREMRANGEBYSCORE. With another database than 0, it also needs SELECT.
//
// Every operation is one atomic script on one key. All times come from the Redis server's clock. If go-redis repeats a
// command after a lost answer, the effect is that of one command. Keys expire by themselves. They hold hashes and
// random numbers, but no API key and no personal data.
//
// # When Redis is down
//
// Nothing is sent without an answer from Redis. Remind fails with signforms.ErrUnavailable and Error.Attempts 0, and the
// handler answers a webhook with 503. Whether the service then delivers the webhook again is not documented.
//
// # When Redis loses writes
//
// If Redis loses writes that it has confirmed, slots that are taken become free, and events that were done can run
// again. Within 15 minutes of each such loss, up to five reminders more than the limit may be sent. The service answers
// those with 429, which blocks the budget. It happens when
//
//   - Redis restarts before it has written everything to disk: use appendonly yes with appendfsync always; with everysec a
//     crash of the machine loses up to two seconds;
//   - it fails over to a replica that had not received everything yet (Redis replicates after it confirms), or whose wall
//     clock is ahead by more than a second;
//   - it evicts keys because memory is full: use maxmemory-policy noeviction. Keys have an expiry, so the volatile policies
//     evict them too;
//   - someone deletes the keys, or runs FLUSHALL;
//   - its wall clock is set forward by more than a second: slots become free that much earlier.
//
// When the clock is set back by an hour, slots that are held stay held for an hour longer, and Take waits for them.
//
// After a loss that you know of, stop sending reminders for 16 minutes.
package redisstore
