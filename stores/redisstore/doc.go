// Package redisstore has stores in Redis that several processes can share: [LimitStore] for the
// reminder budget of an API key (see [signforms.Options]), and [ReplayStore] for the webhook events
// that were processed (see [webhook.HandlerOptions]).
//
//	rdb, err := redisstore.NewClient("redis://localhost:6379/0")
//	…
//	client, err := signforms.New(baseURL, apiKey, &signforms.Options{LimitStore: redisstore.NewLimitStore(rdb, "")})
//	handler := webhook.NewHandler(verifier, funcs, &webhook.HandlerOptions{ReplayStore: redisstore.NewReplayStore(rdb, "")})
//
// The stores work with a single Redis, with or without a password and TLS, and with a cluster. They
// do not work with a redis.Ring: when a shard is down, a Ring uses another shard, which does not
// have the slots and events of the first.
//
// If you make your own client, set ContextTimeoutEnabled, as [NewClient] does. Otherwise go-redis
// ignores the deadline of a call's context. The package is tested with Redis 7.0.
//
// The Redis user needs access to the keys with the prefixes, and to the commands EVAL, EVALSHA,
// TIME, GET, SET, DEL, PEXPIREAT, ZADD, ZREM, ZSCORE, ZRANGEBYSCORE, ZREVRANGE and
// ZREMRANGEBYSCORE. For a database other than 0, the user also needs SELECT.
//
// Every operation is one atomic script on one key. All times come from the Redis server's clock. If
// go-redis repeats a command after a lost response, the effect is that of one command. Keys expire
// by themselves. They contain hashes and random numbers, but no API key and no personal data.
//
// # When Redis is unreachable
//
// Without a response from Redis, no reminder is sent and no event is processed. Remind fails with
// signforms.ErrUnavailable and Error.Attempts 0. The webhook handler responds with 503; the service
// does not document whether it then delivers the webhook again.
//
// # When Redis loses writes
//
// If Redis loses writes that it has confirmed, taken slots become free, and processed events can
// run again. Within 15 minutes after each such loss, up to five reminders more than the limit may
// be sent. The service responds to these with 429, which blocks the budget. Redis loses writes in
// these cases:
//
//   - Redis restarts before it has written everything to the disk. Use appendonly yes with
//     appendfsync always. With everysec, a crash of the machine loses up to two seconds.
//   - Redis fails over to a replica that has not received everything, because Redis replicates
//     after it confirms. A replica whose wall clock is ahead by more than a second has the same
//     effect.
//   - Redis evicts keys because its memory is full. Use maxmemory-policy noeviction. The keys have
//     an expiry, so the volatile policies evict them too.
//   - Somebody deletes the keys, or runs FLUSHALL.
//   - The wall clock of Redis is set forward by more than a second. Slots then become free that
//     much earlier.
//
// If the clock is set back by an hour, slots stay held for an hour longer, and Take waits for them.
//
// If you notice a loss, stop sending reminders for 16 minutes.
package redisstore
