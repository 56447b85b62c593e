package service

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// LimitStore says what counts reminders.
type LimitStore struct {
	Where    string                                 // a file or a redis:// URL; empty: $SIGNFORMS_LIMIT_STORE, or else a file of this user
	OpenFile func(path string) signforms.LimitStore // nil: by the machine's clock
}

// Waiting is a LimitStore that says how long a reminder must wait.
type Waiting struct {
	signforms.LimitStore
	MaxWait time.Duration // beyond which nothing waits; negative: there is none
	Say     func(until time.Time)

	said time.Time
}

// Take implements [signforms.LimitStore].
func (w *Waiting) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	slot, wait, err := w.LimitStore.Take(ctx, key, limit, hold)
	until := time.Now().Add(wait)
	if wait > 0 && (w.MaxWait < 0 || wait <= w.MaxWait) && until.After(w.said.Add(time.Second)) { // it is asked again and again
		w.said = until
		w.Say(until)
	}
	return slot, wait, err
}

// Open opens the store. For a sandbox an empty Where means a store in memory: the sandbox's clock can be moved, and
// the sandbox itself refuses reminders beyond the limit. The caller calls closeStore.
func (s LimitStore) Open(sandbox bool) (store signforms.LimitStore, closeStore func() error, err error) {
	nothing := func() error { return nil }
	if s.Where == "" && sandbox {
		return signforms.NewMemoryLimitStore(nil), nothing, nil
	}
	where := s.Where
	if where == "" {
		where = os.Getenv("SIGNFORMS_LIMIT_STORE")
	}
	if strings.HasPrefix(where, "redis://") || strings.HasPrefix(where, "rediss://") {
		redisstore.DiscardClientLogs() // this program reports the errors itself
		client, err := redisstore.NewClient(where)
		if err != nil {
			return nil, nil, cli.UsageError("--limit-store: %w", err)
		}
		return redisstore.NewLimitStore(client, ""), client.Close, nil
	}
	if strings.Contains(where, "://") {
		return nil, nil, cli.UsageError("--limit-store: name a file, or a URL that begins with redis:// or rediss://")
	}
	if where == "" {
		if where = cli.UserFile("reminders.json", "XDG_STATE_HOME", ".local", "state"); where == "" {
			return nil, nil, cli.UsageError("there is no folder for the count of reminders: set XDG_STATE_HOME or --limit-store")
		}
	}
	if info, err := os.Stat(where); err == nil && !info.Mode().IsRegular() {
		return nil, nil, cli.UsageError("--limit-store: %s is not a regular file", where)
	}
	if s.OpenFile != nil {
		return s.OpenFile(where), nothing, nil
	}
	return filestore.NewLimitStore(where), nothing, nil
}
