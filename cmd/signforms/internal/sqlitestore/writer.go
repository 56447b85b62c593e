package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/signforms/signforms-go/signformstest"
)

// writer is the one connection that writes, with its prepared statements.
type writer struct {
	conn             *sql.Conn
	begin, end, undo *sql.Stmt
	puts, deletes    map[string]*sql.Stmt // by kind
}

// openWriter takes a connection, and checks that it may write.
func openWriter(ctx context.Context, db *sql.DB) (_ *writer, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, puts: map[string]*sql.Stmt{}, deletes: map[string]*sql.Stmt{}}
	defer func() {
		if err != nil {
			w.discard()
		}
	}()
	for stmt, text := range map[**sql.Stmt]string{&w.begin: "begin immediate", &w.end: "commit", &w.undo: "rollback"} {
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

// write puts and deletes the records in a transaction that it leaves open.
func (w *writer) write(ctx context.Context, records []signformstest.Record) error {
	for _, r := range records {
		if err := w.prepare(ctx, r.Kind); err != nil {
			return err
		}
	}
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	for _, r := range records {
		if err := w.writeOne(ctx, r); err != nil {
			return fmt.Errorf("%s %s: %w", r.Kind, r.ID, err)
		}
	}
	return nil
}

func (w *writer) writeOne(ctx context.Context, r signformstest.Record) error {
	if r.Data == nil {
		_, err := w.deletes[r.Kind].ExecContext(ctx, r.ID)
		return err
	}
	_, err := w.puts[r.Kind].ExecContext(ctx, r.ID, value(r))
	return err
}

// value returns the value of the column data. Valid UTF-8 becomes text, so that sqlite3's JSON functions can read it.
func value(r signformstest.Record) any {
	if r.Kind != signformstest.BlobKind && utf8.Valid(r.Data) {
		return string(r.Data)
	}
	return r.Data
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
	for _, stmt := range []*sql.Stmt{w.begin, w.end, w.undo} {
		if stmt != nil {
			stmt.Close()
		}
	}
	for kind := range w.puts {
		w.puts[kind].Close()
		w.deletes[kind].Close()
	}
}

// kindName matches valid kinds. SQLite reserves names that begin with sqlite_, and this package those that begin with an
// underscore.
var kindName = regexp.MustCompile(`^[a-z][a-z_]*$`)

// prepare makes the table of a kind if it is missing, and prepares its statements. The table is not part of the transaction of the
// Save: an empty table does no harm if the transaction is undone.
func (w *writer) prepare(ctx context.Context, kind string) error {
	if w.puts[kind] != nil {
		return nil
	}
	if !kindName.MatchString(kind) || strings.HasPrefix(kind, "sqlite_") {
		return fmt.Errorf("%q is not a kind of record", kind)
	}
	if _, err := w.conn.ExecContext(ctx, createTable(kind)); err != nil {
		return err
	}
	put, err := w.conn.PrepareContext(ctx, `insert into "`+kind+`" (id, data) values (?, ?) on conflict (id) do update set data = excluded.data`)
	if err != nil {
		return err
	}
	del, err := w.conn.PrepareContext(ctx, `delete from "`+kind+`" where id = ?`)
	if err != nil {
		put.Close()
		return err
	}
	w.puts[kind], w.deletes[kind] = put, del
	return nil
}
