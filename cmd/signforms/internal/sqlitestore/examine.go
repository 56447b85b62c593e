package sqlitestore

import (
	"cmp"
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

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Examination is a file that is open for reading alone: call no Save.
type Examination struct {
	*Store
	problem func(string)
	copied  *scratch // nil: the file itself is read
}

// Examine opens a file that no program uses, and keeps it from being used until Close, without changing anything there. A file that was
// not closed, or is an older version's, is examined in a temporary copy, as reading or migrating it would change it. problem is called
// with what the methods find.
func Examine(ctx context.Context, path string, problem func(string)) (*Examination, error) {
	e, last, err := openToRead(ctx, path)
	if err != nil {
		return nil, err
	}
	e.problem = problem
	if err = e.migrateCopy(ctx); err == nil {
		err = e.count(ctx, last)
	}
	if err != nil {
		e.Close()
		return nil, e.refusal(err)
	}
	if e.missing > 0 {
		problem(fmt.Sprintf("the last %d saves are missing: the power failed, the -wal was damaged or removed, or the file is a copy from before them", e.missing))
	}
	return e, nil
}

func openToRead(ctx context.Context, path string) (_ *Examination, last *witness, err error) {
	e, err := lockToRead(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if e.open.lock != nil {
		if last, err = e.open.witness(); err != nil {
			return nil, nil, e.refusal(err)
		}
	}
	if e.unclosed() {
		err = e.copy(ctx)
	} else {
		e.db, err = sql.Open("sqlite", fileURL(e.path, "mode=ro&immutable=1"))
	}
	if err != nil {
		return nil, nil, err
	}
	version, err := schemaVersion(ctx, e.db)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: it holds nothing yet", ErrForeign)
	}
	return e, last, e.refusal(err)
}

// migrateCopy brings an older version's file to the current schema, in a copy.
func (e *Examination) migrateCopy(ctx context.Context) error {
	version, err := schemaVersion(ctx, e.db)
	if err != nil || version == len(migrations) {
		return err
	}
	if e.copied == nil {
		e.db.Close()
		if err := e.copy(ctx); err != nil {
			return err
		}
	}
	return migrate(ctx, e.db)
}

// unclosed reports whether there is a WAL or a journal beside the file.
func (e *Examination) unclosed() bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(e.path + suffix); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// copy copies the file with what is beside it to a new folder, and opens the copy.
func (e *Examination) copy(ctx context.Context) (err error) {
	if e.copied, err = newScratch(ctx, os.TempDir()); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(e.copied.copy()+suffix, e.path+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copying a data file to examine the copy: %w", err)
		}
	}
	e.db, err = sql.Open("sqlite", fileURL(e.copied.copy(), "mode=rw"))
	return err
}

// lockToRead locks a file against Open. Examinations may go on side by side.
func lockToRead(path string) (_ *Examination, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if path, err = onlyName(path); err != nil {
		return nil, fmt.Errorf("the data file: %w", err)
	}
	e := &Examination{Store: &Store{path: path, open: openFile{path: path}}}
	if e.open.file, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("opening the data file: %w", err)
	}
	err = filelock.TryContent(e.open.file, true)
	if lock, missing := os.Open(path + ".lock"); missing == nil {
		e.open.lock = lock
	}
	unsupported := errors.Is(err, errors.ErrUnsupported)
	if unsupported {
		err = nil
	}
	if (err != nil || unsupported) && e.open.lock != nil { // only then, as its lock is that of the process which it names
		err = cmp.Or(tryLock(e.open.lock), err)
	}
	if errors.Is(err, ErrInUse) {
		err = fmt.Errorf("the data file %s is %w: stop that, or copy the file with signforms backup and check the copy", path, err)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Sync())
	return errors.Join(err, out.Close())
}

// Close frees the file.
func (e *Examination) Close() error {
	err := e.Store.Close()
	if e.copied != nil {
		err = errors.Join(err, e.copied.remove())
	}
	return err
}

// Load is that of a [Store], but goes on with a record that is not as it was saved, of whichever workspace.
func (e *Examination) Load(ctx context.Context, yield func(refserver.Record) error) error {
	return e.load(ctx, yieldFirst(yield), func(found error) error {
		e.problem(found.Error())
		return nil
	})
}

// Pages finds what is wrong with the file's pages and indexes by SQLite's own rules, 100 things at most.
func (e *Examination) Pages(ctx context.Context) error {
	return e.each(ctx, `pragma integrity_check(100)`, func(found string) {
		if found != "ok" {
			e.problem(found)
		}
	})
}

// Key returns the key that a program would find: see [Store.SealingKey]. It is empty when there is none yet.
func (e *Examination) Key(ctx context.Context) ([]byte, error) {
	key, old, _, err := e.keys(ctx)
	if len(key) == 0 {
		key = old
	}
	return key, err
}

// Blobs calls fn with the hash of each file that is stored. Before that of a workspace after the first stand its id and a slash.
func (e *Examination) Blobs(ctx context.Context, fn func(hash string)) error {
	return e.each(ctx, `select id from blob order by id`, fn)
}

// each calls fn with the texts that a query finds.
func (s *Store) each(ctx context.Context, query string, fn func(string), args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.refusal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return s.refusal(err)
		}
		fn(text)
	}
	return s.refusal(rows.Err())
}

// Backup copies the file at path, which may be in use, to a new file. The copy holds what was saved when Backup began. It is whole and
// on the disk when it gets its name, and replaces no file. Writers go on meanwhile. What a Backup leaves whose process is killed, the
// next one to the folder removes. The key of an older version's file, which is beside it, is copied too.
func Backup(ctx context.Context, path, to string) (err error) {
	if to == "" {
		return errors.New("the copy needs a name")
	}
	if err := free(to); err != nil {
		return err
	}
	source, release, err := openToCopy(ctx, path)
	if err != nil {
		return err
	}
	defer release()
	beside, err := newScratch(ctx, filepath.Dir(to))
	if err != nil {
		return err
	}
	defer beside.remove()
	temporary, err := os.OpenFile(beside.copy(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if _, err := source.ExecContext(ctx, `vacuum into ?`, temporary.Name()); err != nil {
		return errors.Join(fmt.Errorf("copying %s: %w", path, err), temporary.Close())
	}
	_, err = temporary.WriteAt(binary.BigEndian.AppendUint32(nil, rand.Uint32()), versionAt) // not that of the file: see openFile.stamp
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := copyFile(to+oldKey, path+oldKey); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := nameCopy(temporary.Name(), to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(to))
}

// free returns an error unless a copy can have the name. SQLite would take what is beside it for a part of it.
func free(to string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", oldKey} {
		if _, err := os.Lstat(to + suffix); err == nil {
			return fmt.Errorf("%s exists already: choose another name for the copy", to+suffix)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// nameCopy gives a file its name, which must be free. It uses a link, since a rename would replace what has appeared there meanwhile;
// where the disk has no links, it makes an empty file of that name first.
func nameCopy(temporary, to string) error {
	err := os.Link(temporary, to)
	if err == nil {
		return os.Remove(temporary)
	}
	if !errors.Is(err, fs.ErrExist) {
		var place *os.File
		if place, err = os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			return errors.Join(place.Close(), os.Rename(temporary, to))
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: choose another name for the copy", to)
	}
	return err
}

// openToCopy opens a file that is in use as another reader. One that is not is opened as by Examine, as SQLite would change it.
func openToCopy(ctx context.Context, path string) (db *sql.DB, release func() error, err error) {
	e, _, err := openToRead(ctx, path)
	if err == nil {
		return e.db, e.Close, nil
	}
	if !errors.Is(err, ErrInUse) {
		return nil, nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, nil, err
	}
	if db, err = sql.Open("sqlite", fileURL(path, fmt.Sprintf("mode=ro&_pragma=busy_timeout(%d)", busyFor.Milliseconds()))); err != nil {
		return nil, nil, err
	}
	if _, err := schemaVersion(ctx, db); err != nil {
		db.Close()
		return nil, nil, fmt.Errorf("the data file %s: %w", path, err)
	}
	return db, db.Close, nil
}
