package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/refserver"
)

// writer is the one connection that writes, with its prepared statements.
type writer struct {
	conn                   *sql.Conn
	begin, end, undo, note *sql.Stmt
	kinds                  map[string]*statements
}

// statements are those of the records of one kind.
type statements struct {
	put, del *sql.Stmt
	sum      *sql.Stmt // nil for blobs
}

// openWriter takes a connection, and checks that it may write.
func openWriter(ctx context.Context, db *sql.DB) (_ *writer, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, kinds: map[string]*statements{}}
	defer func() {
		if err != nil {
			w.discard()
		}
	}()
	for stmt, text := range map[**sql.Stmt]string{
		&w.begin: "begin immediate", &w.end: "commit", &w.undo: "rollback",
		&w.note: "update _saved set saves = saves + 1, sums = sums + ? returning saves",
	} {
		if *stmt, err = conn.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return nil, err
	}
	if _, err := w.undo.ExecContext(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// write puts and deletes the records in a transaction that it leaves open. It returns the number of the Save.
func (w *writer) write(ctx context.Context, records []refserver.Record) (number int64, err error) {
	for _, r := range records {
		if err := w.prepare(ctx, r.Kind); err != nil {
			return 0, err
		}
	}
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return 0, err
	}
	sums := int64(0)
	for _, r := range records {
		change, err := w.kinds[r.Kind].write(ctx, r)
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", r.Kind, r.ID, err)
		}
		sums += change
	}
	return number, w.note.QueryRowContext(ctx, sums).Scan(&number)
}

// write puts or deletes a record, and returns by how much that changes the sum of all records' checksums.
func (s *statements) write(ctx context.Context, r refserver.Record) (change int64, err error) {
	if s.sum != nil {
		var before int64
		if err := s.sum.QueryRowContext(ctx, r.ID).Scan(&before); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		change = -before
	}
	switch {
	case r.Data == nil:
		_, err = s.del.ExecContext(ctx, r.ID)
	case s.sum == nil:
		_, err = s.put.ExecContext(ctx, r.ID, r.Data)
	default:
		sum := recordSum(r.Kind, r.ID, r.Data)
		change += sum
		_, err = s.put.ExecContext(ctx, r.ID, value(r.Data), sum)
	}
	return change, err
}

// value returns the value of the column data. Valid UTF-8 becomes text, so that sqlite3's JSON functions can read it.
func value(data []byte) any {
	if utf8.Valid(data) {
		return string(data)
	}
	return data
}

func (w *writer) commit(ctx context.Context) error {
	_, err := w.end.ExecContext(ctx)
	return err
}

func (w *writer) rollBack(ctx context.Context) error {
	_, err := w.undo.ExecContext(ctx)
	return err
}

// close returns the connection to the pool.
func (w *writer) close() error {
	w.finalize()
	return w.conn.Close()
}

// discard closes the connection, which undoes what it has not committed.
func (w *writer) discard() {
	w.finalize()
	w.conn.Raw(func(any) error { return driver.ErrBadConn }) // tells the pool to drop the connection
	w.conn.Close()
}

// finalize closes the statements. While one is open, SQLite keeps a closed connection alive, and with it the WAL.
func (w *writer) finalize() {
	all := []*sql.Stmt{w.begin, w.end, w.undo, w.note}
	for _, k := range w.kinds {
		all = append(all, k.put, k.del, k.sum)
	}
	for _, stmt := range all {
		if stmt != nil {
			stmt.Close()
		}
	}
}

// kindName matches valid kinds. SQLite reserves names that begin with sqlite_, and this package those that begin with an
// underscore.
var kindName = regexp.MustCompile(`^[a-z][a-z_]*$`)

// prepare makes the table of a kind if it is missing, and prepares its statements. The table is not part of the transaction of the
// Save: an empty table does no harm if the transaction is undone.
func (w *writer) prepare(ctx context.Context, kind string) error {
	if w.kinds[kind] != nil {
		return nil
	}
	if !kindName.MatchString(kind) || strings.HasPrefix(kind, "sqlite_") {
		return fmt.Errorf("%q is not a kind of record", kind)
	}
	k := &statements{}
	texts := map[**sql.Stmt]string{
		&k.put: `insert into "` + kind + `" (id, data) values (?, ?) on conflict (id) do update set data = excluded.data`,
		&k.del: `delete from "` + kind + `" where id = ?`,
	}
	if kind != refserver.BlobKind {
		if _, err := w.conn.ExecContext(ctx, createTable(kind)); err != nil {
			return err
		}
		texts[&k.put] = `insert into "` + kind + `" (id, data, sum) values (?, ?, ?) on conflict (id) do update set data = excluded.data, sum = excluded.sum`
		texts[&k.sum] = `select sum from "` + kind + `" where id = ?`
	}
	w.kinds[kind] = k // also when a statement fails: then nothing is begun that could be undone, so the writer is discarded
	for stmt, text := range texts {
		var err error
		if *stmt, err = w.conn.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
