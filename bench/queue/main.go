// Command queue measures durable receiving over HTTP. It compares the queue's handler with a webhook.Handler whose function does
// nothing, and with a handler that only inserts the same bytes into a table, with the same settings of SQLite and the same grouping
// of writes. It also measures how fast the queue processes events.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"time"
)

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 5, "how often each receiver is measured; the median counts")
	flag.DurationVar(&s.round, "round", 2*time.Second, "how long a round takes")
	flag.StringVar(&s.dir, "dir", "", "folder for the databases, on the disk to measure; empty: a temporary one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type settings struct {
	rounds int
	round  time.Duration
	dir    string
}

func (s settings) run(ctx context.Context) error {
	dir, err := os.MkdirTemp(s.dir, "signforms-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.dir = dir
	fmt.Printf("%s, %s %s/%s, %d processors, %d rounds of %v; a sync of 4 KB takes %v.\n\n", time.Now().Format(time.DateOnly),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.rounds, s.round, syncTime(dir).Round(10*time.Microsecond))
	if err := s.receive(ctx); err != nil {
		return err
	}
	return s.workOff(ctx)
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
