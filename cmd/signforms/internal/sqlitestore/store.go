// Package sqlitestore keeps the state of a sandbox in an SQLite file, which one program uses at a
// time. After an error with an unknown outcome, the file counts as failed, and only the next start
// shows its content.
//
// Start with [Open]. [Backup] copies a file, even a file in use, and [Check] checks a file.
package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signforms/signforms-go/internal/filelock"
	"github.com/signforms/signforms-go/internal/refserver"
)

// The reasons why [Open] refuses a file, for errors.Is.
var (
	ErrInUse   = filelock.ErrLocked
	ErrSchema  = errors.New("written by another version of this program")
	ErrForeign = errors.New("not a data file of this program")
	ErrDamaged = errors.New("damaged")
	ErrFull    = errors.New("the disk is full")
	ErrLimit   = errors.New("too many open files")
	ErrAccess  = errors.New("cannot be written")
)

// Store is an open file. It is the [refserver.Storage] of one workspace, and is safe for concurrent use.
type Store struct {
	path string
	file *os.File // locked; closing any descriptor of the file drops SQLite's own locks on it, so it is closed after SQLite
	open os.FileInfo
	db   *sql.DB

	mu     sync.Mutex // allows one Save at a time
	writer *writer
	failed error // why nothing can be saved before the next start; nil: the file can be used
}

var _ refserver.Storage = (*Store)(nil)

// Options of [Open].
type Options struct {
	Full    bool   // each Save syncs the disk and survives a loss of power; if false, the last Saves may be missing after a loss of power, but the file is intact
	Program string // version of this program, which a new file contains; a version that cannot read the file prints it
}

// Open opens the file with the name, or makes it and its folder, readable only by the owner.
// The caller closes the Store.
func Open(ctx context.Context, name string, o Options) (_ *Store, err error) {
	path, err := realPath(name)
	if err != nil {
		return nil, refusal(name, err)
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("making the folder of the data file: %w", err)
	}
	s := &Store{path: path}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.file, err = openLocked(path); limited(err) {
		err = refusal(path, err)
	}
	if err != nil {
		return nil, err
	}
	if s.open, err = s.file.Stat(); err != nil {
		return nil, err
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 && s.open.Size() == 0 { // SQLite would delete the WAL
		return nil, damaged(path, errors.New("it is empty, and its -wal is not"))
	}
	if s.db, err = sql.Open("sqlite", dataSource(path, o.Full)); err != nil {
		return nil, err
	}
	if err := prepare(ctx, s.db, o.Program); err != nil {
		return nil, refusal(path, err)
	}
	s.writer, err = openWriter(ctx, s.db)
	return s, refusal(path, err)
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Load implements [refserver.Storage].
func (s *Store) Load(ctx context.Context, yield func(refserver.Record) error) error {
	return s.each(ctx, `select kind, id, data from record`, func(rows *sql.Rows) error {
		var r refserver.Record
		if err := rows.Scan(&r.Kind, &r.ID, &r.Data); err != nil {
			return err
		}
		if r.Data == nil {
			r.Data = []byte{} // the driver returns nil for an empty value, but nil Data means a deleted record
		}
		return yield(r)
	})
}

// each calls fn for each row of a query, and returns the first error of fn.
func (s *Store) each(ctx context.Context, query string, fn func(*sql.Rows) error) error {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return refusal(s.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return refusal(s.path, rows.Err())
}

// Save implements [refserver.Storage]. After it has begun, Save ignores ctx. It takes only as long
// as a write to the disk, and each of its statements waits at most 5 seconds for another process.
func (s *Store) Save(ctx context.Context, records []refserver.Record) error {
	if err := ctx.Err(); err != nil {
		return rolledBack(err)
	}
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if err := s.writer.write(ctx, records); err != nil {
		return rolledBack(refusal(s.path, err))
	}
	err := s.writer.commit(ctx)
	if err != nil && notCommitted(err) {
		return rolledBack(refusal(s.path, err))
	}
	if err == nil {
		err = s.inPlace() // checked after the commit, because the file could be moved until then
	}
	if err != nil {
		s.failed = refusal(s.path, err)
	}
	return s.failed
}

// rolledBack returns an error that means that nothing was changed.
func rolledBack(err error) error { return fmt.Errorf("%w: %w", refserver.ErrRolledBack, err) }

// notCommitted reports whether a failed commit has certainly left nothing in the file. There are
// two such cases:
//
//   - Another process had the lock.
//   - The disk was full. The last frame in the WAL makes the commit, frames are written in order,
//     and SQLITE_FULL means that a frame is incomplete.
//
// Other errors may also come from later steps.
func notCommitted(err error) bool {
	return code(err) == sqlite3.SQLITE_BUSY || code(err) == sqlite3.SQLITE_FULL
}

var errMoved = errors.New("it was moved, removed or replaced while this program had it open: stop the program, put the file back, and start again")

// inPlace returns an error if the path does not lead to the open file.
func (s *Store) inPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.open) {
		return errMoved
	}
	return err
}

// Blob implements [refserver.Storage]. The error for an unknown blob matches [fs.ErrNotExist].
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	var data []byte
	err := s.db.QueryRowContext(ctx, `select data from file where id = ?`, hash).Scan(&data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("blob %s: %w", hash, fs.ErrNotExist)
	case err != nil:
		return nil, refusal(s.path, err)
	case hashOf(data) != hash:
		return nil, refusal(s.path, fmt.Errorf("%w: the stored PDF or image %s is damaged", ErrDamaged, hash))
	}
	return data, nil
}

// Value returns the text that SetValue has saved under a name, or "".
func (s *Store) Value(ctx context.Context, name string) (value string, err error) {
	err = s.db.QueryRowContext(ctx, `select value from meta where name = ?`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, refusal(s.path, err)
}

// SetValue saves a value of the program itself under a name.
func (s *Store) SetValue(ctx context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	_, err := s.db.ExecContext(ctx, `insert into meta values (?, ?) on conflict do update set value = excluded.value`, name, value)
	return refusal(s.path, err)
}

// Sync makes all earlier changes survive a loss of power, also without [Options.Full]. It waits for no reader.
func (s *Store) Sync(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `pragma wal_checkpoint(passive)`) // syncs the WAL first
	return refusal(s.path, err)
}

// Close writes the WAL into the file and frees the lock. It may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.failed == nil {
		s.failed = errors.New("the data file is closed")
	}
	if s.writer != nil { // if the file was replaced, SQLite itself would leave its WAL next to the new file
		_, err := s.writer.conn.ExecContext(context.Background(), `pragma wal_checkpoint(truncate)`)
		errs = append(errs, err, s.writer.close())
		s.writer = nil
	}
	if s.db != nil {
		errs = append(errs, s.db.Close()) // closing the last connection runs a checkpoint
	}
	if s.file != nil {
		errs = append(errs, s.file.Close())
		s.file = nil
	}
	return errors.Join(errs...)
}

// Remove closes the Store and deletes its file.
func (s *Store) Remove() error { return errors.Join(s.Close(), Delete(s.path)) }

// Delete deletes the file at path, which must not be open, and the files that SQLite keeps next to
// it.
func Delete(path string) error {
	var errs []error
	for _, suffix := range beside {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
