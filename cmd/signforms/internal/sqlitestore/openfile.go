package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// openFile says which files are open. SQLite opens them by name, and goes on writing when the name leads elsewhere.
type openFile struct {
	path string
	file *os.File // locked; closing any descriptor of the file drops SQLite's own locks on it, so it is closed after SQLite
	lock *os.File // has the witness

	mu   sync.Mutex
	wal  os.FileInfo // nil: no connection for writing is open
	lost error       // once a path led elsewhere, connections may lead there too

	last    witness   // of which the versions are known once it was stamped
	stamped time.Time // zero: not yet
}

// openData opens and locks the file itself, which another program may have open by another name. It makes the file if it is missing,
// because SQLite would make it readable for everyone. SQLite gives its other files the same mode as this one.
func openData(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the data file: %w", err)
	}
	switch err = filelock.TryContent(f, false); {
	case err == nil, errors.Is(err, errors.ErrUnsupported):
		err = atomicfile.SyncDir(filepath.Dir(path))
	case errors.Is(err, ErrInUse):
		err = fmt.Errorf("the data file %s is %w, perhaps by another name; stop that, or choose another file", path, err)
	default:
		err = fmt.Errorf("locking the data file %s: %w", path, err)
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

// check returns an error from the first time on that a path does not lead to the open file or the file has other contents.
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
	if err == nil {
		err = f.checkContents()
	}
	if errors.Is(err, errMoved) || errors.Is(err, errReplaced) {
		f.lost = err
	}
	return err
}

var errReplaced = errors.New("other contents were copied into it while this program has it open, so changes would be lost: " +
	"stop the program, put a copy back in its place without a -wal or -shm, and start again")

// stampEvery is how often the version in the header is raised. A copy that is older than that has an older version.
const stampEvery = time.Minute

// slack is by how much the version may be beyond the newest stamp: SQLite raises it by one with each new table.
const slack = 64

// stamp raises the schema version with the first Save and now and then, to one that another file will not have. SQLite and other
// programs only read the schema again then.
func (f *openFile) stamp(ctx context.Context, conn *sql.Conn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stamped.IsZero() && time.Since(f.stamped) < stampEvery {
		return nil
	}
	var version int32
	if err := conn.QueryRowContext(ctx, `pragma schema_version`).Scan(&version); err != nil {
		return err
	}
	if version < 1<<10 { // of a new file or an older version's
		version += rand.Int32N(1 << 30)
	}
	version += slack + rand.Int32N(1<<12) // may wrap around
	first := f.stamped.IsZero()
	if first {
		var err error
		if f.last.seen, err = f.version(); err != nil {
			return err
		}
	}
	f.last.newest = uint32(version)
	if err := errors.Join(f.last.write(f.lock), f.lock.Sync()); err != nil { // on the disk before the version can be
		return fmt.Errorf("writing to the lock file: %w", err)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf(`pragma schema_version = %d`, version)); err != nil {
		return err
	}
	if first { // the first version must be in the file, because all from there to the newest are taken as this program's
		if err := conn.QueryRowContext(ctx, `pragma wal_checkpoint(passive)`).Scan(new(int), new(int), new(int)); err != nil {
			return err
		}
		var err error
		if f.last.seen, err = f.version(); err != nil {
			return err
		}
	}
	f.stamped = time.Now()
	return nil
}

// checkContents returns errReplaced when the version in the file is none that this program can have left there. A checkpoint writes
// newer versions into the file, and none that is older than the last one seen.
func (f *openFile) checkContents() error {
	if f.stamped.IsZero() {
		return nil
	}
	version, err := f.version()
	if err != nil {
		return err
	}
	if !f.last.isOf(version) {
		return errReplaced
	}
	f.last.seen = version
	return nil
}

var errOtherWAL = errors.New("the -wal beside it holds changes of other contents, which it would damage: " +
	"put back the file that they belong to, or move the -wal and the -shm away")

// witness returns what the lock file says about the file's last Save, or nil when it says nothing about this file. Call it before SQLite
// opens the file.
func (f *openFile) witness() (*witness, error) {
	last := readWitness(f.lock)
	if last == nil {
		return nil, nil
	}
	version, err := f.version()
	if err == nil && last.isOf(version) {
		return last, nil
	}
	if err != nil && !errors.Is(err, errReplaced) {
		return nil, err
	}
	if wal, err := os.Stat(f.path + "-wal"); err == nil && wal.Size() > 0 {
		return nil, errOtherWAL
	}
	return nil, nil
}

// saved writes to the lock file that there was a Save with that number.
func (f *openFile) saved(number int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last.saves = number
	return f.last.write(f.lock)
}

// version returns the schema version in the file's header, past SQLite, which would answer from its WAL or its memory.
func (f *openFile) version() (uint32, error) {
	var b [4]byte
	if _, err := f.file.ReadAt(b[:], versionAt); errors.Is(err, io.EOF) {
		return 0, errReplaced
	} else if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b[:]), nil
}

// versionAt is the offset of the schema version in a file of SQLite.
const versionAt = 40

func leadsTo(path string, open os.FileInfo) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, open) {
		return errMoved
	}
	return err
}

// Check returns an error when the path no longer leads to the open file, or other contents were copied into it. From then on Save, Load and Blob fail too.
func (s *Store) Check() error { return s.refusal(s.open.check()) }
