package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver"
)

// writer is the only connection that writes records, with its prepared statements.
type writer struct {
	conn                             *sql.Conn
	begin, end, undo                 *sql.Stmt
	put, delete, putFile, deleteFile *sql.Stmt
}

// openWriter opens a connection and prepares the statements.
func openWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn}
	for stmt, text := range map[**sql.Stmt]string{
		&w.begin: "begin immediate", &w.end: "commit", &w.undo: "rollback",
		// stored as text, so that SQLite's JSON functions can read it
		&w.put:        "insert into record values (?, ?, cast(? as text)) on conflict do update set data = excluded.data",
		&w.delete:     "delete from record where kind = ? and id = ?",
		&w.putFile:    "insert into file values (?, ?) on conflict do nothing",
		&w.deleteFile: "delete from file where id = ?",
	} {
		if *stmt, err = w.conn.PrepareContext(ctx, text); err != nil {
			return w, err
		}
	}
	return w, nil
}

// close closes the statements too: while one is open, SQLite keeps a closed connection alive, and with it the WAL.
func (w *writer) close() error {
	for _, stmt := range []*sql.Stmt{w.begin, w.end, w.undo, w.put, w.delete, w.putFile, w.deleteFile} {
		if stmt != nil {
			stmt.Close()
		}
	}
	return w.conn.Close()
}

// write puts and deletes the records in a transaction. It leaves the transaction open, or rolls it
// back after an error.
func (w *writer) write(ctx context.Context, records []refserver.Record) error {
	if _, err := w.begin.ExecContext(ctx); err != nil {
		w.rollBack(ctx)
		return err
	}
	for _, r := range records {
		if err := w.one(ctx, r); err != nil {
			w.rollBack(ctx)
			return fmt.Errorf("%s %s: %w", r.Kind, r.ID, err)
		}
	}
	return nil
}

func (w *writer) one(ctx context.Context, r refserver.Record) (err error) {
	switch isFile := r.Kind == refserver.BlobKind; {
	case isFile && r.Data == nil:
		_, err = w.deleteFile.ExecContext(ctx, r.ID)
	case isFile:
		_, err = w.putFile.ExecContext(ctx, r.ID, r.Data)
	case r.Data == nil:
		_, err = w.delete.ExecContext(ctx, r.Kind, r.ID)
	default:
		_, err = w.put.ExecContext(ctx, r.Kind, r.ID, r.Data)
	}
	return err
}

func (w *writer) commit(ctx context.Context) error {
	_, err := w.end.ExecContext(ctx)
	if err != nil {
		w.rollBack(ctx)
	}
	return err
}

// rollBack rolls a transaction back. It fails if SQLite has already rolled it back. No other
// transaction can begin while one is open.
func (w *writer) rollBack(ctx context.Context) { _, _ = w.undo.ExecContext(ctx) }
