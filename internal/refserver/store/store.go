package store

import (
	"fmt"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Store holds the records of one service. The zero value is not ready: use [New]. A Store is safe for concurrent use.
type Store struct {
	mu       sync.RWMutex
	now      func() time.Time
	enqueued chan struct{}

	workspaces map[string]*Workspace
	keys       map[string]string // API key → workspace id
	documents  documents
	templates  templates
	forms      forms
	outbox     outbox
	audit      log[signing.AuditEntry]
	messages   log[signing.Message]
}

// New returns an empty Store whose transactions happen at the time that now tells, which must not go back.
func New(now func() time.Time) *Store {
	return &Store{
		now:        now,
		enqueued:   make(chan struct{}, 1),
		workspaces: map[string]*Workspace{},
		keys:       map[string]string{},
		documents:  newDocuments(),
		templates:  newTemplates(),
		forms:      newForms(),
		outbox:     newOutbox(),
		audit:      newLog(func(e *signing.AuditEntry) string { return e.RecordID }),
		messages:   newLog(func(m *signing.Message) string { return m.DocumentID }),
	}
}

// Now returns the service's time.
func (s *Store) Now() time.Time { return s.now() }

// Tx is a transaction. It is valid until the function that got it returns, and only in that goroutine.
type Tx struct {
	Now time.Time // when it happens, after all that happened in earlier ones

	s        *Store
	undo     []func() // one per change, run in reverse to roll back; nil in a view
	writable bool
	enqueued bool
}

// View runs fn with a consistent view of all records. It returns fn's error.
func (s *Store) View(fn func(*Tx) error) error {
	if s.expires() {
		s.Update(func(*Tx) error { return nil }) // expires what is due
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return fn(&Tx{s: s, Now: s.now()})
}

func (s *Store) expires() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.documents.expiresBy(s.now()) != nil
}

// Update runs fn and keeps what it changed if it returns nil. Otherwise, and when fn panics, nothing has changed. fn must
// not call View, Update or Act of the same store.
func (s *Store) Update(fn func(*Tx) error) error {
	tx := &Tx{s: s, writable: true}
	if err := tx.run(fn); err != nil {
		return err
	}
	if tx.enqueued {
		select {
		case s.enqueued <- struct{}{}:
		default:
		}
	}
	return nil
}

func (tx *Tx) run(fn func(*Tx) error) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	tx.Now = tx.s.now()
	tx.expireDue()
	done := false
	defer func() {
		if !done {
			tx.rollback()
		}
	}()
	err := fn(tx)
	done = err == nil
	return err
}

func (tx *Tx) rollback() {
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
}

// change makes one change and remembers how to take it back. Every write of the package goes through it.
func (tx *Tx) change(do, undo func()) {
	if !tx.writable {
		panic("store: write in a View")
	}
	do()
	tx.undo = append(tx.undo, undo)
}

// set puts value under key, or with a nil value removes the key.
func set[K comparable, V any](tx *Tx, m map[K]*V, key K, value *V) {
	old := m[key]
	put := func(v *V) {
		if v == nil {
			delete(m, key)
		} else {
			m[key] = v
		}
	}
	tx.change(func() { put(value) }, func() { put(old) })
}

// Enqueued receives a value after transactions that added or rescheduled deliveries; several may share one value. It serves
// one sender.
func (s *Store) Enqueued() <-chan struct{} { return s.enqueued }

// Apply stores all that a command changed: the record, its audit entries, its messages, and a pending delivery for each
// event and each webhook that tracks it. The Change must come from a record read in this transaction. A Change that changed
// nothing stores nothing.
func (tx *Tx) Apply(c signing.Change) {
	if !c.Changed() {
		return
	}
	if c.Document != nil {
		tx.putDocument(c.Document)
	}
	if c.Response != nil {
		tx.putResponse(c.Response)
	}
	for _, e := range c.Audit {
		tx.s.audit.add(tx, &e, &e.Seq)
	}
	for _, m := range c.Messages {
		tx.s.messages.add(tx, &m, &m.Seq)
	}
	for _, e := range c.Events {
		tx.fanOut(e)
	}
}

// Act runs one command on one document and applies what it changed, in a transaction of its own and at its time. It returns
// the Change, the command's error, or an [*Missing].
func (s *Store) Act(documentID string, command signing.Command) (signing.Change, error) {
	var c signing.Change
	err := s.Update(func(tx *Tx) error {
		d, err := tx.Document(documentID)
		if err != nil {
			return err
		}
		if c, err = command(d, tx.Now); err != nil {
			return err
		}
		tx.Apply(c)
		return nil
	})
	return c, err
}

// Missing is the error for a record that does not exist.
type Missing struct {
	What string // document, template, form, response, webhook, delivery or workspace
	ID   string
}

func (m *Missing) Error() string { return fmt.Sprintf("no %s with id %q", m.What, m.ID) }

// KindOf says what has the id in the workspace, in words: "PDF document", "document from a template", "template", "form", "form
// response", or "" for nothing.
func (tx *Tx) KindOf(workspaceID, id string) string {
	switch d, t, f, r := tx.s.documents.byID[id], tx.s.templates.byID[id], tx.s.forms.byID[id], tx.s.forms.responses[id]; {
	case d != nil && d.WorkspaceID == workspaceID && d.Kind == signing.KindTemplate:
		return "document from a template"
	case d != nil && d.WorkspaceID == workspaceID:
		return "PDF document"
	case t != nil && t.WorkspaceID == workspaceID:
		return "template"
	case f != nil && f.WorkspaceID == workspaceID:
		return "form"
	case r != nil && r.WorkspaceID == workspaceID:
		return "form response"
	}
	return ""
}

// lookup returns the record with the id, or a Missing.
func lookup[V any](m map[string]*V, what, id string) (V, error) {
	if v, ok := m[id]; ok {
		return *v, nil
	}
	var none V
	return none, &Missing{What: what, ID: id}
}
