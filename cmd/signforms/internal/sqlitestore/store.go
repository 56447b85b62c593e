package sqlitestore

import (
	"bytes"
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
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Sync says what a Save survives.
type Sync string

const (
	Normal Sync = "normal" // the death of the process; after a loss of power the file is intact, but the last saves may be missing
	Full   Sync = "full"   // also a loss of power; every Save syncs the disk
)

// Why [Open] refuses a file, for errors.Is.
var (
	ErrInUse   = filelock.ErrLocked
	ErrNewer   = errors.New("written by a newer version of this program")
	ErrForeign = errors.New("not a data file of this program")
	ErrDamaged = errors.New("damaged")
	ErrFull    = errors.New("the disk is full")
)

// Store is an open file. It is the [refserver.Storage] of the first workspace, and is safe for concurrent use.
type Store struct {
	path    string
	open    openFile
	db      *sql.DB
	missing int64

	mu     sync.Mutex // guards the fields below, and allows one Save at a time
	writer *writer    // nil: the next Save opens one
	doubt  bool       // the last commit failed, but may be in the file
}

var _ refserver.Storage = (*Store)(nil)

// busyFor is how long a statement waits while another process, such as the sqlite3 shell or a backup, has the file locked.
const busyFor = 5 * time.Second

// Open opens the file at path, or makes it and its folder, readable only by the owner. It follows symbolic links. It refuses a file
// with several names (hard links), because the lock and SQLite's own files are found by name. The caller closes the Store.
func Open(ctx context.Context, path string, mode Sync) (_ *Store, err error) {
	if mode != Normal && mode != Full {
		return nil, fmt.Errorf("sync %q is neither %s nor %s", mode, Normal, Full)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
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
	s := &Store{path: path, open: openFile{path: path, lock: lock}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.open.file, err = openData(path); err != nil {
		return nil, err
	}
	if err := nameHolder(lock); err != nil {
		return nil, fmt.Errorf("writing to the lock file: %w", err)
	}
	last, err := s.open.witness()
	if err != nil {
		return nil, s.refusal(err)
	}
	if s.db, err = sql.Open("sqlite", dataSource(path, mode)); err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.db); err != nil {
		return nil, s.refusal(err)
	}
	if err := s.openWriter(ctx); err != nil {
		return nil, s.refusal(err)
	}
	return s, s.count(ctx, last)
}

// count compares the number of Saves in the file with that of the witness, if there is one.
func (s *Store) count(ctx context.Context, last *witness) error {
	if err := s.saved(ctx, s.db, "saves", &s.open.last.saves); err != nil {
		return err
	}
	if last != nil {
		s.missing = max(last.saves-s.open.last.saves, 0)
	}
	return nil
}

// saved reads a column of the one row that is about all Saves.
func (s *Store) saved(ctx context.Context, db reader, column string, to *int64) error {
	err := db.QueryRowContext(ctx, `select `+column+` from _saved`).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return s.damaged(errors.New("the row that counts its changes is missing"))
	}
	return s.refusal(err)
}

// Missing returns how many of the last Saves were not in the file when it was opened, as the lock file of the program before knows
// them. That is so after a loss of power with [Normal], and when a WAL was damaged or removed. It is 0 when the lock file is gone.
func (s *Store) Missing() int64 { return s.missing }

// Sync returns when all that was saved is on the disk. With [Full] it always is.
func (s *Store) Sync(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `pragma wal_checkpoint(passive)`)
	return s.refusal(err)
}

func (s *Store) openWriter(ctx context.Context) (err error) {
	if err := s.open.check(); err != nil {
		return err
	}
	if s.writer, err = openWriter(ctx, s.db); err != nil {
		return err
	}
	return s.open.openWAL()
}

// makeFolder makes a folder and those above it that are missing. Their names survive a loss of power.
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

func dataSource(path string, mode Sync) string {
	pragmas := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds()),
		"synchronous(" + string(mode) + ")",
		"cache_size(-16384)",           // KiB
		"journal_size_limit(67108864)", // bytes; the WAL is cut to this size after a checkpoint
	}}
	return fileURL(path, pragmas.Encode())
}

// fileURL names a file to SQLite by its absolute path.
func fileURL(path, query string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query}).String()
}

// Path is the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Load implements [refserver.Storage]. It compares each record, and all of them together, with their checksums.
func (s *Store) Load(ctx context.Context, yield func(refserver.Record) error) error {
	return s.load(ctx, yieldFirst(yield), s.damaged)
}

// load reads the records of all workspaces as they are at one moment, because others may save meanwhile. It calls bad with what the
// checksums show, and goes on when bad returns nil.
func (s *Store) load(ctx context.Context, yield func(refserver.Record) error, bad func(error) error) error {
	if err := s.resolve(ctx); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.refusal(err)
	}
	defer tx.Rollback()
	kinds, err := tables(ctx, tx)
	if err != nil {
		return s.refusal(err)
	}
	var sums, want int64
	for _, kind := range kinds {
		if kind == refserver.BlobKind {
			continue
		}
		sum, err := s.loadKind(ctx, tx, kind, everyID, yield, bad)
		if err != nil {
			return err
		}
		sums += sum
	}
	if err := s.saved(ctx, tx, "sums", &want); err != nil {
		return err
	}
	if sums != want {
		return bad(errors.New("records are missing from it, or are older than the last that were saved"))
	}
	return nil
}

// loadKind returns the sum of the checksums of what it has read.
func (s *Store) loadKind(ctx context.Context, db reader, kind string, ids selection, yield func(refserver.Record) error, bad func(error) error) (sums int64, err error) {
	rows, err := db.QueryContext(ctx, `select id, data, sum from "`+kind+`" where `+ids.where, ids.args...)
	if err != nil {
		return 0, s.refusal(err)
	}
	defer rows.Close()
	for rows.Next() {
		r := refserver.Record{Kind: kind}
		var sum int64
		if err := rows.Scan(&r.ID, &r.Data, &sum); err != nil {
			return 0, s.refusal(err)
		}
		sums += sum
		if r.Data == nil {
			r.Data = []byte{} // the driver returns nil for an empty value, but nil Data means a deleted record
		}
		if sum != recordSum(kind, r.ID, r.Data) {
			if err := bad(fmt.Errorf("%s %s is not as it was saved: its checksum is another", kind, r.ID)); err != nil {
				return 0, err
			}
		}
		if err := yield(r); err != nil {
			return 0, err
		}
	}
	return sums, s.refusal(rows.Err())
}

// resolve finds out whether a commit in doubt happened. A failed commit may have left frames at the end of the WAL. They are not
// visible, but SQLite would replay them if the process died now. The commit here overwrites them.
func (s *Store) resolve(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.doubt {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, `update _saved set saves = saves + 1`); err != nil {
		return s.refusal(err)
	}
	s.doubt = false
	return nil
}

// Save implements [refserver.Storage]. Once it has begun it ignores ctx, because it takes only as long as a write to the disk,
// and each of its statements waits at most 5 seconds for another process.
func (s *Store) Save(ctx context.Context, records []refserver.Record) error {
	for _, r := range records {
		if strings.Contains(r.ID, "/") {
			return fmt.Errorf("%w: the id %q holds a slash, as those of other workspaces do", refserver.ErrRolledBack, r.ID)
		}
	}
	return s.save(ctx, records)
}

// errDoubt is matched by an error of a save that may have been carried out.
var errDoubt = errors.New("the records may have been saved")

// save saves the records. Its error matches [refserver.ErrRolledBack] unless the save may have been carried out.
func (s *Store) save(ctx context.Context, records []refserver.Record) error {
	err := s.trySave(ctx, records)
	if err == nil || errors.Is(err, errDoubt) {
		return err
	}
	return fmt.Errorf("%w: %w", refserver.ErrRolledBack, err)
}

func (s *Store) trySave(ctx context.Context, records []refserver.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		if err := s.openWriter(ctx); err != nil {
			return fmt.Errorf("saving: %w", s.refusal(err))
		}
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	var number int64
	err := s.open.stamp(ctx, s.writer.conn)
	if err == nil {
		number, err = s.writer.write(ctx, records)
	}
	if err != nil {
		s.rollBack(ctx)
		return fmt.Errorf("saving: %w", s.refusal(err))
	}
	if err = s.writer.commit(ctx); err == nil {
		s.doubt = false
		_ = s.open.saved(number)          // an older number shows less, but nothing that is false
		if err := s.Check(); err != nil { // after the commit, because the file could be moved until then
			return fmt.Errorf("%w: %w", errDoubt, err)
		}
		return nil
	}
	s.rollBack(ctx)
	if notCommitted(err) {
		return fmt.Errorf("saving: %w", s.refusal(err))
	}
	s.doubt = true
	return fmt.Errorf("%w: %w", errDoubt, s.refusal(err))
}

// rollBack undoes what was not committed. If that fails, it closes the connection, which undoes it too.
func (s *Store) rollBack(ctx context.Context) {
	if s.writer.rollBack(ctx) != nil {
		s.writer.discard()
		s.writer = nil
		s.open.closeWAL()
	}
}

// notCommitted reports whether a failed commit can have left nothing in the file. That is so when another process had the lock, and
// when the disk was full: the last frame in the WAL makes the commit, frames are written in order, and SQLITE_FULL means that one of
// them is incomplete. Other errors may also come from later steps.
func notCommitted(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL:
		return true
	}
	return false
}

// code returns the primary result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Blob implements [refserver.Storage]. The error for an unknown blob matches [fs.ErrNotExist].
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var data []byte
	err := s.db.QueryRowContext(ctx, `select data from blob where id = ?`, hash).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("blob %s: %w", hash, fs.ErrNotExist)
	}
	return data, s.refusal(err)
}

// refusal adds to an error of the file what to do about it. It returns nil for nil.
func (s *Store) refusal(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return s.damaged(err)
	case sqlite3.SQLITE_FULL:
		return s.full(err)
	case sqlite3.SQLITE_IOERR: // also when there is no room for the -shm
		if noRoom(filepath.Dir(s.path)) {
			return s.full(err)
		}
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the data file %s cannot be written (%w); make it and its folder writable for this user", s.path, err)
	}
	if err != nil {
		return fmt.Errorf("the data file %s: %w", s.path, err)
	}
	return nil
}

func (s *Store) full(err error) error {
	return fmt.Errorf("the data file %s: %w (%w); make room", s.path, ErrFull, err)
}

// noRoom reports whether a folder has no room for 64 KiB, about what an open file of SQLite needs beside it. Another failure of the try
// says nothing about that.
func noRoom(folder string) bool {
	f, err := os.CreateTemp(folder, ".room-")
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte{1}, 64<<10))
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func (s *Store) damaged(err error) error {
	return fmt.Errorf("the data file %s is %w (%w); put a copy of it back, or move it away to start empty, each time moving its -wal and -shm away too; sqlite3's .recover may get records out of it", s.path, ErrDamaged, err)
}

// abandon leaves SQLite open, since closing it would write the WAL into contents that it does not belong to. The WAL gets a name at
// which no program takes it for a part of the file.
func (s *Store) abandon() error {
	s.writer, s.db = nil, nil
	return os.Rename(s.path+"-wal", s.path+"-wal.replaced")
}

// Close writes the WAL into the file and frees the lock. It may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.db != nil && s.open.file != nil && errors.Is(s.open.check(), errReplaced) {
		errs = append(errs, s.abandon())
	}
	if s.writer != nil {
		if s.Check() != nil { // then SQLite closes without a checkpoint, and leaves the WAL of another file alone
			_, err := s.writer.conn.ExecContext(context.Background(), `pragma wal_checkpoint(truncate)`)
			errs = append(errs, err)
		}
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.db != nil {
		errs = append(errs, s.db.Close()) // closing the last connection makes a checkpoint
	}
	if s.open.file != nil {
		errs = append(errs, s.open.file.Close())
		s.open.file = nil
	}
	if s.open.lock != nil {
		errs = append(errs, s.open.lock.Close()) // the lock file stays: removing it would race with the next process that locks it
		s.open.lock = nil
	}
	return errors.Join(errs...)
}
