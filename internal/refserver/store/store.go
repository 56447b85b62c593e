package store

import (
	"errors"
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
	settings
	keeping
	tables
}

// settings must be set before the store is used.
type settings struct {
	bounds   Bounds
	finishes bool                                // the audit entries of completed documents without a finished file are kept
	render   func(signing.Event, Webhook) []byte // makes the body of a delivery; nil: there are no deliveries
}

// Bounds limits how many records of each kind the store keeps. The limits may be exceeded by an
// eighth. Zero means no limit.
type Bounds struct {
	Deliveries int // deliveries that are neither pending nor being sent
	Audit      int
	Messages   int
}

// tables has all records.
type tables struct {
	service   *Service
	keys      map[string]*Key
	limits    map[string][]byte // API key → state of its reminder limit
	documents documents
	templates templates
	forms     forms
	outbox    outbox
	audit     log[signing.AuditEntry]
	messages  log[signing.Message]
	blobs     blobs

	loaded []*signing.Document // loaded documents, which arrange puts into documents
}

func newTables() tables {
	return tables{
		service:   &Service{},
		keys:      map[string]*Key{},
		limits:    map[string][]byte{},
		documents: newDocuments(),
		templates: newTemplates(),
		forms:     newForms(),
		outbox:    newOutbox(),
		audit:     newLog(KindAudit, func(e *signing.AuditEntry) *int64 { return &e.ID }, func(e *signing.AuditEntry) string { return e.RecordID }),
		messages:  newLog(KindMessage, func(m *signing.Message) *int64 { return &m.Seq }, nil),
		blobs:     blobs{},
	}
}

// New returns an empty Store. now is its clock and must not go back.
func New(now func() time.Time) *Store {
	return &Store{now: now, enqueued: make(chan struct{}, 1), tables: newTables()}
}

// SetBounds limits the records that the store keeps. Call it before the store is used.
func (s *Store) SetBounds(b Bounds) { s.bounds = b }

// SetFinishes makes the store keep the audit entries of each completed document until its finished
// file was made. Call it before the store is used.
func (s *Store) SetFinishes(yes bool) { s.finishes = yes }

// SetRender sets the function that makes the bodies of deliveries. Call it before the store is
// used.
func (s *Store) SetRender(render func(signing.Event, Webhook) []byte) { s.render = render }

// Now returns the service's time.
func (s *Store) Now() time.Time { return s.now() }

// Tx is a transaction. It is valid until the function that got it returns, and only in that function's goroutine.
type Tx struct {
	Now time.Time // the time of the transaction, which is after the times of all earlier ones

	s        *Store
	undo     []func() // one function per change, called in reverse order to roll back; nil in a view
	writes   []Write  // for the keeper and for OnChange
	writable bool
	enqueued bool
}

// View runs fn with a consistent view of all records. It returns fn's error. View writes nothing:
// documents whose time has come are shown as expired, and the next change saves that.
func (s *Store) View(fn func(*Tx) error) error {
	s.mu.RLock()
	for s.documents.expiresBy(s.now()) != nil {
		s.mu.RUnlock()
		s.mu.Lock()
		s.expire()
		s.mu.Unlock()
		s.mu.RLock()
	}
	defer s.mu.RUnlock()
	return fn(&Tx{s: s, Now: s.now()})
}

// expire expires the documents whose time has come. It needs no save of its own. Expiry follows
// from the time alone, so it is repeated with the same result if it was not saved.
func (s *Store) expire() {
	if s.documents.expiresBy(s.now()) == nil {
		return
	}
	tx := &Tx{s: s, writable: true, Now: s.now()}
	tx.expireDue()
	s.announce(tx.writes)
	if s.keeper != nil {
		s.unsaved = append(s.unsaved, tx.writes...)
	}
}

// Update runs fn. If fn returns nil, its changes are saved, if there is a keeper, and take effect.
// Nothing changes if fn returns an error or panics. If the save fails or the store takes no
// changes, nothing changes either, and the error is an [*Unavailable]. fn must not call View,
// Update or Act of the same store.
func (s *Store) Update(fn func(*Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses(); err != nil {
		return err
	}
	s.expire()
	tx := &Tx{s: s, writable: true, Now: s.now()}
	kept := false
	defer func() {
		if !kept { // also if fn panicked or ended its goroutine
			tx.rollback()
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := s.commit(tx.Now, tx.writes); err != nil {
		return &Unavailable{err}
	}
	kept = true
	s.announce(tx.writes)
	s.prune()
	if tx.enqueued {
		s.wakeSender()
	}
	return nil
}

func (s *Store) wakeSender() {
	select {
	case s.enqueued <- struct{}{}:
	default:
	}
}

func (s *Store) announce(writes []Write) {
	if s.changed != nil && len(writes) > 0 {
		s.changed(writes)
	}
}

// rollback undoes all changes of the transaction. A second call does nothing.
func (tx *Tx) rollback() {
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
	tx.undo, tx.writes = nil, nil
}

// change makes one change and records how to undo it. Every write of the package goes through it.
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

// Enqueued receives a value after transactions that added or rescheduled deliveries; several may share one value. It is
// for one sender.
func (s *Store) Enqueued() <-chan struct{} { return s.enqueued }

// Apply stores the Change of a command: the record, its audit entries and messages, and a pending
// delivery for each event and each webhook that tracks it. c must come from a record read in this
// transaction. Apply stores nothing if c is empty.
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
	tx.s.audit.add(tx, c.Audit)
	tx.s.messages.add(tx, c.Messages)
	for _, m := range c.Messages {
		if m.Token != "" && c.Document == nil {
			tx.putFormLink(m.Token, FormLink{FormID: m.DocumentID, Email: m.To})
		}
	}
	for _, e := range c.Events {
		tx.fanOut(e)
	}
}

// Act runs one command on one document and applies its Change, in a transaction of its own and at
// its time. It returns the Change and the command's error, or a [*Missing].
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
	What    string // document, template, form, response, webhook, delivery, file or link
	ID      string
	Instead string // names another record with the id, such as ": it is the id of a form"; empty: there is none
}

func (m *Missing) Error() string { return fmt.Sprintf("no %s with id %.64q", m.What, m.ID) + m.Instead }

// ErrNotFound is matched by every [Missing].
var ErrNotFound = errors.New("not found")

// Is reports whether target is [ErrNotFound].
func (m *Missing) Is(target error) bool { return target == ErrNotFound }

// missing returns a Missing, which also names another record with the id.
func (tx *Tx) missing(what, id string) *Missing {
	m := &Missing{What: what, ID: id}
	switch kind := tx.KindOf(id); {
	case kind == "template" && what == "document":
		m.Instead = ": it is a template's, and sending it makes documents: name one by its createdDocumentId"
	case kind != "":
		m.Instead = ": it is the id of a " + kind
	}
	return m
}

// KindOf returns the kind of the record with the id, in words: "PDF document", "document from a
// template", "template", "form", "form response", or "" if no record has the id.
func (tx *Tx) KindOf(id string) string {
	switch d := tx.s.documents.byID[id]; {
	case d != nil && d.Kind == signing.KindTemplate:
		return "document from a template"
	case d != nil:
		return "PDF document"
	case tx.s.templates.byID[id] != nil:
		return "template"
	case tx.s.forms.byID[id] != nil:
		return "form"
	case tx.s.forms.responses[id] != nil:
		return "form response"
	}
	return ""
}

// lookup returns the record with the id, or a Missing.
func lookup[V any](tx *Tx, m map[string]*V, what, id string) (V, error) {
	if v, ok := m[id]; ok {
		return *v, nil
	}
	var none V
	return none, tx.missing(what, id)
}
