package outbox

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// The waits after a refusal, and when a message that is refused fails.
const (
	minBackoff    = time.Second
	maxBackoff    = 5 * time.Minute
	maxRetryAfter = 24 * time.Hour
	maxRefused    = 10 // refusals while other messages were sent
	maxRefusedFor = 24 * time.Hour
	maxNotSent    = 5
	maxScanned    = 5000 // for one claim
)

// claimed is a claimed message, whose send is about to begin.
type claimed struct {
	row
	content content
	began   time.Duration // time before the claim, by the monotonic clock
}

// outcome is the end of a send.
type outcome struct {
	claimed
	sent       *signforms.Respondent
	err        error
	othersWent bool // other messages were sent or refused since this message was last deferred
}

// verdict is the meaning of an outcome for its message.
type verdict int

const (
	wasSent    verdict = iota
	unknown            // the message may have been sent
	wasRefused         // refused because of the message itself
	later              // not sent because of the key, the rate limit, a gateway or the network
)

func (o outcome) verdict() verdict {
	e := (*signforms.Error)(nil)
	switch {
	case o.err == nil:
		return wasSent
	case errors.Is(o.err, signforms.ErrOutcomeUnknown):
		return unknown
	case errors.As(o.err, &e) && e.StatusCode == http.StatusProxyAuthRequired:
		return later
	case errors.Is(o.err, signforms.ErrInvalid), errors.Is(o.err, signforms.ErrNotFound), errors.Is(o.err, signforms.ErrRefused):
		return wasRefused
	}
	return later
}

// pace decides how many sends may run concurrently. After an outcome unknown or later, sends run
// one at a time, with a wait between them, until one is sent or refused. A new Run begins with one
// send at a time, without a wait.
type pace struct {
	careful bool
	backoff time.Duration
	until   time.Duration
	changed time.Duration
}

// allows returns how many sends may begin, and how long to wait if none may.
func (p *pace) allows(now time.Duration, active, workers int) (n int, wait time.Duration) {
	switch {
	case !p.careful:
		return workers - active, 0
	case active > 0:
		return 0, 0
	}
	return min(1, workers), max(0, p.until-now)
}

func (p *pace) follow(o outcome, now time.Duration) {
	switch o.verdict() {
	case wasSent, wasRefused:
		*p = pace{}
	default:
		if o.began >= p.changed { // otherwise it was running when another send had the same outcome
			p.backoff = nextBackoff(p.backoff, o.err)
			p.changed, p.until = now, now+p.backoff
		}
		p.careful = true
	}
}

// nextBackoff returns the wait after an error: twice the last wait, or longer if the service
// requires it.
func nextBackoff(last time.Duration, err error) time.Duration {
	backoff := min(max(minBackoff, 2*last), maxBackoff)
	if e := (*signforms.Error)(nil); errors.As(err, &e) {
		backoff = max(backoff, min(e.RetryAfter, maxRetryAfter))
	}
	return backoff
}

// claim claims up to n messages that are due. The rows record the claims before a request is made.
// claim also returns the templates that have to be walked before their first claim.
func (b *Box) claim(ctx context.Context, n int) (claims []claimed, first []string, err error) {
	began, service := b.elapsed(), b.serviceNow()
	err = b.write(ctx, mode{durable: true, serial: true}, func(t *tx) {
		claims, first = nil, nil
		templates := t.templates()
		busy := t.load("state = 'sending'")
		t.scanDue(n, func(r row) (more bool) {
			walked, known := templates[r.template]
			switch {
			case r.sendBefore > 0 && t.now > r.sendBefore:
				t.stop(r, "not sent before SendBefore")
			case !known:
				if !slices.Contains(first, r.template) {
					first = append(first, r.template)
				}
			case !slices.ContainsFunc(busy, r.waitsFor):
				busy = append(busy, r)
				c := t.claim(r, walked.walks, b.options.SendTimeout, service)
				c.began = began
				claims = append(claims, c)
			}
			return len(claims) < n
		})
	})
	return claims, first, err
}

// scanDue calls do for the pending messages that are due, until it returns false. It reads n of them, and more if do goes
// on: messages that wait for others are passed over, but not without end.
func (t *tx) scanDue(n int, do func(row) (more bool)) {
	due, id := int64(-1), int64(0)
	for read := 0; read < maxScanned; read, n = read+n, min(2*n, 500) {
		page := t.load("state = 'pending' AND due <= $2 AND (due, id) > ($3, $4) ORDER BY due, id LIMIT $5"+t.skip(), t.now, due, id, n)
		for _, r := range page {
			if due, id = r.due, r.id; !do(r) {
				return
			}
		}
		if len(page) < n {
			return
		}
	}
}

// claim records that an attempt begins.
func (t *tx) claim(r row, walks int64, timeout time.Duration, service int64) claimed {
	if r.firstWalk < 0 {
		r.firstWalk = walks
	}
	r.attempt++
	c := claimed{row: r}
	var text []byte
	t.first([]any{&text}, `UPDATE signforms_outbox SET state = 'sending', attempt = $2, phase = $3, watched = 0, doubted = 0, looked = 0,
		timeout = $4, claimed_at = $5, service_at = $6, first_walk = $7 WHERE id = $1 RETURNING content`,
		r.id, r.attempt, phaseFirst, timeout.Milliseconds(), t.now, service, r.firstWalk)
	if t.err == nil {
		c.content, t.err = decode(text)
	}
	return c
}

// waitsFor reports whether all receivers of one of the messages are receivers of the other one.
// Their documents could then not be distinguished.
func (r row) waitsFor(other row) bool {
	return r.template == other.template && (containsAll(r.receivers, other.receivers) || containsAll(other.receivers, r.receivers))
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// request makes the send of a claim, until its deadline or the end of ctx.
func (b *Box) request(ctx context.Context, c claimed) outcome {
	ctx, cancel := context.WithTimeout(ctx, b.options.SendTimeout-(b.elapsed()-c.began))
	defer cancel()
	sent, err := b.client.Templates.Send(ctx, c.content.TemplateSendParams)
	if err != nil {
		return outcome{claimed: c, err: err}
	}
	return outcome{claimed: c, sent: &signforms.Respondent{ID: normalID(sent.DocumentID), Status: sent.Status, Signers: sent.Signers}}
}

// record stores the outcomes of sends.
func (b *Box) record(ctx context.Context, outcomes []outcome) error {
	return b.write(ctx, mode{}, func(t *tx) {
		for _, o := range outcomes {
			t.record(o)
		}
	})
}

func (t *tx) record(o outcome) {
	r, found := t.byID(o.id)
	v := o.verdict()
	current := found && r.state == Sending && r.attempt == o.attempt
	switch {
	case v == wasSent && !found: // the key was forgotten; the document must not count for another send
		t.own(o.id, o.template, o.sent.ID)
	case v == wasSent:
		t.recordSent(r, o)
	case current && v == unknown:
		t.change(r.id, "error = $2", o.err.Error())
	case current && v == wasRefused:
		t.stop(r, o.err.Error())
	case current:
		t.recordRefusal(r, o)
	}
}

// recordSent records the document of a message, even if the response comes late.
func (t *tx) recordSent(r row, o outcome) {
	if r.document == o.sent.ID || slices.Contains(r.duplicates, o.sent.ID) {
		return
	}
	current := r.document == "" && r.attempt == o.attempt
	switch mine := t.own(r.id, r.template, o.sent.ID); {
	case mine && current:
		t.sent(r, o.sent, t.now)
	case mine:
		t.log(slog.LevelError, "a second document was created for one key: a person must decide which one to void", slog.String("key", r.key),
			slog.String("document", r.document), slog.String("duplicate", o.sent.ID))
		t.change(r.id, "duplicates = $2, "+tell, toJSON(append(r.duplicates, o.sent.ID)))
	case current:
		t.undecide(r, []string{o.sent.ID}, 1, "the service returned the document id of another message")
	}
}

// own records that a document belongs to a message. It reports false if the document belongs to
// another message.
func (t *tx) own(id int64, template, document string) bool {
	return t.exec(`INSERT INTO signforms_outbox_documents (box, document, template, message) VALUES ($1, $2, $3, $4)
		ON CONFLICT (box, document) DO UPDATE SET message = excluded.message
		WHERE signforms_outbox_documents.message IN (0, excluded.message)`, t.box, document, template, id) > 0
}

// sent records the document of a message, after own has assigned the document to the message.
func (t *tx) sent(r row, d *signforms.Respondent, at int64) {
	var text []byte
	t.first([]any{&text}, "SELECT content FROM signforms_outbox WHERE id = $1", r.id)
	var kept any
	if text != nil {
		var c content
		c, t.err = decode(text)
		kept = []byte(toJSON(c.afterSend()))
	}
	var due, void int64
	switch {
	case r.void == voidWished:
		void = t.now
	case r.reminded < len(r.remindAfter):
		due = at + r.remindAfter[r.reminded]
	}
	t.change(r.id, `state = 'sent', phase = 0, document = $2, status = $3, signers = $4, sent_at = $5, due = $6, since = $7, backoff = 0,
		ended_at = 0, error = '', candidates = '[]', content = $8, void_due = $9, `+tell,
		normalID(d.ID), string(d.Status), toJSON(append([]string{}, d.SignerIDs()...)), at, due, t.now, kept, void)
	for _, name := range append(d.SignerIDs(), addressDigests(r.template, r.receivers)...) {
		t.exec("INSERT INTO signforms_outbox_signers (box, signer, message) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", t.box, name, r.id)
	}
	if ended(d.Status) {
		r.state, r.status = Sent, ""
		t.follow(r, d.Status)
	}
}

// recordRefusal makes a message pending again, after the others, or makes it failed.
func (t *tx) recordRefusal(r row, o outcome) {
	if r.tries++; o.othersWent {
		r.refused++
	}
	if r.refusedAt == 0 {
		r.refusedAt = t.now
	}
	if r.refused >= maxRefused || r.tries >= maxRefused && t.now-r.refusedAt >= maxRefusedFor.Milliseconds() {
		t.stop(r, o.err.Error())
		return
	}
	t.wait(r, nextBackoff(millis(r.backoff), o.err), "tries = $5, refused = $6, refused_at = $7, error = $8", r.tries, r.refused, r.refusedAt, o.err.Error())
}

// templateRow is a row of signforms_outbox_templates. A template has a row after its first walk was
// tried.
type templateRow struct{ walks, reconcile, again, againAt int64 }

func (t *tx) templates() map[string]templateRow {
	all := map[string]templateRow{}
	t.each(func(rows *sql.Rows) error {
		var name string
		var r templateRow
		err := rows.Scan(&name, &r.walks, &r.reconcile, &r.again, &r.againAt)
		all[name] = r
		return err
	}, "SELECT template, walks, reconcile, again, again_at FROM signforms_outbox_templates WHERE box = $1", t.box)
	return all
}
