package signformstest

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
	codec   *record.Codec
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
		if w.Value == nil {
			continue
		}
		var err error
		if records[i].Data, err = k.codec.Encode(at, w); err != nil {
			return err
		}
	}
	err := k.storage.Save(k.ctx, records)
	if err == nil {
		return nil
	}
	k.logger.Error("saving a change", "error", err, "unknown", errors.Is(err, ErrSaveUnknown))
	if errors.Is(err, ErrSaveUnknown) {
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return err
}

// Blob returns the content of a file.
func (k *keeper) Blob(ctx context.Context, hash string) ([]byte, error) {
	return k.storage.Blob(ctx, hash)
}

// loadBatch is how many records are handed from one goroutine to the next.
const loadBatch = 256

// Load decodes all records, side by side, since that takes longer than reading them.
func (k *keeper) Load(put func(store.Write)) error {
	ctx, cancel := context.WithCancelCause(k.ctx)
	defer cancel(nil)
	raw, decoded := make(chan []Record, 16), make(chan []store.Write, 16)
	var decoders sync.WaitGroup
	var newest sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		decoders.Go(func() {
			for batch := range raw {
				writes, at, err := k.decode(batch)
				if err != nil {
					cancel(err)
					continue // so that nobody waits
				}
				newest.Lock()
				k.at = later(k.at, at)
				newest.Unlock()
				decoded <- writes
			}
		})
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		if err := k.read(ctx, raw); err != nil {
			cancel(err)
		}
		close(raw)
		decoders.Wait()
		close(decoded)
	})
	k.loaded = 0
	var offset time.Duration
	for writes := range decoded {
		for _, w := range writes {
			if service, ok := w.Value.(*store.Service); ok {
				offset = service.Offset
			}
			put(w)
		}
		k.loaded += len(writes)
	}
	reading.Wait()
	err := context.Cause(ctx)
	if err == nil && k.loaded > 0 {
		k.clock.resume(offset, k.at)
	}
	return err
}

// read hands the Storage's records on in batches.
func (k *keeper) read(ctx context.Context, raw chan<- []Record) error {
	var batch []Record
	err := k.storage.Load(ctx, func(r Record) error {
		if batch = append(batch, r); len(batch) == loadBatch {
			raw <- batch
			batch = nil
		}
		return context.Cause(ctx)
	})
	if err == nil && len(batch) > 0 {
		raw <- batch
	}
	return err
}

func (k *keeper) decode(batch []Record) (writes []store.Write, newest time.Time, err error) {
	for _, r := range batch {
		w, at, err := k.codec.Decode(store.Kind(r.Kind), r.ID, r.Data)
		if err != nil {
			return nil, newest, err
		}
		writes, newest = append(writes, w), later(newest, at)
	}
	return writes, newest, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
