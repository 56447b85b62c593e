package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	missingAt int64
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
	documents map[string]known
	owned     map[string]*owned
	matcher   *matcher
	unowned   []unowned
	listed    map[string]bool // ids of unowned, which a list may show twice
	shown     bool            // a document of a message was listed
	readable  bool            // one of these was read in full, with the receivers of its message
	masked    bool            // one of these lacks an address that it was sent to
	changed   map[int64]signforms.DocumentStatus
}

// known is a row of signforms_outbox_documents.
type known struct{ message, walk int64 }

const (
	statusBatch   = 500
	documentBatch = 200
	failedAgain   = 10 * time.Minute // after a reconciliation that failed, or whose process died
)

// walkTemplate walks a template. An error of the list leaves all messages as they are. It returns how long to wait with
// the next walk if a message waits for another one.
func (b *Box) walkTemplate(ctx context.Context, task walkTask) (wait time.Duration, err error) {
	w := &walk{walkTask: task, listed: map[string]bool{}, changed: map[int64]signforms.DocumentStatus{}}
	if err := b.read(ctx, w.begin); err != nil {
		return 0, fmt.Errorf("reading what is known of a template: %w", err)
	}
	listErr := w.read(b.list(ctx, task.template))
	recorded := slices.ContainsFunc(slices.Collect(maps.Values(w.owned)), func(o *owned) bool { return o.status != signforms.StatusDeleted })
	silent := listErr == nil && recorded && !w.shown
	switch {
	case ctx.Err() != nil:
		return 0, nil
	case listErr != nil || silent:
		err := b.write(ctx, mode{limit: batchLimit}, func(t *tx) {
			w.fail(t, silent || errors.Is(listErr, signforms.ErrNotFound), b.options.Reconcile)
		})
		if silent && len(task.doubts) > 0 {
			listErr = errors.New("the list shows none of the recorded documents of its template, so it settles nothing")
		}
		return 0, errors.Join(listErr, err)
	}
	if err := b.followAll(ctx, w.changed); err != nil {
		return 0, err
	}
	err = b.write(ctx, mode{serial: true, limit: batchLimit}, func(t *tx) { wait = w.settle(t, b.options.Reconcile) })
	if err != nil {
		return 0, fmt.Errorf("settling: %w", err)
	}
	return wait, nil
}

// begin reads what is known of the template.
func (w *walk) begin(t *tx) {
	w.documents, w.owned = map[string]known{}, map[string]*owned{}
	t.each(func(rows *sql.Rows) error {
		var id string
		var d known
		err := rows.Scan(&id, &d.message, &d.walk)
		w.documents[id] = d
		return err
	}, "SELECT document, message, walk FROM signforms_outbox_documents WHERE box = $1 AND template = $2", t.box, w.template)
	t.each(func(rows *sql.Rows) error {
		var id, receivers string
		o := &owned{}
		err := rows.Scan(&id, &o.id, &o.state, &o.status, &o.missingAt, &receivers)
		if len(w.doubts) > 0 {
			o.receivers = fromJSON[string](receivers)
		}
		w.owned[id] = o
		return err
	}, `SELECT document, id, state, status, missing_at, receivers FROM signforms_outbox
		WHERE box = $1 AND template = $2 AND state IN ('sent', 'ended') AND document <> ''`, t.box, w.template)
	if len(w.doubts) > 0 || w.again {
		w.matcher = newMatcher(t.doubts(w.template))
	}
}

// read reads the list. The error is that of the list.
func (w *walk) read(list func(func(*signforms.Respondent, error) bool)) error {
	for r, err := range list {
		if err != nil {
			return err
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
		if len(o.receivers) > 0 {
			shows := d.shows(o.receivers)
			w.readable = w.readable || shows && d.record.AddressesReadable()
			w.masked = w.masked || !shows
		}
		return
	}
	before := w.documents[d.id]
	if before.message != 0 || w.listed[d.id] { // of a message that was forgotten, or a duplicate
		return
	}
	w.listed[d.id] = true
	u := unowned{id: d.id, walk: before.walk}
	if w.matcher != nil && len(w.matcher.of(d, before.walk)) > 0 {
		u.doc = d
	}
	w.unowned = append(w.unowned, u)
}

// fail records that a walk could not be made. Open documents are then read by their id, if gone is true.
func (w *walk) fail(t *tx, gone bool, reconcile time.Duration) {
	next := t.now + failedAgain.Milliseconds()
	if gone {
		next = t.now + reconcile.Milliseconds()
	}
	t.exec("INSERT INTO signforms_outbox_templates (box, template, reconcile) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", t.box, w.template, next)
	if w.reconcile {
		t.exec("UPDATE signforms_outbox_templates SET reconcile = $3 WHERE box = $1 AND template = $2", t.box, w.template, next)
	}
	if w.reconcile && gone {
		w.readMissing(t)
	}
}

// same reports whether a message is still in the doubt in which it was when the walk began.
func (w *walk) same(r row) bool {
	d, known := w.doubts[r.id]
	return known && r.state == Sending && r.attempt == d.attempt && r.phase == d.phase
}

// readMissing makes open documents that were not listed be read by their id.
func (w *walk) readMissing(t *tx) {
	for _, o := range w.owned {
		switch {
		case !o.listed && o.state == Sent:
			t.change(o.id, "read_due = $2", t.now)
		case o.listed && o.missingAt > 0:
			t.change(o.id, "missing_at = 0")
		}
	}
}

// settle stores what the walk has found. It returns how long to wait with the next walk if a message has to wait for
// another one.
func (w *walk) settle(t *tx, reconcile time.Duration) (wait time.Duration) {
	var number int64
	next := t.now + reconcile.Milliseconds()
	t.first([]any{&number}, `INSERT INTO signforms_outbox_templates (box, template, walks, reconcile) VALUES ($1, $2, 1, $3)
		ON CONFLICT (box, template) DO UPDATE SET walks = signforms_outbox_templates.walks + 1 RETURNING walks`, t.box, w.template, next)
	if w.again {
		t.exec("UPDATE signforms_outbox_templates SET again = 0, again_at = $3 WHERE box = $1 AND template = $2", t.box, w.template, t.now)
	}
	if w.reconcile {
		t.exec("UPDATE signforms_outbox_templates SET reconcile = $3 WHERE box = $1 AND template = $2", t.box, w.template, next)
		w.readMissing(t)
	}
	if w.matcher != nil {
		wait = w.settleDoubts(t)
	}
	w.keep(t, number)
	return wait
}

// keep stores the documents that were listed for the first time and that no message has.
func (w *walk) keep(t *tx, number int64) {
	var ids []any
	for _, u := range w.unowned {
		if u.walk == 0 {
			ids = append(ids, u.id)
		}
	}
	for batch := range slices.Chunk(ids, documentBatch) {
		var values []string
		for i := range batch {
			values = append(values, fmt.Sprintf("($1, $2, CAST($3 AS BIGINT), $%d)", 4+i))
		}
		t.exec("INSERT INTO signforms_outbox_documents (box, template, walk, document) VALUES "+strings.Join(values, ", ")+" ON CONFLICT DO NOTHING",
			append([]any{t.box, w.template, number}, batch...)...)
	}
}
