// Package offers sends offers for signature with module outbox. Each offer is sent once, even if a
// process dies. The package is code to copy from; the README describes its behaviour. This file
// adds offers and stores their state; pdf.go stores the signed PDFs.
package offers

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/outbox"
)

const schema = `CREATE TABLE IF NOT EXISTS offers (
	ref TEXT PRIMARY KEY, email TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending', status TEXT NOT NULL DEFAULT '',
	document TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', pdf BLOB
)`

// Offer is an offer to one person. Ref is your own key of the offer.
type Offer struct {
	Ref, Template, Role, Name, Email string
}

// Row is the state of an offer. Note is the last error, or the documents among which a person has
// to choose.
type Row struct {
	Ref, Email, Document, Note string
	State                      outbox.State
	Status                     signforms.DocumentStatus
}

// Offers keeps offers in a SQLite database.
type Offers struct {
	Box    *outbox.Box // Box.Run sends the offers, and Box.Funcs receives events
	client *signforms.Client
	db     *sql.DB
	pdfs
}

// Open makes the tables. Give the client a LimitStore in a file, so that a restart does not forget the reminder limit.
func Open(ctx context.Context, db *sql.DB, client *signforms.Client, options outbox.Options) (*Offers, error) {
	a := &Offers{client: client, db: db}
	options.OnChange = a.changed
	_, err := db.ExecContext(ctx, schema)
	if err == nil {
		a.Box, err = outbox.Open(ctx, db, client, &options)
	}
	return a, err
}

// Add adds an offer and its row in one transaction. Adding the same offer again changes nothing.
func (a *Offers) Add(ctx context.Context, o Offer) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	_, err = tx.ExecContext(ctx, "INSERT INTO offers (ref, email) VALUES (?, ?) ON CONFLICT DO NOTHING", o.Ref, o.Email)
	if err == nil {
		err = a.Box.Add(ctx, tx, outbox.Message{
			Key: o.Ref,
			Send: signforms.TemplateSendParams{
				TemplateID: o.Template,
				Receivers:  []signforms.Receiver{{Name: o.Name, Email: o.Email, RoleTitle: o.Role}},
			},
			RemindAfter: []time.Duration{72 * time.Hour},
		})
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// changed writes the new state of an offer into its row. The box calls it after each change.
func (a *Offers) changed(ctx context.Context, tx *sql.Tx, e outbox.Entry) error {
	note := strings.TrimSpace(e.Err + " " + strings.Join(e.Candidates, " "))
	_, err := tx.ExecContext(ctx, "UPDATE offers SET state = ?, status = ?, document = ?, note = ? WHERE ref = ?",
		e.State, e.Status, e.DocumentID, note, e.Key)
	return err
}

// Find returns the rows that a condition selects.
func (a *Offers) Find(ctx context.Context, where string, args ...any) (found []Row, err error) {
	rows, err := a.db.QueryContext(ctx, "SELECT ref, email, document, note, state, status FROM offers WHERE "+where+" ORDER BY ref", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r Row
		err = errors.Join(err, rows.Scan(&r.Ref, &r.Email, &r.Document, &r.Note, &r.State, &r.Status))
		found = append(found, r)
	}
	return found, errors.Join(err, rows.Err())
}
