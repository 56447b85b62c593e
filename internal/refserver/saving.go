package refserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/record"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// keeper keeps what a store writes in a Storage.
type keeper struct {
	storage Storage
	codec   record.Codec
	ctx     context.Context // ends with the server
	logger  *slog.Logger
	clock   *clock    // goes on from what is loaded
	loaded  int       // records
	at      time.Time // of the newest of them
}

// Save makes records of the writes and saves them.
func (k *keeper) Save(at time.Time, writes []store.Write) error {
	records := make([]Record, len(writes))
	for i, w := range writes {
		records[i] = Record{Kind: string(w.Kind), ID: w.ID}
		if w.Value != nil {
			var err error
			if records[i].Data, err = k.codec.Encode(at, w); err != nil {
				return fmt.Errorf("%w: %w", ErrRolledBack, err)
			}
		}
	}
	err := k.storage.Save(k.ctx, records)
	if err != nil {
		k.logger.Error("saving a change", "error", err, "stops", !errors.Is(err, ErrRolledBack))
	}
	return err
}

// Blob returns the content of a file.
func (k *keeper) Blob(ctx context.Context, hash string) ([]byte, error) {
	return k.storage.Blob(ctx, hash)
}

// loadBatch is how many records are handed from one goroutine to the next.
const loadBatch = 256

// Load decodes all records, side by side, since that takes longer than reading them, and lets the clock go on from them.
func (k *keeper) Load(put func(store.Write)) error {
	ctx, cancel := context.WithCancelCause(k.ctx)
	defer cancel(nil)
	var offset time.Duration
	for batch := range k.decoded(ctx, cancel) {
		for _, w := range batch.writes {
			if service, ok := w.Value.(*store.Service); ok {
				offset, k.at = service.Offset, later(k.at, service.Latest)
			}
			put(w)
		}
		k.loaded, k.at = k.loaded+len(batch.writes), later(k.at, batch.newest)
	}
	err := context.Cause(ctx)
	if err == nil && k.loaded > 0 {
		k.clock.resume(offset, k.at)
	}
	return err
}

// batch is some records, decoded.
type batch struct {
	writes []store.Write
	newest time.Time
}

// decoded reads and decodes the records. The channel is closed when that is done, or was cancelled after an error.
func (k *keeper) decoded(ctx context.Context, cancel context.CancelCauseFunc) <-chan batch {
	raw, out := make(chan []Record, 16), make(chan batch, 16)
	go func() {
		defer close(out)
		var decoders sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			decoders.Go(func() {
				for records := range raw {
					b, err := k.decode(records)
					if err != nil {
						cancel(err) // and goes on, so that nobody waits
					}
					out <- b
				}
			})
		}
		if err := k.read(ctx, raw); err != nil {
			cancel(err)
		}
		close(raw)
		decoders.Wait()
	}()
	return out
}

// read hands the Storage's records on in batches.
func (k *keeper) read(ctx context.Context, raw chan<- []Record) error {
	var records []Record
	err := k.storage.Load(ctx, func(r Record) error {
		if records = append(records, r); len(records) == loadBatch {
			raw <- records
			records = nil
		}
		return context.Cause(ctx)
	})
	if err == nil && len(records) > 0 {
		raw <- records
	}
	return err
}

func (k *keeper) decode(records []Record) (b batch, err error) {
	for _, r := range records {
		w, at, err := k.codec.Decode(store.Kind(r.Kind), r.ID, r.Data)
		if err != nil {
			return b, err
		}
		b.writes, b.newest = append(b.writes, w), later(b.newest, at)
	}
	return b, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
