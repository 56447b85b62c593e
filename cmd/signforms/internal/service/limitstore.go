package service

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// openLimitStore opens the store of the reminder limit: a file, or Redis for a redis:// or rediss:// URL. An empty where means
// $SIGNFORMS_LIMIT_STORE, or else a file of this user. For a sandbox an empty where means a store in memory: the sandbox's clock
// can be moved, and the sandbox itself refuses reminders beyond the limit. openFile may be nil. The caller calls closeStore.
func openLimitStore(where string, sandbox bool, openFile func(path string) signforms.LimitStore) (store signforms.LimitStore, closeStore func() error, err error) {
	if where == "" && sandbox {
		return signforms.NewMemoryLimitStore(nil), func() error { return nil }, nil
	}
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
		if where, err = stateFile("reminders.json"); err != nil {
			return nil, nil, err
		}
	}
	if info, err := os.Stat(where); err == nil && !info.Mode().IsRegular() {
		return nil, nil, cli.UsageError("--limit-store: %s is not a regular file", where)
	}
	if openFile != nil {
		return openFile(where), func() error { return nil }, nil
	}
	return filestore.NewLimitStore(where), func() error { return nil }, nil
}

// reminderEvery is the time after a reminder until its slot is free again: the service's 15 minutes and the SDK's margin.
const reminderEvery = 15*time.Minute + time.Second

// measuredStore keeps the waits that its last Peek returned, from which a batch estimates how long it takes.
type measuredStore struct {
	signforms.LimitStore
	mu    sync.Mutex
	waits []time.Duration
}

// Peek implements [signforms.LimitStore].
func (s *measuredStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	waits, err := s.LimitStore.Peek(ctx, key, limit)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = waits
	return waits, err
}

// takes returns how many of n more reminders the client can send if none waits for longer than maxWait, and how long that takes. A
// maxWait of less than 0 bounds nothing. Where the store does not answer nothing is known to wait: a reminder will report the error.
func (s *measuredStore) takes(ctx context.Context, client *signforms.Client, n int, maxWait time.Duration) (through int, d time.Duration) {
	_, err := client.Documents.ReminderBudget(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.waits) == 0 {
		return n, 0
	}
	for ; through < n; through++ {
		next := s.waits[through%len(s.waits)] + time.Duration(through/len(s.waits))*reminderEvery
		if maxWait >= 0 && next-d > maxWait {
			break
		}
		d = next
	}
	return through, d
}
