// Package durable measures durable receiving over HTTP. It compares the queue's handler with a webhook.Handler whose function does
// nothing, and with a handler that only inserts the same bytes into a table, with the same settings of SQLite and the same grouping
// of writes. It also measures how fast the queue processes events.
package durable

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

// Settings say how long to measure, and on which disk.
type Settings struct {
	Rounds int           // how often each receiver is measured; the median counts
	Round  time.Duration // how long a round takes
	Dir    string        // folder for the databases; empty: a temporary one
}

// Report measures everything and prints it as Markdown. It silences the default logger of slog while it runs.
func Report(ctx context.Context, w io.Writer, s Settings) error {
	dir, err := os.MkdirTemp(s.Dir, "signforms-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	s.Dir = dir
	fmt.Fprintf(w, "\nDurable receiving: %d rounds of %v; a sync of 4 KB takes %v.\n\n", s.Rounds, s.Round, syncTime(dir).Round(10*time.Microsecond))
	if err := s.receive(ctx, w); err != nil {
		return err
	}
	return s.process(ctx, w)
}

// syncTime returns the time of one write and sync on the disk of dir. The other figures depend on it.
func syncTime(dir string) time.Duration {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		return 0
	}
	defer os.Remove(f.Name())
	defer f.Close()
	const syncs = 50
	begun := time.Now()
	for i := range int64(syncs) {
		f.WriteAt(make([]byte, 4096), i*4096)
		f.Sync()
	}
	return time.Since(begun) / syncs
}
