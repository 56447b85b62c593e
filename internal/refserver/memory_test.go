package refserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver"
)

// memory is a storage in memory. The zero value is empty and ready to use. It is safe for concurrent use.
type memory struct {
	// Decide, unless nil, says what becomes of a Save. Set it before the storage is used; it is called with a lock held.
	Decide func(records []refserver.Record) saveOutcome

	mu      sync.Mutex
	records map[key][]byte
}

// saveOutcome is the result of a Save.
type saveOutcome int

// The outcomes of a Save.
const (
	saveDone  saveOutcome = iota // as it should be
	saveFails                    // nothing is changed, and the error says so
	saveKept                     // the error does not say, and the records are there
	saveLost                     // the error does not say, and nothing is changed
)

type key struct{ kind, id string }

var errFailed = errors.New("failed on demand")

// Load passes every record but blobs.
func (m *memory) Load(ctx context.Context, yield func(refserver.Record) error) error {
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

func (m *memory) all() (records []refserver.Record) {
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
func (m *memory) Save(ctx context.Context, records []refserver.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", refserver.ErrRolledBack, err)
	}
	outcome := saveDone
	if m.Decide != nil {
		outcome = m.Decide(records)
	}
	if outcome == saveDone || outcome == saveKept {
		m.keep(records)
	}
	switch outcome {
	case saveDone:
		return nil
	case saveFails:
		return fmt.Errorf("%w: %w", refserver.ErrRolledBack, errFailed)
	}
	return errFailed
}

func (m *memory) keep(records []refserver.Record) {
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
func (m *memory) Blob(_ context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.records[key{refserver.BlobKind, hash}]
	if !ok {
		return nil, fmt.Errorf("no blob %s", hash)
	}
	return slices.Clone(content), nil
}

// Count returns how many records of a kind there are; with an empty one of all kinds.
func (m *memory) Count(kind string) (n int) {
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
func (m *memory) Copy() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &memory{records: make(map[key][]byte, len(m.records))}
	for k, data := range m.records {
		c.records[k] = data // never changed in place
	}
	return c
}
