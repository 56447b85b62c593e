package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Kind names what a record is, wherever it is kept.
type Kind string

// The kinds of records.
const (
	KindService  Kind = "service"
	KindKey      Kind = "api_key"
	KindTemplate Kind = "template"
	KindForm     Kind = "form"
	KindFormLink Kind = "form_link"
	KindDocument Kind = "document"
	KindResponse Kind = "response"
	KindWebhook  Kind = "webhook"
	KindDelivery Kind = "delivery"
	KindAudit    Kind = "audit"
	KindMessage  Kind = "message"
	KindLimit    Kind = "reminder_limit"
	KindBlob     Kind = "blob"
)

// Write is one record as a transaction leaves it.
type Write struct {
	Kind  Kind
	ID    string
	Value any // as Put takes it; nil: the record is gone
}

// About returns the ids of the records that the write is about: its own, or that of each entry that it holds.
func (w Write) About() (ids []string) {
	switch v := w.Value.(type) {
	case []*signing.AuditEntry:
		for _, e := range v {
			ids = append(ids, e.RecordID)
		}
	case []*signing.Message:
		for _, m := range v {
			ids = append(ids, m.DocumentID)
		}
	default:
		ids = []string{w.ID}
	}
	return ids
}

// Keeper makes what a [Store] holds durable.
type Keeper interface {
	// Save keeps all of the writes or none. It is called under the store's lock, so nobody sees the writes before it has
	// returned. An error that matches [ErrRolledBack] means that nothing was kept. After any other, nobody knows.
	Save(at time.Time, writes []Write) error

	// Load calls put with every record that was kept but blobs, in any order.
	Load(put func(Write)) error

	// Blob returns the content of a blob.
	Blob(ctx context.Context, hash string) ([]byte, error)
}

// ErrRolledBack is what the error of a Save matches when nothing was kept. The next one may succeed.
var ErrRolledBack = errors.New("the change was rolled back")

// Unavailable is the error of a transaction that was undone because its writes could not be kept or no save was tried.
type Unavailable struct{ Err error }

func (e *Unavailable) Error() string {
	if e.Err == ErrClosed || errors.Is(e.Err, ErrStopped) {
		return e.Err.Error() // no save was tried
	}
	return "the change could not be saved: " + e.Err.Error()
}

func (e *Unavailable) Unwrap() error { return e.Err }

// ErrUnavailable is matched by every [Unavailable] but that of a closed store.
var ErrUnavailable = errors.New("the storage failed")

// Is reports whether target is [ErrUnavailable] and the store is not closed.
func (e *Unavailable) Is(target error) bool { return target == ErrUnavailable && e.Err != ErrClosed }

// ErrClosed is what the error of a transaction matches after [Store.Close].
var ErrClosed = errors.New("the server is closed")

// ErrStopped is what the error of a transaction matches after a save of which nobody knows whether it was carried out.
// Only what is kept tells, so the store takes no change until it was made anew.
var ErrStopped = errors.New("the service has stopped: nobody knows whether its last change was saved; start it again")

// keeping is the part of a Store that makes it durable.
type keeping struct {
	keeper  Keeper        // nil: nothing is kept
	changed func([]Write) // called with what was committed, unless nil
	unsaved []Write       // what follows from time alone: the next save carries it
	stopped atomic.Pointer[Unavailable]
	closed  atomic.Bool
}

// Keep makes every change of the store durable by k, and loads what k has. Call it once, before any other use of s.
func (s *Store) Keep(k Keeper) error {
	s.keeper = k
	if err := k.Load(s.tables.load); err != nil {
		return err
	}
	s.tables.arrange()
	s.prune()
	s.wakeSender()
	return nil
}

// OnChange makes the store call fn with what each transaction wrote, in order, once it is durable. fn must not use the
// store, wait, or change the writes. A nil fn ends the calls.
func (s *Store) OnChange(fn func([]Write)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = fn
}

// wrote notes what a change wrote, for the keeper and for OnChange.
func (tx *Tx) wrote(kind Kind, id string, value any) {
	if tx.s.keeper != nil || tx.s.changed != nil {
		tx.writes = append(tx.writes, Write{kind, id, value})
	}
}

// commit makes the writes of transactions durable, with those that wait for the next save.
func (s *Store) commit(at time.Time, writes []Write) error {
	if s.keeper == nil || len(writes) == 0 {
		return nil
	}
	err := s.save(at, lastOfEach(append(s.unsaved[:len(s.unsaved):len(s.unsaved)], writes...)))
	switch {
	case err == nil:
		s.unsaved = nil
	case !errors.Is(err, ErrRolledBack):
		err = fmt.Errorf("%w (%w)", ErrStopped, err)
		s.stopped.Store(&Unavailable{err})
	}
	return err
}

// refuses returns why the store takes no change, or nil. The store is locked.
func (s *Store) refuses() error {
	if s.closed.Load() {
		return &Unavailable{ErrClosed}
	}
	return s.Stopped()
}

// Stopped returns an error that matches [ErrStopped] once nobody knows whether a save was carried out, and nil before.
func (s *Store) Stopped() error {
	if stopped := s.stopped.Load(); stopped != nil {
		return stopped
	}
	return nil
}

// save treats a panic of the keeper as a save that may have been carried out.
func (s *Store) save(at time.Time, writes []Write) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return s.keeper.Save(at, writes)
}

// lastOfEach keeps the last write of each record, in the order of the first ones.
func lastOfEach(writes []Write) []Write {
	type key struct {
		kind Kind
		id   string
	}
	place := make(map[key]int, len(writes))
	out := writes[:0:0]
	for _, w := range writes {
		if i, ok := place[key{w.Kind, w.ID}]; ok {
			out[i].Value = w.Value
			continue
		}
		place[key{w.Kind, w.ID}] = len(out)
		out = append(out, w)
	}
	return out
}

// Close waits for the change under way. Then nothing is changed or saved any more, not even what the next save would
// carry: it follows from time alone.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
}

// Closed reports whether Close was called.
func (s *Store) Closed() bool { return s.closed.Load() }

// Durable reports whether changes outlive the process.
func (s *Store) Durable() bool { return s.keeper != nil }
