package hosting

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Names of values in data files.
const (
	workspaceValue  = "workspace"  // in the file of another workspace than the first: its saved as JSON
	workspacesValue = "workspaces" // in the first file: the names of the other workspaces with a file, by id, as JSON
)

// files are the files of the workspaces: the file of the first workspace and, in the same folder,
// one for each other workspace without a lifetime.
type files struct {
	first   *sqlitestore.Store
	options sqlitestore.Options
	log     *slog.Logger

	mu    sync.Mutex
	known map[string]string // workspacesValue
}

// openFiles returns the files beside the first file. It returns an error in two cases:
//
//   - The first file is new, so it has no sealing key, and files of workspaces are beside it.
//   - The first file is a copy of one of the files beside it.
func openFiles(ctx context.Context, first *sqlitestore.Store, o sqlitestore.Options, log *slog.Logger) (*files, error) {
	f := &files{first: first, options: o, log: log, known: map[string]string{}}
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	var copied saved
	key, keyErr := first.Value(ctx, keyValue)
	err = errors.Join(keyErr, readValue(ctx, first, workspacesValue, &f.known), readValue(ctx, first, workspaceValue, &copied))
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(ids, copied.ID):
		return nil, fmt.Errorf("the data file %s is %w: it is a copy of %s; put the data file of the first workspace back", first.Path(), ErrMisplaced, f.pathOf(copied.ID))
	case key == "" && len(ids) > 0:
		return nil, fmt.Errorf("the data file %s is %w: it is new or empty, and beside it are the files of %d workspaces, as %s; put the data file to which they "+
			"belong back, or move them away (serve --data opens one as a sandbox of its own)", first.Path(), ErrMisplaced, len(ids), f.pathOf(ids[0]))
	}
	return f, nil
}

// readValue reads a value in JSON from a data file. Without the value it leaves to as it is.
func readValue(ctx context.Context, store *sqlitestore.Store, name string, to any) error {
	text, err := store.Value(ctx, name)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), to)
	}
	if err != nil {
		return fmt.Errorf("the data file %s: the value %q: %w", store.Path(), name, err)
	}
	return nil
}

// CheckValues calls problem for each value of a data file with which serve would not start.
func CheckValues(ctx context.Context, store *sqlitestore.Store, problem func(string)) {
	_, keyErr := storedKey(ctx, store)
	for _, err := range []error{readValue(ctx, store, workspaceValue, &saved{}), readValue(ctx, store, workspacesValue, &map[string]string{}), keyErr} {
		if err != nil {
			problem(err.Error())
		}
	}
}

// pathOf returns the path of another workspace's file.
func (f *files) pathOf(id string) string {
	return strings.TrimSuffix(f.first.Path(), ".db") + "-" + id + ".db"
}

func (f *files) create(ctx context.Context, id string) (*sqlitestore.Store, error) {
	return sqlitestore.Open(ctx, f.pathOf(id), f.options)
}

// ids returns the ids in the names of the files of other workspaces.
func (f *files) ids() (ids []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(f.first.Path()))
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(f.first.Path()), entry.Name())
		id := strings.TrimSuffix(path[min(len(path), len(f.pathOf(""))-len(".db")):], ".db")
		if uuid.Validate(id) == nil && f.pathOf(id) == path {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// note changes the list of workspaces in the first file.
func (f *files) note(ctx context.Context, change func(known map[string]string)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := maps.Clone(f.known)
	change(known)
	if maps.Equal(known, f.known) {
		return nil
	}
	text, err := json.Marshal(known)
	if err == nil {
		err = f.first.SetValue(ctx, workspacesValue, string(text))
	}
	if err == nil {
		f.known = known
	}
	return err
}

// forget removes a workspace whose file is missing from the list, so that the next start does not
// warn of it.
func (f *files) forget(ctx context.Context, id string) error {
	if f == nil || !f.knows(id) {
		return noWorkspace(id)
	}
	return f.note(ctx, func(known map[string]string) { delete(known, id) })
}

func (f *files) knows(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.known[id]
	return known
}

// ErrMisplaced is the cause of an error about a file in the place of another. The text of the error
// says what to do.
var ErrMisplaced = errors.New("misplaced")

// FileError is the error of a start that fails because of the file of another workspace than the
// first.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ", the file of a workspace: " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// each opens the files of the other workspaces. It deletes the files of incomplete workspaces, and
// warns of each missing file, which the user may have moved away. A file that cannot be read causes a
// [FileError], because serve must not start without that workspace, whose name and key could then
// be given to another.
func (f *files) each(ctx context.Context, resume func(*sqlitestore.Store, saved) error) error {
	ids, err := f.ids()
	if err != nil {
		return err
	}
	there := map[string]string{}
	for _, id := range ids {
		was, err := f.one(ctx, id, resume)
		if err != nil {
			return &FileError{f.pathOf(id), err}
		}
		if was.Whole && was.ID == id {
			there[id] = was.Name
		}
	}
	return f.note(ctx, func(known map[string]string) {
		for id, name := range known {
			if slices.Contains(ids, id) {
				delete(known, id)
			} else {
				f.log.Warn("the file of a workspace is missing: put it back and start again, or forget the workspace with signforms workspaces remove ID",
					"id", id, "name", name, "file", f.pathOf(id))
			}
		}
		maps.Copy(known, there)
	})
}

// one opens the file of a workspace, and returns its workspaceValue.
func (f *files) one(ctx context.Context, id string, resume func(*sqlitestore.Store, saved) error) (was saved, err error) {
	switch info, err := os.Stat(f.pathOf(id)); { // open would make it
	case errors.Is(err, fs.ErrNotExist):
		return was, f.foreign(id, "it is a link to a file that is missing")
	case err == nil && info.Size() == 0:
		return was, f.foreign(id, "it is empty")
	}
	store, err := f.create(ctx, id)
	if err != nil {
		return was, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if err = readValue(ctx, store, workspaceValue, &was); err != nil {
		return was, err
	}
	switch {
	case was.ID == "":
		err = errors.Join(store.Sound(ctx), store.Close())
		return was, cmp.Or(err, f.foreign(id, "it holds no workspace"))
	case was.ID != id:
		return was, errors.Join(store.Close(), f.foreign(id, "it holds the workspace "+was.ID))
	case !was.Whole:
		f.log.Info("deleting the file of a workspace that was being made or removed when the sandbox ended", "workspace", id, "name", was.Name, "file", store.Path())
		return was, store.Remove()
	}
	return was, resume(store, was)
}

// foreign returns an error if a file without its workspace is in the place of a known workspace's
// file. Otherwise it warns: the file is a copy, or was left by a start that was killed.
func (f *files) foreign(id, what string) error {
	if f.knows(id) {
		return fmt.Errorf("%w: %s; put the workspace's own file back, or move this one away to start without the workspace", ErrMisplaced, what)
	}
	f.log.Warn("a file beside the data file has the name of a workspace's file: "+what+"; move it away", "file", f.pathOf(id))
	return nil
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
