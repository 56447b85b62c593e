package redisstore

import (
	"errors"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// NewClient returns a client for the Redis at url, such as redis://user:password@localhost:6379/0,
// or rediss:// for TLS. It sets ContextTimeoutEnabled, which the stores need. The client connects
// when it is first used. The caller closes it. The error of NewClient does not contain the URL,
// because the URL may contain a password.
func NewClient(url string) (*redis.Client, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("redisstore: the URL cannot be read; it should look like redis://localhost:6379/0")
	}
	o.ContextTimeoutEnabled = true
	return redis.NewClient(o), nil
}

// DiscardClientLogs stops all Redis clients of this process from logging to standard error. It is for programs that
// report the stores' errors themselves.
func DiscardClientLogs() { logging.Disable() }
