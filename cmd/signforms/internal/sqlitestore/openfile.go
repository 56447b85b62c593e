package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/atomicfile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/filelock"
)

// openFile says which files are open. SQLite opens them by name, and goes on writing when the name leads elsewhere.
type openFile struct {
	path string
	file *os.File // locked; closing any descriptor of the file drops SQLite's own locks on it, so it is closed after SQLite

	mu   sync.Mutex
	wal  os.FileInfo // nil: no connection for writing is open
	lost error       // once a path led elsewhere, connections may lead there too
}

// openData opens and locks the file itself, which another program may have open by another name. It makes the file if it is missing,
// because SQLite would make it readable for everyone. SQLite gives its other files the same mode as this one.
func openData(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the data file: %w", err)
	}
	err = filelock.TryContent(f, false)
	switch {
	case errors.Is(err, ErrInUse):
		err = fmt.Errorf("the data file %s is %w, perhaps by another name; stop that, or choose another file", path, err)
	case err != nil:
		err = fmt.Errorf("locking the data file %s: %w", path, err)
	default:
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errMoved = errors.New("it or its -wal was moved, removed or replaced while this program has it open, so changes would be lost: " +
	"stop the program, put the file back, and start again")

// openWAL notes the WAL that the connection for writing has opened.
func (f *openFile) openWAL() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wal, err = os.Stat(f.path + "-wal")
	return err
}

// closeWAL says that the WAL may be removed, and made again.
func (f *openFile) closeWAL() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wal = nil
}

// check returns an error from the first time on that a path does not lead to the open file.
func (f *openFile) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost != nil {
		return f.lost
	}
	open, err := f.file.Stat()
	if err == nil {
		err = leadsTo(f.path, open)
	}
	if err == nil && f.wal != nil {
		err = leadsTo(f.path+"-wal", f.wal)
	}
	if errors.Is(err, errMoved) {
		f.lost = err
	}
	return err
}

func leadsTo(path string, open os.FileInfo) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, open) {
		return errMoved
	}
	return err
}

// Check returns an error when the path no longer leads to the open file. From then on Save, Load and Blob fail too.
func (s *Store) Check() error { return s.refusal(s.open.check()) }
