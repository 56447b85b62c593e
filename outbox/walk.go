package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// A walk reads all documents of a template. It settles the unknown outcomes that are due, reads the statuses of the
// template's documents, notes which ones are missing, and keeps the ids of documents that no message has.

// walkTask is a template that is to be walked, and why.
type walkTask struct {
	template  string
	doubts    map[int64]watching // the messages of the template that are sending
	reconcile bool
	again     bool // look at undecided messages again
}

// owned is a message with its document, as of the beginning of a walk.
type owned struct {
	id        int64
	state     State
	status    signforms.DocumentStatus
	missing   bool
	receivers []string
	listed    bool
}

// unowned is a listed document that no message had when the walk began.
type unowned struct {
	id   string
	walk int64    // that first listed it; 0: this one
	doc  document // set if it may be the document of a doubt
}

// walk is one walk over the documents of a template.
type walk struct {
	walkTask
	documents map[string]unownedBefore
	owned     map[string]*owned
	matcher   *matcher
	unowned   []unowned
	listed    map[string]bool // ids of unowned, which a list may show twice
	shown     bool            // a document of a message was listed
	readable  bool            // one of these was read in full, with the receivers of its message
	masked    bool            // one of these lacks an address that it was sent to
	changed   map[int64]signforms.DocumentStatus
	found     []int64 // messages whose document was missing before
}

// unownedBefore is a row of signforms_outbox_documents.
type unownedBefore struct{ message, walk int64 }

const (
	statusBatch   = 500
	documentBatch = 200
	failedAgain   = 10 * time.Minute // after a reconciliation that failed, or whose process died
)

// walkTemplate walks a template. An error of the list leaves all messages as they are.
func (b *Box) walkTemplate(ctx context.Context, task walkTask) error {
	w := &walk{walkTask: task, listed: map[string]bool{}, changed: map[int64]signforms.DocumentStatus{}}
	if err := b.read(ctx, w.begin); err != nil {
		return fmt.Errorf("reading what is known of a template: %w", err)
	}
	listErr := w.read(b.list(ctx, task.template))
	if ctx.Err() != nil {
		return nil
	}
	silent := !w.shown && slices.ContainsFunc(mapValues(w.owned), func(o *owned) bool { return o.status != signforms.StatusDeleted })
	if listErr == nil && silent && len(task.doubts) > 0 {
		b.log(slog.LevelWarn, "a list shows none of the recorded documents of its template, so it settles nothing", slog.String("template", task.template))
	}
	if listErr != nil || silent {
		b.pauseWalks(task.template, 0)
		defer b.Wake()
		return errors.Join(listErr, b.write(ctx, mode{limit: batchLimit}, func(t *tx) error {
			return w.fail(t, listErr == nil || errors.Is(listErr, signforms.ErrNotFound), b.options.Reconcile)
		}))
	}
	if err := b.followAll(ctx, w.changed); err != nil {
		return err
	}
	var wait time.Duration
	err := b.write(ctx, mode{serial: true, limit: batchLimit}, func(t *tx) (err error) {
		wait, err = w.settle(t, b.options.Reconcile)
		return err
	})
	switch {
	case err != nil:
		b.pauseWalks(task.template, 0)
		return fmt.Errorf("settling: %w", err)
	case wait > 0:
		b.pauseWalks(task.template, max(wait, probeEvery))
	default:
		b.resumeWalks(task.template)
	}
	b.Wake()
	return nil
}

func mapValues[K comparable, V any](m map[K]V) (all []V) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// begin reads what is known of the template.
func (w *walk) begin(t *tx) error {
	w.documents, w.owned = map[string]unownedBefore{}, map[string]*owned{}
	err := t.each(func(rows *sql.Rows) error {
		var id string
		var d unownedBefore
		err := rows.Scan(&id, &d.message, &d.walk)
		w.documents[id] = d
		return err
	}, "SELECT document, message, walk FROM signforms_outbox_documents WHERE box = $1 AND template = $2", t.box, w.template)
	if err != nil {
		return err
	}
	err = t.each(func(rows *sql.Rows) error {
		var id, receivers string
		var missing int64
		o := &owned{}
		err := rows.Scan(&id, &o.id, &o.state, &o.status, &missing, &receivers)
		o.missing = missing > 0
		if len(w.doubts) > 0 {
			o.receivers = fromJSON[string](receivers)
		}
		w.owned[id] = o
		return err
	}, `SELECT document, id, state, status, missing_at, receivers FROM signforms_outbox
		WHERE box = $1 AND template = $2 AND state IN ('sent', 'ended') AND document <> ''`, t.box, w.template)
	if err != nil || len(w.doubts) == 0 && !w.again {
		return err
	}
	doubts, err := t.doubts(w.template)
	w.matcher = newMatcher(doubts)
	return err
}

// read reads the list. The error is that of the list.
func (w *walk) read(list func(func(*signforms.Respondent, error) bool)) (err error) {
	for r, failed := range list {
		if failed != nil {
			return failed
		}
		if d := documentOf(r); d.template == w.template { // a service may ignore the filter
			w.see(d)
		}
	}
	return nil
}

// see notes a listed document.
func (w *walk) see(d document) {
	if o := w.owned[d.id]; o != nil {
		o.listed, w.shown = true, true
		if o.status != d.status && d.status != "" {
			w.changed[o.id] = d.status
		}
		if o.missing {
			w.found = append(w.found, o.id)
		}
		if len(o.receivers) > 0 {
			shows := d.shows(o.receivers)
			w.readable = w.readable || shows && d.record.AddressesReadable()
			w.masked = w.masked || !shows
		}
		return
	}
	known := w.documents[d.id]
	if known.message != 0 || w.listed[d.id] { // of a message that was forgotten, or a duplicate
		return
	}
	w.listed[d.id] = true
	u := unowned{id: d.id, walk: known.walk}
	if w.matcher != nil && len(w.matcher.of(d, known.walk)) > 0 {
		u.doc = d
	}
	w.unowned = append(w.unowned, u)
}

// fail records that a walk could not be made. Open documents are then read by their id, if gone is true.
func (w *walk) fail(t *tx, gone bool, reconcile time.Duration) error {
	again := failedAgain
	if gone {
		again = reconcile
	}
	if _, err := t.exec(`INSERT INTO signforms_outbox_templates (box, template, tried, reconcile) VALUES ($1, $2, 1, $3)
		ON CONFLICT (box, template) DO UPDATE SET tried = 1`, t.box, w.template, t.now+again.Milliseconds()); err != nil {
		return err
	}
	if w.reconcile {
		if _, err := t.exec("UPDATE signforms_outbox_templates SET reconcile = $3 WHERE box = $1 AND template = $2", t.box, w.template,
			t.now+again.Milliseconds()); err != nil {
			return err
		}
		if gone {
			if err := w.readMissing(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// same reports whether a message is still in the doubt in which it was when the walk began.
func (w *walk) same(r row) bool {
	d, known := w.doubts[r.id]
	return known && r.state == Sending && r.attempt == d.attempt && r.phase == d.phase
}

// readMissing makes open documents that were not listed be read by their id.
func (w *walk) readMissing(t *tx) error {
	for _, o := range w.owned {
		if o.listed || o.state != Sent {
			continue
		}
		if err := t.change(o.id, "read_due = $2", t.now); err != nil {
			return err
		}
	}
	return nil
}

// settle stores what the walk has found. It returns how long to wait with the next walk if a message has to wait for
// another one.
func (w *walk) settle(t *tx, reconcile time.Duration) (wait time.Duration, err error) {
	var number int64
	_, err = t.first([]any{&number}, `INSERT INTO signforms_outbox_templates (box, template, walks, tried, reconcile) VALUES ($1, $2, 1, 1, $3)
		ON CONFLICT (box, template) DO UPDATE SET walks = signforms_outbox_templates.walks + 1, tried = 1,
			reconcile = CASE WHEN $4 = 1 THEN excluded.reconcile ELSE signforms_outbox_templates.reconcile END
		RETURNING walks`, t.box, w.template, t.now+reconcile.Milliseconds(), number01(w.reconcile))
	if err == nil && w.again {
		_, err = t.exec("UPDATE signforms_outbox_templates SET again = 0, again_at = $3 WHERE box = $1 AND template = $2", t.box, w.template, t.now)
	}
	if err == nil && w.matcher != nil {
		wait, err = w.settleDoubts(t)
	}
	for _, id := range w.found {
		if err == nil {
			err = t.change(id, "missing_at = 0")
		}
	}
	if err == nil && w.reconcile {
		err = w.readMissing(t)
	}
	if err == nil {
		err = w.keep(t, number)
	}
	return wait, err
}

func number01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keep stores the documents that were listed for the first time and that no message has.
func (w *walk) keep(t *tx, number int64) error {
	var ids []any
	for _, u := range w.unowned {
		if u.walk == 0 {
			ids = append(ids, u.id)
		}
	}
	for batch := range slices.Chunk(ids, documentBatch) {
		values := ""
		for i := range batch {
			if i > 0 {
				values += ", "
			}
			values += fmt.Sprintf("($1, $2, CAST($3 AS BIGINT), $%d)", 4+i)
		}
		_, err := t.exec("INSERT INTO signforms_outbox_documents (box, template, walk, document) VALUES "+values+" ON CONFLICT DO NOTHING",
			append([]any{t.box, w.template, number}, batch...)...)
		if err != nil {
			return err
		}
	}
	return nil
}
