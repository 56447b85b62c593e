package refserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/record"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// keeper saves the writes of a store in a Storage.
type keeper struct {
	storage Storage
	ctx     context.Context // ends with the server
	logger  *slog.Logger
	clock   *clock    // continues from the loaded time
	loaded  int       // number of loaded records
	at      time.Time // time of the newest loaded record
}

// Save converts the writes to records and saves them.
func (k *keeper) Save(at time.Time, writes []store.Write) error {
	records := make([]Record, len(writes))
	for i, w := range writes {
		records[i] = Record{Kind: string(w.Kind), ID: w.ID}
		if w.Value != nil {
			var err error
			if records[i].Data, err = record.Encode(at, w); err != nil {
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

// Load decodes all records, and continues the clock from their time.
func (k *keeper) Load(put func(store.Write)) error {
	var offset time.Duration
	err := k.storage.Load(k.ctx, func(r Record) error {
		w, at, err := record.Decode(store.Kind(r.Kind), r.ID, r.Data)
		if err != nil {
			return err
		}
		if service, ok := w.Value.(*store.Service); ok {
			offset, at = service.Offset, later(at, service.Latest)
		}
		k.loaded, k.at = k.loaded+1, later(k.at, at)
		put(w)
		return nil
	})
	if err == nil && k.loaded > 0 {
		k.clock.resume(offset, k.at)
	}
	return err
}

var errNoService = errors.New("the storage has records, but no record of the service itself: it is damaged, or belongs to another program")

// CheckStorage reads the records of a storage as a start of the server does. It returns the number
// of records, or why a start would refuse them, and calls uses with the hash of each blob that a record has.
func CheckStorage(ctx context.Context, s Storage, uses func(hash string)) (records int, err error) {
	k, own := &keeper{storage: s, ctx: ctx, clock: &clock{}}, false
	err = k.Load(func(w store.Write) {
		for _, f := range store.FilesOf(w.Value) {
			if f.SHA256 != "" {
				uses(f.SHA256)
			}
		}
		service, ok := w.Value.(*store.Service)
		own = own || ok && service.WorkspaceID != ""
	})
	if err == nil && k.loaded > 0 && !own {
		err = errNoService
	}
	return k.loaded, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
