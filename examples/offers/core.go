// Package offers sends offers for signature: each once, over crashes and lost answers. It is code to copy from; the
// README says what happens when. This file sends, looks and reminds, and needs no other; pdf.go keeps what was signed.
package offers

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

// The states of an offer.
const (
	New     = "new"
	Sending = "sending" // a request was begun, and its outcome is not recorded: in doubt
	Ask     = "ask"     // a person has to decide; Note says what
	Open    = "open"    // sent, and its document is known
	Signed  = "signed"
	Closed  = "closed" // declined, void, expired or deleted; Note says which
)

// The indexes rule out two doubts about one template, whose documents nobody could tell apart if their signers cannot
// be read, and a document of two offers. A template's id is the same in any case. Times are Unix milliseconds, 0 for
// never.
const schema = `
CREATE TABLE IF NOT EXISTS offers (
	ref TEXT PRIMARY KEY, template TEXT NOT NULL COLLATE NOCASE, role TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
	state TEXT NOT NULL DEFAULT 'new', document TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
	attempt INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0, reminded INTEGER NOT NULL DEFAULT 0, pdf BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS offers_one_doubt ON offers (template) WHERE state = 'sending';
CREATE UNIQUE INDEX IF NOT EXISTS offers_document ON offers (document) WHERE document <> ''`

// A send ends within sendTime. Its outcome is looked for when this process has seen the doubt for doubtTime: then the
// request has ended more than Options.AttemptTimeout and a minute ago, and cannot arrive any more.
const sendTime, doubtTime = 2 * time.Minute, 5 * time.Minute

// Offer is one row. Ref is your own key of it.
type Offer struct {
	Ref, Template, Role, Name, Email, State, Document, Note string
	attempt                                                 int64
}

// Offers works on the offers in a SQLite database. Run one at a time.
type Offers struct {
	Overdue time.Duration // the age at which an offer is late
	Hosts   []string      // that KeepPDFs may ask, such as "https://files.example.com"

	client     *signforms.Client
	db         *sql.DB
	now        func() time.Time    // as time.Now, whose differences nobody changes by setting the clock
	doubts     map[Offer]time.Time // when this process first saw a doubt
	reconciled time.Time
}

// Prepare makes the table. Give the client a LimitStore in a file, so that a restart does not forget the reminder
// limit.
func Prepare(ctx context.Context, db *sql.DB, client *signforms.Client) (*Offers, error) {
	_, err := db.ExecContext(ctx, schema)
	return &Offers{Overdue: 72 * time.Hour, client: client, db: db, now: time.Now, doubts: map[Offer]time.Time{}}, err
}

// Add adds an offer, unless its Ref is known.
func (a *Offers) Add(ctx context.Context, o Offer) error {
	const insert = "INSERT INTO offers (ref, template, role, name, email) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
	_, err := a.change(ctx, insert, o.Ref, o.Template, o.Role, o.Name, strings.ToLower(o.Email))
	return err
}

func (o Offer) params() signforms.TemplateSendParams {
	to := signforms.Receiver{Name: o.Name, Email: o.Email, RoleTitle: o.Role}
	return signforms.TemplateSendParams{TemplateID: o.Template, Receivers: []signforms.Receiver{to}}
}

// Pass does what is due. Call it every few seconds. A step that fails does not stop the others, and is tried again.
func (a *Offers) Pass(ctx context.Context) error {
	err := errors.Join(a.resolve(ctx), a.send(ctx), a.remind(ctx))
	if a.now().Sub(a.reconciled) >= 24*time.Hour {
		a.reconciled = a.now()
		err = errors.Join(err, a.Reconcile(ctx))
	}
	return err
}

// send sends what is new. The row says so before the request is made. While one send of a template is in doubt, the
// others wait.
func (a *Offers) send(ctx context.Context) error {
	offers, err := a.Find(ctx, "state = 'new'")
	for _, o := range offers {
		begun, err := a.change(ctx, `UPDATE offers SET state = 'sending', attempt = attempt + 1
			WHERE ref = ? AND state = 'new' AND NOT EXISTS (SELECT 1 FROM offers AS other
				WHERE other.template = offers.template AND other.state = 'sending')`, o.Ref)
		if begun {
			o.State, o.attempt = Sending, o.attempt+1
			err = a.request(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// request sends an offer and records the outcome, unless that is unknown.
func (a *Offers) request(ctx context.Context, o Offer) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	result, err := a.client.Templates.Send(ctx, o.params())
	switch {
	case err == nil:
		return a.to(ctx, Open, o, ", document = ?, sent = ?", result.DocumentID, a.now().UnixMilli())
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		return nil
	case errors.Is(err, signforms.ErrInvalid), errors.Is(err, signforms.ErrNotFound), errors.Is(err, signforms.ErrRefused):
		return a.to(ctx, Ask, o, ", note = ?", err.Error())
	}
	return errors.Join(err, a.to(ctx, New, o, "")) // nothing was sent, and the next offer would fare no better
}

// resolve finds out what became of the sends that have been in doubt for long enough. A list that fails half way says
// nothing.
func (a *Offers) resolve(ctx context.Context) error {
	offers, err := a.Find(ctx, "state = 'sending'")
	for _, o := range offers {
		if seen, known := a.doubts[o]; !known {
			a.doubts[o] = a.now()
		} else if a.now().Sub(seen) >= doubtTime {
			err = errors.Join(err, a.resolveOne(ctx, o))
		}
	}
	return err
}

func (a *Offers) resolveOne(ctx context.Context, o Offer) error {
	var failed error
	candidates, err := a.client.Respondents.FindSent(ctx, o.params(), func(id string) bool {
		owners, err := a.Find(ctx, "document = ?", id)
		failed = errors.Join(failed, err)
		return len(owners) > 0
	})
	switch err := errors.Join(err, failed); {
	case err != nil:
		return err
	case len(candidates) == 0:
		return a.to(ctx, New, o, "")
	case len(candidates) > 1:
		return a.to(ctx, Ask, o, ", note = 'several documents may be it'")
	}
	err = a.to(ctx, Open, o, ", document = ?, sent = ?", candidates[0].ID, a.now().UnixMilli())
	return errors.Join(err, a.settle(ctx, candidates[0]))
}

var ends = map[signforms.DocumentStatus]string{
	signforms.StatusSigned: Signed, signforms.StatusPaid: Signed, signforms.StatusDeclined: Closed,
	signforms.StatusVoid: Closed, signforms.StatusExpired: Closed, signforms.StatusDeleted: Closed,
}

// settle records that a document has ended.
func (a *Offers) settle(ctx context.Context, r *signforms.Respondent) (err error) {
	if state, ended := ends[r.Status]; ended {
		_, err = a.change(ctx, "UPDATE offers SET state = ?, note = ? WHERE document = ? AND state = 'open'",
			state, string(r.Status), r.ID)
	}
	return err
}

// Reconcile finds what no event reported: it lists the documents of each template that has open offers.
func (a *Offers) Reconcile(ctx context.Context) error {
	offers, err := a.Find(ctx, "state = 'open' GROUP BY template")
	for _, o := range offers {
		for r, listErr := range a.client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: o.Template}) {
			if listErr == nil {
				listErr = a.settle(ctx, r)
			}
			err = errors.Join(err, listErr)
		}
	}
	return err
}

// Look reads the documents of the signers in an event, which is only a hint: it may be old, or have overtaken another
// one. Look fails if a send to a signer is not recorded yet: then the event is delivered again, or Reconcile finds what
// it says.
func (a *Offers) Look(ctx context.Context, signers []webhook.Signer) (err error) {
	for _, s := range signers {
		offers, findErr := a.Find(ctx, "email = ? AND state IN ('sending', 'open')", strings.ToLower(s.Email))
		err = errors.Join(err, findErr)
		for _, o := range offers {
			r, readErr := a.client.Respondents.Get(ctx, o.Document)
			if readErr == nil {
				readErr = a.settle(ctx, r)
			}
			err = errors.Join(err, readErr)
		}
	}
	return err
}

// remind reminds who is late, once. The row says so before the request is made, so that nobody is reminded twice.
func (a *Offers) remind(ctx context.Context) error {
	late, err := a.Find(ctx, "state = 'open' AND reminded = 0 AND sent <= ?", a.now().Add(-a.Overdue).UnixMilli())
	for _, o := range late {
		if err := a.to(ctx, Open, o, ", reminded = ?", a.now().UnixMilli()); err != nil {
			return err
		}
		_, err := a.client.Documents.Remind(ctx, signforms.TemplateDocument(o.Template, o.Document))
		gone := errors.Is(err, signforms.ErrRefused) || errors.Is(err, signforms.ErrNotFound) // Reconcile finds out
		// One whose outcome is unknown may have been sent, and counts. After another error nothing was sent, and the next
		// would fare no better: the limit is reached, or the service is away.
		if err != nil && !gone && !errors.Is(err, signforms.ErrOutcomeUnknown) {
			return errors.Join(err, a.to(ctx, Open, o, ", reminded = 0"))
		}
	}
	return err
}

// Find returns the offers that a condition selects.
func (a *Offers) Find(ctx context.Context, where string, args ...any) (found []Offer, err error) {
	rows, err := a.db.QueryContext(ctx, `SELECT ref, template, role, name, email, state, document, note, attempt
		FROM offers WHERE `+where+` ORDER BY ref`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o Offer
		err = errors.Join(err, rows.Scan(&o.Ref, &o.Template, &o.Role, &o.Name, &o.Email, &o.State,
			&o.Document, &o.Note, &o.attempt))
		found = append(found, o)
	}
	return found, errors.Join(err, rows.Err())
}

// to gives an offer another state if it is still in the state and the attempt in which it was read. set changes more.
func (a *Offers) to(ctx context.Context, state string, o Offer, set string, args ...any) error {
	args = append(append([]any{state}, args...), o.Ref, o.State, o.attempt)
	_, err := a.change(ctx, `UPDATE offers SET state = ?`+set+` WHERE ref = ? AND state = ? AND attempt = ?`, args...)
	return err
}

// change runs a statement. It ends although ctx has, because what happened at the service must be recorded.
func (a *Offers) change(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	result, err := a.db.ExecContext(context.WithoutCancel(ctx), statement, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
