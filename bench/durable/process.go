package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

const (
	workEvents    = 3000
	workDocuments = 100
	failEvery     = 20 // one of so many events fails at its first try
)

// process measures how long it takes to process 3,000 events on 100 documents. Each takes 1 ms of work. 5 % fail once and are tried
// again after 300 ms. Meanwhile the other events of their document wait.
func (s Settings) process(ctx context.Context, w io.Writer) error {
	var times []time.Duration
	for range s.Rounds {
		took, err := processOnce(ctx, tempDir(s.Dir))
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	m := median(times)
	fmt.Fprintf(w, "\n%d events on %d documents, 1 ms of work each, %d %% fail once and wait 300 ms, 16 workers: %.1f s, %.0f events/s.\n",
		workEvents, workDocuments, 100/failEvery, m.Seconds(), workEvents/m.Seconds())
	return nil
}

func processOnce(ctx context.Context, dir string) (time.Duration, error) {
	q, err := queue.Open(filepath.Join(dir, "queue.db"), &queue.Options{Workers: 16, Retries: []time.Duration{300 * time.Millisecond}})
	if err != nil {
		return 0, err
	}
	defer q.Close()
	var events []webhook.Event
	for n := range workEvents {
		e := &webhook.SignatureCompleted{Document: webhook.Document{DocumentID: fmt.Sprint(n % workDocuments), DocumentName: fmt.Sprint(n)}}
		events = append(events, e)
	}
	decoded, err := webhook.Parse(webhooktest.Payload(events...))
	if err != nil {
		return 0, err
	}
	if err := q.Store(ctx, decoded); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var done, calls atomic.Int64
	begun := time.Now()
	err = q.Run(ctx, webhook.Funcs{Other: func(ctx context.Context, e webhook.Event) error {
		time.Sleep(time.Millisecond)
		if entry, _ := queue.EntryFrom(ctx); entry.Attempts == 0 && calls.Add(1)%failEvery == 0 {
			return errors.New("planned")
		}
		if done.Add(1) == workEvents {
			cancel()
		}
		return nil
	}})
	if done.Load() < workEvents {
		return 0, errors.Join(errors.New("not processed within a minute"), err)
	}
	return time.Since(begun), err
}
