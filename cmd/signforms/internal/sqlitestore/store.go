package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signforms/signforms-go/cmd/signforms/internal/filelock"
	"github.com/signforms/signforms-go/signformstest"
)

// Sync says what a Save survives.
type Sync string

const (
	Normal Sync = "normal" // a process that is killed; after a loss of power the file is whole, but the last saves may be missing
	Full   Sync = "full"   // the loss of power too, for a sync of the disk in every Save
)

// What [Open] returns when a file cannot be used, found by errors.Is.
var (
	ErrInUse   = filelock.ErrLocked
	ErrNewer   = errors.New("written by a newer version of this program")
	ErrForeign = errors.New("not a data file of this program")
	ErrDamaged = errors.New("damaged")
)

// Store is an open file. It is a [signformstest.Storage] and is safe for concurrent use.
type Store struct {
	path string
	lock *os.File
	db   *sql.DB

	mu     sync.Mutex // of all below, and one Save at a time
	writer *writer    // nil: to be opened by the next Save
	doubt  bool       // the last commit failed in a way that may have left it in the file
}

var _ signformstest.Storage = (*Store)(nil)

// busyFor is how long a statement waits for the lock of another process on the file: the sqlite3 shell, or a backup.
const busyFor = 5 * time.Second

// Open opens the file, or makes it, with its folder, readable by the owner alone. It follows symbolic links, and refuses a
// file that has further names (hard links): the lock, and SQLite's own files, go by the name. The caller closes it.
func Open(ctx context.Context, path string, mode Sync) (_ *Store, err error) {
	if mode != Normal && mode != Full {
		return nil, fmt.Errorf("sync %q is neither %s nor %s", mode, Normal, Full)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the data file: %w", err)
	}
	if path, err = onlyName(path); err != nil {
		return nil, fmt.Errorf("the data file: %w", err)
	}
	lock, err := takeLock(path + ".lock")
	switch {
	case errors.Is(err, ErrInUse):
		return nil, fmt.Errorf("the data file %s is %w; stop that, or choose another file", path, err)
	case err != nil:
		return nil, fmt.Errorf("locking the data file: %w", err)
	}
	s := &Store{path: path, lock: lock}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := create(path); err != nil {
		return nil, err
	}
	if s.db, err = sql.Open("sqlite", dataSource(path, mode)); err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.db); err != nil {
		return nil, s.refusal(err)
	}
	if s.writer, err = openWriter(ctx, s.db); err != nil {
		return nil, s.refusal(err)
	}
	return s, nil
}

// create makes the file unless it is there. SQLite would make it readable for all; it gives its other files the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("opening the data file: %w", err)
	}
	return f.Close()
}

func dataSource(path string, mode Sync) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	pragmas := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds()),
		"synchronous(" + string(mode) + ")",
		"cache_size(-16384)",           // KiB
		"journal_size_limit(67108864)", // what is left of the WAL after a checkpoint
	}}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: pragmas.Encode()}).String()
}

// Path is the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Load implements [signformstest.Storage].
func (s *Store) Load(ctx context.Context, yield func(signformstest.Record) error) error {
	if err := s.resolve(ctx); err != nil {
		return err
	}
	kinds, err := tables(ctx, s.db)
	if err != nil {
		return s.refusal(err)
	}
	for _, kind := range kinds {
		if kind == signformstest.BlobKind {
			continue
		}
		if err := s.loadKind(ctx, kind, yield); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) loadKind(ctx context.Context, kind string, yield func(signformstest.Record) error) error {
	rows, err := s.db.QueryContext(ctx, `select id, data from "`+kind+`"`)
	if err != nil {
		return s.refusal(err)
	}
	defer rows.Close()
	for rows.Next() {
		r := signformstest.Record{Kind: kind}
		if err := rows.Scan(&r.ID, &r.Data); err != nil {
			return s.refusal(err)
		}
		if r.Data == nil {
			r.Data = []byte{} // the driver's form of an empty value; nil would delete
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return s.refusal(rows.Err())
}

// resolve settles whether the last commit happened. What it may have left at the end of the WAL is not visible, but would be
// replayed if the process died now; the next commit overwrites it.
func (s *Store) resolve(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.doubt {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, `update _meta set value = value + 1 where name = 'resolved'`); err != nil {
		return s.refusal(err)
	}
	s.doubt = false
	return nil
}

// Save implements [signformstest.Storage]. Once it has begun it does not end with ctx: it takes no longer than a write to
// the disk, and a wait of at most 5 seconds for another process.
func (s *Store) Save(ctx context.Context, records []signformstest.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		w, err := openWriter(ctx, s.db)
		if err != nil {
			return fmt.Errorf("saving: %w", err)
		}
		s.writer = w
	}
	if err := s.writer.write(ctx, records); err != nil {
		s.rollBack(ctx)
		return fmt.Errorf("saving: %w", err)
	}
	err := s.writer.commit(ctx)
	if err == nil {
		s.doubt = false
		return nil
	}
	s.rollBack(ctx)
	if notCommitted(err) {
		return fmt.Errorf("saving: %w", err)
	}
	s.doubt = true
	return fmt.Errorf("%w: %w", signformstest.ErrSaveUnknown, err)
}

// rollBack undoes what was not committed. A connection that cannot is closed, which does it too.
func (s *Store) rollBack(ctx context.Context) {
	if s.writer.rollBack(ctx) != nil {
		s.writer.discard()
		s.writer = nil
	}
}

// notCommitted tells of a commit's error whether nothing can have remained of the commit. That is so when another process
// had the lock, and when the disk was full: the WAL's frames are written in order, the last one makes the commit, and
// SQLITE_FULL means that one of them was not written whole. Other errors come from steps after that as well.
func notCommitted(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL:
		return true
	}
	return false
}

// code is the primary result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Blob implements [signformstest.Storage]. A blob that is not there is an error that matches [fs.ErrNotExist].
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	var data []byte
	err := s.db.QueryRowContext(ctx, `select data from blob where id = ?`, hash).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("blob %s: %w", hash, fs.ErrNotExist)
	}
	return data, s.refusal(err)
}

// refusal says what to do about an error of the file.
func (s *Store) refusal(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the data file %s is %w (%w); put a copy of it back, or move it away to start empty; sqlite3's .recover may get records out of it", s.path, ErrDamaged, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the data file %s cannot be written (%w); make it and its folder writable for this user", s.path, err)
	}
	if err != nil {
		return fmt.Errorf("the data file %s: %w", s.path, err)
	}
	return nil
}

// Close writes the WAL into the file and frees it for other programs. It may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.db != nil {
		errs = append(errs, s.db.Close()) // the last connection's end is a checkpoint
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close()) // the file stays: removing it would race with the next one's lock
		s.lock = nil
	}
	return errors.Join(errs...)
}
