// Package storagetest helps with storages of package signformstest: [Run] checks an implementation, and [Memory] is one that
// fails on demand.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Memory is a [refserver.Storage] in memory. The zero value is empty and ready to use. It is safe for concurrent use.
type Memory struct {
	// Decide, unless nil, says what becomes of a Save. Set it before the storage is used; it is called with a lock held.
	Decide func(records []refserver.Record) Fate

	mu      sync.Mutex
	records map[key][]byte
}

// Fate is what becomes of a Save.
type Fate int

// The fates of a Save.
const (
	Saved       Fate = iota // as it should be
	Failed                  // nothing is changed, and the error says so
	UnknownKept             // the error does not say, and the records are there
	UnknownLost             // the error does not say, and nothing is changed
)

type key struct{ kind, id string }

var errFailed = errors.New("failed on demand")

// Load passes every record but blobs.
func (m *Memory) Load(ctx context.Context, yield func(refserver.Record) error) error {
	for _, r := range m.all() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) all() (records []refserver.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, data := range m.records {
		if k.kind != refserver.BlobKind {
			records = append(records, refserver.Record{Kind: k.kind, ID: k.id, Data: slices.Clone(data)})
		}
	}
	return records
}

// Save keeps the records, or fails as Decide says.
func (m *Memory) Save(ctx context.Context, records []refserver.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", refserver.ErrRolledBack, err)
	}
	fate := Saved
	if m.Decide != nil {
		fate = m.Decide(records)
	}
	if fate == Saved || fate == UnknownKept {
		m.keep(records)
	}
	switch fate {
	case Saved:
		return nil
	case Failed:
		return fmt.Errorf("%w: %w", refserver.ErrRolledBack, errFailed)
	}
	return errFailed
}

func (m *Memory) keep(records []refserver.Record) {
	if m.records == nil {
		m.records = make(map[key][]byte)
	}
	for _, r := range records {
		if r.Data == nil {
			delete(m.records, key{r.Kind, r.ID})
		} else {
			m.records[key{r.Kind, r.ID}] = append([]byte{}, r.Data...)
		}
	}
}

// Blob returns the content of a blob.
func (m *Memory) Blob(_ context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.records[key{refserver.BlobKind, hash}]
	if !ok {
		return nil, fmt.Errorf("no blob %s", hash)
	}
	return slices.Clone(content), nil
}

// Count returns how many records of a kind there are; with an empty one of all kinds.
func (m *Memory) Count(kind string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.records {
		if kind == "" || k.kind == kind {
			n++
		}
	}
	return n
}

// Copy returns a storage with the same records, as they are now, that does not fail.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{records: make(map[key][]byte, len(m.records))}
	for k, data := range m.records {
		c.records[k] = data // never changed in place
	}
	return c
}
