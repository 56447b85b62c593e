package sqlitestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/refserver"
)

var errEmpty = fmt.Errorf("%w: it holds nothing yet", ErrForeign)

// beside are the suffixes of the names of a data file and of the files that SQLite keeps next to
// it.
var beside = []string{"", "-wal", "-shm", "-journal"}

// Backup copies the file at path, which may be in use, to a new file that only the owner can read.
// The copy has the state at the time when Backup began. Backup does not replace an existing file.
func Backup(ctx context.Context, path, to string) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	for _, suffix := range beside {
		if _, err := os.Lstat(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: choose another name for the copy", to+suffix)
		}
	}
	full, err := realPath(path)
	if err != nil {
		return refusal(path, err)
	}
	db, err := sql.Open("sqlite", dataSource(full, false)+"&mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	if empty, err := checkSchema(ctx, db); err != nil || empty {
		return refusal(path, cmp.Or(err, errEmpty))
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(to)
		}
	}()
	if _, err := db.ExecContext(ctx, `vacuum into ?`, to); err != nil {
		return fmt.Errorf("copying %s: %w", path, err)
	}
	return errors.Join(file.Sync(), atomicfile.SyncDir(filepath.Dir(to)))
}

// Contents is the result of Check.
type Contents struct{ Records, Files int }

// Check checks a file that no program uses. It runs SQLite's integrity_check, reads the records up
// to the first one that a start would refuse, and compares the files with their SHA-256. It calls
// values for the values that [Store.SetValue] saved, and problem with each problem.
func Check(ctx context.Context, path string, problem func(string), values func(context.Context, *Store, func(string))) (found Contents, err error) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return found, cmp.Or(err, errEmpty)
	}
	s, err := Open(ctx, path, Options{})
	if errors.Is(err, ErrInUse) {
		err = fmt.Errorf("%w; or make a copy with signforms backup, and check that", err)
	}
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.check(ctx, "integrity_check", problem); err != nil {
		return found, err
	}
	missing := map[string]bool{}
	if found.Records, err = refserver.CheckStorage(ctx, s, func(hash string) { missing[hash] = true }); err != nil {
		problem(err.Error())
	}
	values(ctx, s, problem)
	err = s.each(ctx, `select id, data from file`, func(rows *sql.Rows) error {
		var id string
		var data []byte
		err := rows.Scan(&id, &data)
		if err == nil && hashOf(data) != id {
			problem("the PDF or image " + id + " is not as it was saved")
		}
		found.Files++
		delete(missing, id)
		return err
	})
	if err != nil {
		return found, err
	}
	for _, hash := range slices.Sorted(maps.Keys(missing)) {
		problem("the PDF or image " + hash + ", which a record has, is missing")
	}
	return found, nil
}

// check calls problem with each problem that an SQLite check finds in the file.
func (s *Store) check(ctx context.Context, name string, problem func(string)) error {
	return s.each(ctx, "pragma "+name, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		if err == nil && text != "ok" {
			problem(text)
		}
		return err
	})
}

// Sound returns an error that matches [ErrDamaged] if the structure of the file is damaged.
func (s *Store) Sound(ctx context.Context) error {
	problems := ""
	err := s.check(ctx, "quick_check", func(text string) { problems = text })
	if err == nil && problems != "" {
		err = refusal(s.path, fmt.Errorf("%w: %s", ErrDamaged, problems))
	}
	return err
}

// hashOf returns the id of a file.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
