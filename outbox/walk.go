package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
)

// walkTask is a template to be walked, with the reasons.
type walkTask struct {
	template  string
	sending   map[int64]watching // the messages of the template that are sending
	reconcile bool
	again     bool // check undecided messages again
}

const walkName = "walk "

// startWalks starts the walks that are due. It returns the time until the next walk is due.
func (r *runner) startWalks(ctx context.Context, p plan) time.Duration {
	wait := min(p.until(p.reconcile), p.until(p.again))
	tasks := map[string]*walkTask{}
	want := func(template string) *walkTask {
		if tasks[template] == nil {
			tasks[template] = &walkTask{template: template, sending: map[int64]watching{}}
		}
		return tasks[template]
	}
	for template := range r.first {
		want(template)
	}
	for _, w := range r.sending {
		if w.remain == 0 {
			want(w.template)
		}
	}
	if wait == 0 {
		wait = errorPause
		r.failed("templates", r.write(ctx, mode{}, func(t *tx) { r.dueTemplates(t, want) }))
	}
	for _, w := range r.sending {
		if tasks[w.template] != nil {
			tasks[w.template].sending[w.id] = w
		}
	}
	for _, template := range slices.Sorted(maps.Keys(tasks)) {
		if len(r.running) >= maxTasks {
			break
		}
		delete(r.first, template)
		wait = min(wait, r.start(walkName+template, 0, func() taskEnd {
			again, err := r.walkTemplate(ctx, *tasks[template])
			return taskEnd{wait: again, err: err, then: func() {
				r.sending = slices.DeleteFunc(r.sending, func(w watching) bool { return w.template == template })
				r.after["watch"] = 0
			}}
		}))
	}
	return wait
}

// dueTemplates finds the templates that are due for their regular walk, or for a walk because of
// undecided messages. Templates without open messages wait for another day.
func (r *runner) dueTemplates(t *tx, want func(string) *walkTask) {
	all := t.templates()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := all[name]
		if r.running[walkName+name] || r.after[walkName+name] > r.elapsed() {
			continue
		}
		if one.again == 1 && one.againAt <= t.now-againEvery.Milliseconds() {
			want(name).again = true
		}
		var open int
		next := r.options.Reconcile
		t.first([]any{&open}, "SELECT 1 FROM signforms_outbox WHERE box = $1 AND template = $2 AND state = 'sent' LIMIT 1", t.box, name)
		if open == 1 {
			next = failedAgain
		}
		if one.reconcile <= t.now && t.exec("UPDATE signforms_outbox_templates SET reconcile = $3 WHERE box = $1 AND template = $2 AND reconcile <= $4",
			t.box, name, t.now+next.Milliseconds(), t.now) > 0 && open == 1 {
			want(name).reconcile = true
		}
	}
}

// walk reads all documents of a template. It settles the unknown outcomes that are due, reads the
// statuses of the template's documents, records which ones are missing, and stores the ids of
// documents without a message.
type walk struct {
	walkTask
	known    map[string]*known // documents by their id
	doubts   []*doubt          // doubts at the beginning of the walk
	shown    bool              // a document of a message was listed
	readable bool              // a document of a message was read in full, with the receivers of its message
	masked   bool              // a document of a message lacks an address to which it was sent
	changed  map[int64]signforms.DocumentStatus
}

// known is a document that was known when the walk began, or that the walk lists.
type known struct {
	id                       string
	message, walk, missingAt int64 // message: 0 if it belongs to no message; walk: the walk that first listed it; 0: this walk
	state                    State // state of the message; empty: the message was forgotten, or the document is a duplicate
	status                   signforms.DocumentStatus
	receivers                []string
	listed                   bool
	record                   *signforms.Respondent // set if the document may belong to a doubt
}

const (
	statusBatch   = 500
	documentBatch = 200
	failedAgain   = 10 * time.Minute // wait after a reconciliation that failed, or whose process died
)

// walkTemplate walks a template. If the list returns an error, no message changes. walkTemplate
// returns how long to wait before the next walk if a message waits for another one.
func (b *Box) walkTemplate(ctx context.Context, task walkTask) (wait time.Duration, err error) {
	w := &walk{walkTask: task, known: map[string]*known{}, changed: map[int64]signforms.DocumentStatus{}}
	if err := b.read(ctx, w.begin); err != nil {
		return 0, err
	}
	recorded := false
	for _, k := range w.known {
		recorded = recorded || k.state != "" && k.status != signforms.StatusDeleted
	}
	listErr := w.read(b.client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: task.template}))
	silent := listErr == nil && recorded && !w.shown
	switch {
	case ctx.Err() != nil:
		return 0, nil
	case listErr != nil || silent:
		err := b.write(ctx, mode{limit: batchLimit}, func(t *tx) {
			w.fail(t, silent || errors.Is(listErr, signforms.ErrNotFound), b.options.Reconcile)
		})
		if silent && len(task.sending) > 0 {
			listErr = errors.New("the list contains none of the recorded documents of its template, so no outcome is settled from it")
		}
		return 0, errors.Join(listErr, err)
	}
	if err := b.followAll(ctx, w.changed); err != nil {
		return 0, err
	}
	return wait, b.write(ctx, mode{serial: true, limit: batchLimit}, func(t *tx) { wait = w.settle(t, b.options.Reconcile) })
}

// begin reads the known documents and the doubts of the template.
func (w *walk) begin(t *tx) {
	t.each(func(rows *sql.Rows) error {
		var receivers string
		k := &known{}
		err := rows.Scan(&k.id, &k.message, &k.walk, &k.state, &k.status, &k.missingAt, &receivers)
		if len(w.sending) > 0 {
			k.receivers = fromJSON[string](receivers)
		}
		w.known[k.id] = k
		return err
	}, `SELECT d.document, d.message, d.walk, coalesce(m.state, ''), coalesce(m.status, ''), coalesce(m.missing_at, 0), coalesce(m.receivers, '[]')
		FROM signforms_outbox_documents AS d LEFT JOIN signforms_outbox AS m ON m.id = d.message AND m.document = d.document
		WHERE d.box = $1 AND d.template = $2`, t.box, w.template)
	if len(w.sending) > 0 || w.again {
		w.doubts = t.doubts(w.template)
	}
}

// read reads the list. It returns the error of the list.
func (w *walk) read(list iter.Seq2[*signforms.Respondent, error]) error {
	for r, err := range list {
		if err != nil {
			return err
		}
		if normalID(r.TemplateID) == w.template { // a service may ignore the filter
			w.see(r)
		}
	}
	return nil
}

// see records a listed document.
func (w *walk) see(r *signforms.Respondent) {
	k := w.known[normalID(r.ID)]
	if k == nil {
		k = &known{id: normalID(r.ID)}
		w.known[k.id] = k
	}
	k.listed = true
	if k.message == 0 {
		for _, d := range rivals(w.doubts, r, k.walk) {
			k.record = r
			w.readable = w.readable || shows(r, d.receivers) && r.AddressesReadable()
		}
	}
	if k.state == "" {
		return
	}
	w.shown = true
	if k.status != r.Status && r.Status != "" {
		w.changed[k.message] = r.Status
	}
	if len(k.receivers) > 0 {
		w.readable = w.readable || shows(r, k.receivers) && r.AddressesReadable()
		w.masked = w.masked || !shows(r, k.receivers)
	}
}

// shows reports whether each address is the address of a signer of the document.
func shows(r *signforms.Respondent, addresses []string) bool {
	return !slices.ContainsFunc(addresses, func(a string) bool {
		return !slices.ContainsFunc(r.Signers, func(s signforms.Signer) bool { return normalAddress(s.Email) == a })
	})
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

// readMissing schedules reads, by id, of open documents that were not listed.
func (w *walk) readMissing(t *tx) {
	for _, k := range w.known {
		switch {
		case !k.listed && k.state == Sent:
			t.change(k.message, "read_due = $2", t.now)
		case k.listed && k.missingAt > 0:
			t.change(k.message, "missing_at = 0")
		}
	}
}

// settle stores the results of the walk. It returns how long to wait before the next walk if a
// message has to wait for another one.
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
	if len(w.sending) > 0 || w.again {
		wait = w.settleDoubts(t)
	}
	var ids []any // ids of documents that no walk has listed before, and that belong to no message
	for _, k := range w.known {
		if k.listed && k.message == 0 && k.walk == 0 {
			ids = append(ids, k.id)
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
	return wait
}
