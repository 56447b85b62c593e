package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// makeFolder makes a folder and its missing parents. Their names survive a loss of power.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := makeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDir(above)
}

// openLocked opens and locks the file itself, which another program may have opened under another
// name. It makes the file if it is missing, because SQLite would make it readable for everyone.
// SQLite gives its other files the same mode as this one.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, refusal(path, err)
	}
	switch err = filelock.TryContent(f); {
	case err == nil, errors.Is(err, errors.ErrUnsupported):
		err = atomicfile.SyncDir(filepath.Dir(path))
	case errors.Is(err, ErrInUse):
		err = fmt.Errorf("the data file %s is %w; stop that, or choose another file", path, err)
	default:
		err = fmt.Errorf("locking the data file %s: %w", path, err)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// busyFor is how long a statement waits while another process, such as the sqlite3 shell or a backup, has the file
// locked.
const busyFor = 5 * time.Second

// dataSource returns the SQLite data source name of a file, with its absolute path.
func dataSource(path string, full bool) string {
	mode := map[bool]string{false: "normal", true: "full"}[full]
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	pragmas := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds()),
		"synchronous(" + mode + ")",
		"journal_size_limit(67108864)", // in bytes; the WAL is truncated to this size after a checkpoint
	}}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: pragmas.Encode()}).String()
}

// code returns the primary result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// descriptors is how many file descriptors an open [Store] uses.
const descriptors = 6

// limited reports whether err comes from the limit of open files. SQLite reports only that it
// cannot open a file, and then closes the files that it has opened. So limited checks whether as
// many other files can be opened.
func limited(err error) bool {
	for range descriptors {
		if code(err) == sqlite3.SQLITE_CANTOPEN {
			probe, failed := os.Open(os.DevNull)
			if failed != nil {
				err = failed
				break
			}
			defer probe.Close()
		}
	}
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// refusal adds a remedy to an error of a file. It returns nil for nil.
func refusal(path string, err error) error {
	if limited(err) {
		return fmt.Errorf("the data file %s: %w (%w); raise the limit of open files (ulimit -n): each workspace that is kept in a file takes %d",
			path, ErrLimit, err, descriptors)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return inaccessible(path, err)
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the data file %s: %w (%w); make room", path, ErrFull, err)
	case sqlite3.SQLITE_IOERR: // also on a full disk, on which the -shm file cannot grow
		return fmt.Errorf("the data file %s: %w; its disk is full, or does not work", path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return inaccessible(path, err)
	}
	if err != nil {
		return fmt.Errorf("the data file %s: %w", path, err)
	}
	return nil
}

func inaccessible(path string, err error) error {
	return fmt.Errorf("the data file %s %w (%w); make it and its folder writable for this user", path, ErrAccess, err)
}

func damaged(path string, err error) error {
	return fmt.Errorf("the data file %s is %w (%w); put a copy of it back, or move it away to start without it, each time moving its -wal and "+
		"-shm away too; sqlite3's .recover may get records out of it", path, ErrDamaged, err)
}

// realPath returns the path of a file without symbolic links, because the files of workspaces are beside the file and
// not beside a link to it.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err == nil {
		info, err = os.Stat(path)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	return path, err
}
