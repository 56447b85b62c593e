package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Kind is the kind of a record.
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

// Write is one record in its state after a transaction.
type Write struct {
	Kind  Kind
	ID    string
	Value any // the argument of the method Put…; nil: the record is deleted
}

// About returns the ids of the records that the write is about: the id of the record, or the ids in
// the entries of a batch.
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

// Keeper makes the records of a [Store] durable.
type Keeper interface {
	// Save saves all of the writes or none. It is called under the store's lock, so nobody sees the
	// writes before Save has returned. An error that matches [ErrRolledBack] means that nothing was
	// saved. After any other error, the outcome is unknown.
	Save(at time.Time, writes []Write) error

	// Load calls put with every saved record except blobs, in any order.
	Load(put func(Write)) error

	// Blob returns the content of a blob.
	Blob(ctx context.Context, hash string) ([]byte, error)
}

// ErrRolledBack is matched by the error of a Save that saved nothing. The next Save may succeed.
var ErrRolledBack = errors.New("the change was rolled back")

// Unavailable is the error of a transaction that was undone because its writes could not be saved,
// or because no save was tried.
type Unavailable struct{ Err error }

func (e *Unavailable) Error() string {
	if e.Err == ErrClosed || errors.Is(e.Err, ErrStopped) {
		return e.Err.Error() // no save was tried
	}
	return "the change could not be saved: " + e.Err.Error()
}

func (e *Unavailable) Unwrap() error { return e.Err }

// ErrUnavailable is matched by every [Unavailable] except that of a closed store.
var ErrUnavailable = errors.New("the storage failed")

// Is reports whether target is [ErrUnavailable] and the store is not closed.
func (e *Unavailable) Is(target error) bool { return target == ErrUnavailable && e.Err != ErrClosed }

// ErrClosed is matched by the error of a transaction after [Store.Close].
var ErrClosed = errors.New("the server is closed")

// ErrStopped is matched by the error of a transaction after a save whose outcome is unknown. Only
// the saved records show the outcome, so the store takes no change until it was made again from
// them.
var ErrStopped = errors.New("the service has stopped: it is unknown whether its last change was saved; start it again")

// keeping is the part of a Store that makes it durable.
type keeping struct {
	keeper  Keeper        // nil: nothing is saved
	changed func([]Write) // called with the committed writes, unless nil
	unsaved []Write       // writes that follow from the time alone; the next save includes them
	stopped atomic.Pointer[Unavailable]
	closed  atomic.Bool
}

// Keep makes every change of the store durable with k, and loads the records of k. Call it once,
// before any other use of s.
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

// OnChange makes the store call fn with the writes of each transaction, in order, after they are
// durable. fn must not use the store, wait, or change the writes. A nil fn ends the calls.
func (s *Store) OnChange(fn func([]Write)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = fn
}

// wrote records a write, for the keeper and for OnChange.
func (tx *Tx) wrote(kind Kind, id string, value any) {
	if tx.s.keeper != nil || tx.s.changed != nil {
		tx.writes = append(tx.writes, Write{kind, id, value})
	}
}

// commit makes the writes of transactions durable, together with the writes that wait for the next
// save.
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

// Stopped returns an error that matches [ErrStopped] after a save whose outcome is unknown, and nil
// before.
func (s *Store) Stopped() error {
	if stopped := s.stopped.Load(); stopped != nil {
		return stopped
	}
	return nil
}

// save calls the keeper. It treats a panic of the keeper as a save with an unknown outcome.
func (s *Store) save(at time.Time, writes []Write) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return s.keeper.Save(at, writes)
}

// lastOfEach keeps the last write of each record, in the order of the first writes.
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

// Close waits for the running change. After Close, nothing is changed or saved. Writes that wait
// for the next save are not saved either, because they follow from the time alone.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
}

// Closed reports whether Close was called.
func (s *Store) Closed() bool { return s.closed.Load() }

// Durable reports whether changes outlive the process.
func (s *Store) Durable() bool { return s.keeper != nil }
