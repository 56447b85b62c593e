package hosting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// workspaceValue is the name of the value in the file of a workspace that has its saved as JSON.
const workspaceValue = "workspace"

// files are the files of the workspaces: the file of the first workspace and, in the same folder,
// one for each other workspace without a lifetime.
type files struct {
	first   *sqlitestore.Store
	options sqlitestore.Options
	log     *slog.Logger
}

// pathOf returns the path of another workspace's file.
func (f *files) pathOf(id string) string {
	return strings.TrimSuffix(f.first.Path(), ".db") + "-" + id + ".db"
}

func (f *files) create(ctx context.Context, id string) (*sqlitestore.Store, error) {
	return sqlitestore.Open(ctx, f.pathOf(id), f.options)
}

// FileError is the error of a start that fails because of the file of another workspace than the
// first.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ", the file of a workspace: " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// each opens the files of the other workspaces. It deletes the files of incomplete workspaces. It
// ignores a sound file without the value workspaceValue. A file that cannot be read causes a
// [FileError], because serve must not start without that workspace, whose name and key could then
// be given to another.
func (f *files) each(ctx context.Context, resume func(*sqlitestore.Store, saved) error) error {
	entries, err := os.ReadDir(filepath.Dir(f.first.Path()))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(f.first.Path()), entry.Name())
		id := strings.TrimSuffix(path[min(len(path), len(f.pathOf(""))-len(".db")):], ".db")
		if uuid.Validate(id) != nil || f.pathOf(id) != path {
			continue
		}
		if err := f.one(ctx, id, resume); err != nil {
			return &FileError{path, err}
		}
	}
	return nil
}

// one opens the file of a workspace.
func (f *files) one(ctx context.Context, id string, resume func(*sqlitestore.Store, saved) error) error {
	store, err := f.create(ctx, id)
	if err != nil {
		return err
	}
	text, err := store.Value(ctx, workspaceValue)
	var was saved
	switch {
	case err != nil:
	case text == "":
		err = store.Sound(ctx)
	default:
		err = json.Unmarshal([]byte(text), &was)
	}
	switch {
	case err != nil:
	case was.ID != id:
		f.log.Warn("a file beside the data file is of no workspace, or a copy of another's", "file", store.Path())
		err = store.Close()
	case !was.Whole:
		err = store.Remove()
	default:
		err = resume(store, was)
	}
	if err != nil {
		err = errors.Join(err, store.Close())
	}
	return err
}

// maxMemoryFiles is the maximum size of the PDFs and images of a workspace in memory, in bytes.
const maxMemoryFiles = 64 << 20

// memoryFiles keeps only the files of a workspace with a lifetime. It implements
// [refserver.Storage].
type memoryFiles struct {
	mu   sync.Mutex
	all  map[string][]byte
	size int
}

// Load implements [refserver.Storage].
func (*memoryFiles) Load(context.Context, func(refserver.Record) error) error { return nil }

// Save implements [refserver.Storage].
func (m *memoryFiles) Save(ctx context.Context, records []refserver.Record) error {
	if err := ctx.Err(); err != nil {
		return rolledBack(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	size := m.size
	for _, r := range records {
		if r.Kind == refserver.BlobKind {
			size += len(r.Data) - len(m.all[r.ID])
		}
	}
	if size > maxMemoryFiles && size > m.size {
		return rolledBack(fmt.Errorf("the files of a workspace with a lifetime may have %d MiB together: make one without a lifetime", maxMemoryFiles>>20))
	}
	m.size = size
	for _, r := range records {
		switch {
		case r.Kind != refserver.BlobKind:
		case r.Data == nil:
			delete(m.all, r.ID)
		default:
			if m.all == nil {
				m.all = map[string][]byte{}
			}
			m.all[r.ID] = bytes.Clone(r.Data)
		}
	}
	return nil
}

func rolledBack(err error) error { return fmt.Errorf("%w: %w", refserver.ErrRolledBack, err) }

// Blob implements [refserver.Storage].
func (m *memoryFiles) Blob(_ context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, found := m.all[hash]
	if !found {
		return nil, fs.ErrNotExist
	}
	return data, nil
}
