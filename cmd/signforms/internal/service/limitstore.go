package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// LimitStore has the settings for the store that counts reminders, and for how long a reminder may
// wait.
type LimitStore struct {
	OpenFile func(path string) signforms.LimitStore // opens a file; nil: a store with the machine's clock
	Say      func(text string)                      // gets a line if a reminder must wait

	where   string        // a file or a redis:// URL
	maxWait time.Duration // negative: as long as it takes
}

// AddFlags adds --limit-store and --max-wait.
func (s *LimitStore) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.where, "limit-store", "", "`file` or redis:// URL that counts reminders (default "+
		"$SIGNFORMS_LIMIT_STORE, or else a file of this user)")
	f.DurationVar(&s.maxWait, "max-wait", -1, "how long one reminder may wait for the limit (default as long as it "+
		"takes)")
	f.Lookup("max-wait").DefValue = "0s" // the help leaves out this default
}

// waiting is a store that prints how long a reminder must wait.
type waiting struct {
	signforms.LimitStore
	of   *LimitStore
	said time.Time
}

// Take implements [signforms.LimitStore].
func (w *waiting) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	slot, wait, err := w.LimitStore.Take(ctx, key, limit, hold)
	until, allowed := time.Now().Add(wait), w.of.maxWait
	if wait > 0 && (allowed < 0 || wait <= allowed) && until.After(w.said.Add(time.Second)) { // Take is called repeatedly
		w.said = until
		w.of.Say("the limit of reminders is reached: waiting until " + until.Format(time.TimeOnly))
	}
	return slot, wait, err
}

// Open opens the store and returns the options of a client that uses it. The caller calls closeStore.
func (s *LimitStore) Open(sandbox bool) (o signforms.Options, closeStore func() error, err error) {
	store, closeStore, err := s.open(sandbox)
	return signforms.Options{LimitStore: &waiting{LimitStore: store, of: s}, ReminderMaxWait: s.maxWait}, closeStore, err
}

// open opens the store. For a sandbox the default is a store in memory, because the sandbox's clock
// can be moved, and the sandbox itself refuses reminders beyond the limit.
func (s *LimitStore) open(sandbox bool) (store signforms.LimitStore, closeStore func() error, err error) {
	nothing := func() error { return nil }
	if s.where == "" && sandbox {
		return signforms.NewMemoryLimitStore(nil), nothing, nil
	}
	where := s.where
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
		if err := os.MkdirAll(filepath.Dir(where), 0o700); err != nil {
			return nil, nil, cli.UsageError("the count of reminders cannot be kept: %w; set XDG_STATE_HOME or --limit-store", err)
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
