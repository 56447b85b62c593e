package outbox

import (
	"database/sql"
	"log/slog"
	"time"

	"github.com/signforms/signforms-go"
)

// row is a row of the table of messages, without the content.
type row struct {
	id                                                int64
	key, template                                     string
	state                                             State
	attempt, phase, tries, refused, notSent, looked   int
	due, backoff, refusedAt, sendBefore, timeout      int64
	claimedAt, serviceAt, firstWalk, watched, doubted int64
	document                                          string
	status                                            signforms.DocumentStatus
	addedAt, sentAt, endedAt, missingAt, readDue      int64
	remindAfter                                       []int64
	reminded, void, changes, told                     int
	remindedBefore                                    int // the claim of a reminder; not in the table
	err                                               string
	candidates, duplicates, signers, receivers        []string
}

const columns = `id, key, template, state, attempt, phase, tries, refused, not_sent, looked, due, backoff, refused_at, send_before,
	timeout, claimed_at, service_at, first_walk, watched, doubted, document, status, added_at, sent_at, ended_at, missing_at, read_due,
	remind_after, reminded, void, changes, told, error, candidates, duplicates, signers, receivers`

func scanRow(rows *sql.Rows, more ...any) (r row, err error) {
	var after, candidates, duplicates, signers, receivers string
	err = rows.Scan(append([]any{&r.id, &r.key, &r.template, &r.state, &r.attempt, &r.phase, &r.tries, &r.refused, &r.notSent,
		&r.looked, &r.due, &r.backoff, &r.refusedAt, &r.sendBefore, &r.timeout, &r.claimedAt, &r.serviceAt, &r.firstWalk, &r.watched,
		&r.doubted, &r.document, &r.status, &r.addedAt, &r.sentAt, &r.endedAt, &r.missingAt, &r.readDue, &after, &r.reminded, &r.void,
		&r.changes, &r.told, &r.err, &candidates, &duplicates, &signers, &receivers}, more...)...)
	r.remindAfter = fromJSON[int64](after)
	r.candidates, r.duplicates = fromJSON[string](candidates), fromJSON[string](duplicates)
	r.signers, r.receivers = fromJSON[string](signers), fromJSON[string](receivers)
	return r, err
}

// load reads the messages that a condition selects, which has the box as $1.
func (t *tx) load(where string, args ...any) (found []row) {
	t.each(func(rows *sql.Rows) error {
		r, err := scanRow(rows)
		found = append(found, r)
		return err
	}, "SELECT "+columns+" FROM signforms_outbox WHERE box = $1 AND "+where, append([]any{t.box}, args...)...)
	if t.err != nil {
		return nil
	}
	return found
}

// byID reads one message, which the transaction changes next.
func (t *tx) byID(id int64) (r row, found bool) {
	for _, r := range t.load("id = $2"+t.lock(), id) {
		return r, true
	}
	return r, false
}

// byKey reads the message with a key.
func (t *tx) byKey(key string) (r row) {
	for _, r := range t.load("key = $2", key) {
		return r
	}
	if t.err == nil {
		t.err = ErrKeyUnknown
	}
	return r
}

func (r row) entry() Entry {
	return Entry{Key: r.key, TemplateID: r.template, State: r.state, Status: r.status, DocumentID: r.document, SignerIDs: r.signers,
		Candidates: r.candidates, Duplicates: r.duplicates, Err: r.err, Attempts: r.attempt, Reminded: r.reminded, Voiding: r.void == voidWished && r.state != Cancelled,
		AddedAt: fromMillis(r.addedAt), SentAt: fromMillis(r.sentAt), EndedAt: fromMillis(r.endedAt)}
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// The values of the column void.
const (
	voidNot    = 0
	voidWished = 1 // 2 means that the document was voided, or can no longer be voided
)

// The values of the column phase of a message that is sending.
const (
	phaseFirst   = 1 // no walk has searched for the document
	phaseClean   = 2 // one walk has shown that there is no document
	phaseUnclear = 3 // one walk has found candidates, or has proved nothing
)

// change sets columns of a message.
func (t *tx) change(id int64, set string, args ...any) {
	t.exec("UPDATE signforms_outbox SET "+set+" WHERE id = $1", append([]any{id}, args...)...)
}

// tell is a part of each UPDATE after which OnChange must be called.
const tell = "changes = changes + 1, tell_due = 0, tell_backoff = 0"

// stop makes a message failed, or cancelled if Void was called.
func (t *tx) stop(r row, reason string) {
	if r.void == voidNot {
		t.log(slog.LevelError, "a message failed", slog.String("key", r.key), slog.String("error", reason))
	}
	t.change(r.id, "state = CASE WHEN void = 1 THEN 'cancelled' ELSE 'failed' END, ended_at = $2, error = $3, phase = 0, "+tell, t.now, reason)
}

// wait makes a message pending again, or cancelled if Void was called.
func (t *tx) wait(r row, backoff time.Duration, set string, args ...any) {
	state := "state = 'pending', looked = 0, "
	if r.void == voidWished {
		state = "state = 'cancelled', ended_at = $3, " + tell + ", "
	}
	args = append([]any{t.now + backoff.Milliseconds(), t.now, backoff.Milliseconds()}, args...)
	t.change(r.id, state+"phase = 0, due = $2, since = $3, backoff = $4, "+set, args...)
}

// undecide makes a message undecided. looked is 1 if candidates is complete.
func (t *tx) undecide(r row, candidates []string, looked int, reason string) {
	if r.state != Undecided {
		t.log(slog.LevelError, "it is unknown whether a message was sent: a person must decide", slog.String("key", r.key), slog.String("reason", reason),
			slog.Any("candidates", candidates))
	}
	t.change(r.id, "state = 'undecided', phase = 0, candidates = $2, looked = $3, error = $4, "+tell, toJSON(append([]string{}, candidates...)), looked, reason)
}
