package main

import (
	"context"
	"database/sql"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go/queue"
)

// The states of an offer.
const (
	toSend   = "new"
	sending  = "sending"  // a request was begun, and its outcome is not recorded: in doubt
	toDecide = "ask"      // a person has to decide; the note says what
	open     = "open"     // sent, and its document is known
	archived = "archived" // signed, and its PDF is in the row
	closed   = "closed"   // declined, void, expired or deleted; the note says which
)

// The indexes rule out two doubts about one address, which nobody could tell apart, and a document that belongs to two offers. Times
// are Unix milliseconds, 0 for never. hints counts events that were not looked into. All statements run on SQLite and Postgres.
const schema = `
CREATE TABLE IF NOT EXISTS offers (
	ref TEXT PRIMARY KEY, template TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
	state TEXT NOT NULL DEFAULT 'new', document TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
	tried BIGINT NOT NULL DEFAULT 0, sent BIGINT NOT NULL DEFAULT 0, reminded BIGINT NOT NULL DEFAULT 0,
	hints BIGINT NOT NULL DEFAULT 0, pdf BYTEA
);
CREATE UNIQUE INDEX IF NOT EXISTS offers_one_doubt ON offers (template, email) WHERE state = 'sending';
CREATE UNIQUE INDEX IF NOT EXISTS offers_document ON offers (document) WHERE document <> '';
CREATE INDEX IF NOT EXISTS offers_state ON offers (state);
CREATE INDEX IF NOT EXISTS offers_email ON offers (email);
CREATE INDEX IF NOT EXISTS offers_reminded ON offers (reminded)`

type offer struct {
	Ref, Template, Role, Name, Email, State, Document, Note string
	Tried, Sent, Reminded, Hints                            int64
}

// open opens a Postgres database by its URL, or else a SQLite file, beside which the queue has a file of its own.
func (a *app) open(ctx context.Context, where string) (err error) {
	if strings.HasPrefix(where, "postgres") {
		pool, poolErr := pgxpool.New(ctx, where)
		if poolErr != nil {
			return poolErr
		}
		a.db = stdlib.OpenDBFromPool(pool)
		a.events, err = queue.OpenPostgres(ctx, pool, nil)
	} else {
		pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)"}}
		if a.db, err = sql.Open("sqlite", "file:"+where+"?"+pragmas.Encode()); err == nil {
			a.events, err = queue.Open(where+".events", nil)
		}
	}
	if err == nil {
		_, err = a.db.ExecContext(ctx, schema)
	}
	return err
}

func (a *app) find(ctx context.Context, where string, args ...any) (found []offer, err error) {
	rows, err := a.db.QueryContext(ctx, `SELECT ref, template, role, name, email, state, document, note, tried, sent, reminded, hints
		FROM offers WHERE `+where+` ORDER BY ref`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o offer
		if err := rows.Scan(&o.Ref, &o.Template, &o.Role, &o.Name, &o.Email, &o.State, &o.Document, &o.Note,
			&o.Tried, &o.Sent, &o.Reminded, &o.Hints); err != nil {
			return nil, err
		}
		found = append(found, o)
	}
	return found, rows.Err()
}

// to gives an offer another state if it is still in that in which it was read. Arguments of set, which changes more, begin with $5.
func (a *app) to(ctx context.Context, state string, o offer, set string, args ...any) error {
	changed, err := a.change(ctx, `UPDATE offers SET state = $4`+set+` WHERE ref = $1 AND state = $2 AND tried = $3`,
		append([]any{o.Ref, o.State, o.Tried, state}, args...)...)
	if changed && state == toDecide {
		slog.Warn("a person has to decide: offers show says what, offers decide ends it", "offer", o.Ref)
	}
	return err
}

// change runs a statement. It ends although ctx has, because what happened at the service must be recorded.
func (a *app) change(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	result, err := a.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
