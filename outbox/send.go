package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	maxRefused    = 10 // while other messages were sent
	maxRefusedFor = 24 * time.Hour
	maxNotSent    = 5
)

// claimed is a message whose send is to begin.
type claimed struct {
	row
	content content
	began   time.Duration // by the monotonic clock, before the claim
}

// outcome is the end of a send.
type outcome struct {
	claimed
	sent document
	err  error
}

// verdict says what an outcome means for its message.
type verdict int

const (
	wasSent    verdict = iota
	unknown            // it may have been sent
	wasRefused         // the message's own fault
	later              // the fault of the key, the rate, the gateway or the network; not sent
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

// pace decides how many sends may be under way. After an outcome that is unknown or later, sends are made one at a time,
// with a wait between them, until one is sent or refused. A new Run begins so, without a wait.
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
		if o.began >= p.changed { // else it was under way when another one had the same end
			p.backoff = nextBackoff(p.backoff, o.err)
			p.changed, p.until = now, now+p.backoff
		}
		p.careful = true
	}
}

// nextBackoff returns the wait after an error: twice the last one, or longer if the service says so.
func nextBackoff(last time.Duration, err error) time.Duration {
	backoff := min(max(minBackoff, 2*last), maxBackoff)
	if e := (*signforms.Error)(nil); errors.As(err, &e) {
		backoff = max(backoff, min(e.RetryAfter, maxRetryAfter))
	}
	return backoff
}

// claim claims up to n messages that are due. The rows say so before a request is made. It also returns the templates
// that have to be walked before their first claim.
func (b *Box) claim(ctx context.Context, n int) (claims []claimed, first []string, err error) {
	began := b.elapsed()
	service := b.serviceNow()
	err = b.write(ctx, mode{durable: true, serial: true}, func(t *tx) error {
		claims, first = nil, nil
		rows, templates, err := t.claimable(n)
		if err != nil {
			return err
		}
		for _, r := range rows {
			walks, tried := templates.of(r.template)
			switch {
			case r.sendBefore > 0 && t.now > r.sendBefore:
				err = t.stop(r, "not sent before SendBefore")
			case !tried:
				if !slices.Contains(first, r.template) {
					first = append(first, r.template)
				}
			default:
				var c claimed
				if c, err = t.claimOne(r, walks, b.options.SendTimeout, service); err == nil {
					c.began = began
					claims = append(claims, c)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("claiming: %w", err)
	}
	return claims, first, nil
}

// claimOne records that an attempt begins.
func (t *tx) claimOne(r row, walks int64, timeout time.Duration, service int64) (claimed, error) {
	if r.firstWalk < 0 {
		r.firstWalk = walks
	}
	r.attempt++
	r.state, r.phase = Sending, phaseFirst
	c := claimed{row: r}
	var text []byte
	_, err := t.first([]any{&text}, `UPDATE signforms_outbox SET state = 'sending', attempt = $2, phase = $3, watched = 0, doubted = 0, looked = 0,
		timeout = $4, claimed_at = $5, service_at = $6, first_walk = $7 WHERE id = $1 RETURNING content`,
		r.id, r.attempt, r.phase, timeout.Milliseconds(), t.now, service, r.firstWalk)
	if err == nil {
		c.content, err = decode(text)
	}
	return c, err
}

const (
	claimPage = 200
	claimScan = 5000
)

// claimable returns up to n messages that are due and need not wait for another one, and those that are too late or
// whose template has to be walked first.
func (t *tx) claimable(n int) (found []row, templates templateRows, err error) {
	if templates, err = t.templates(); err != nil {
		return nil, nil, err
	}
	busy, err := t.load("state = 'sending'")
	if err != nil {
		return nil, nil, err
	}
	due, id := int64(-1), int64(0)
	for scanned := 0; n > 0 && scanned < claimScan; scanned += claimPage {
		page, err := t.load("state = 'pending' AND due <= $2 AND (due, id) > ($3, $4) ORDER BY due, id LIMIT $5"+t.skip(), t.now, due, id, claimPage)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range page {
			due, id = r.due, r.id
			_, tried := templates.of(r.template)
			late := r.sendBefore > 0 && t.now > r.sendBefore
			if !late && tried && (n == 0 || slices.ContainsFunc(busy, r.waitsFor)) {
				continue
			}
			found = append(found, r)
			if !late && tried {
				busy = append(busy, r)
				n--
			}
		}
		if len(page) < claimPage {
			break
		}
	}
	return found, templates, nil
}

// waitsFor reports whether all receivers of one of the messages are receivers of the other one: then nobody could tell
// their documents apart.
func (r row) waitsFor(other row) bool {
	return r.template == other.template && (containsAll(r.receivers, other.receivers) || containsAll(other.receivers, r.receivers))
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// request makes the send of a claim, until its deadline or the end of ctx.
func (b *Box) request(ctx context.Context, c claimed) outcome {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.options.SendTimeout)-(b.elapsed()-c.began))
	defer cancel()
	sent, err := b.send(ctx, c.content.params())
	return outcome{claimed: c, sent: sent, err: err}
}

// record stores the end of a send.
func (b *Box) record(ctx context.Context, outcomes []outcome) error {
	err := b.write(ctx, mode{}, func(t *tx) error {
		for _, o := range outcomes {
			if err := t.recordOne(o, b.othersWent(o.id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording an outcome: %w", err)
	}
	return nil
}

func (t *tx) recordOne(o outcome, others bool) error {
	r, found, err := t.byID(o.id)
	if err != nil {
		return err
	}
	current := found && r.state == Sending && r.attempt == o.attempt
	switch v := o.verdict(); {
	case v == wasSent && !found:
		_, err = t.own(o.id, o.template, o.sent.id) // the key was forgotten; the document is not another send's
		return err
	case v == wasSent:
		return t.recordSent(r, o)
	case !current:
		return nil
	case v == unknown:
		return t.change(r.id, "error = $2", o.err.Error())
	case v == wasRefused:
		t.log(slog.LevelError, "a message failed", slog.String("key", r.key), slog.String("error", o.err.Error()))
		return t.stop(r, o.err.Error())
	}
	return t.recordRefusal(r, o, others)
}

// recordSent records a document, also one that comes late.
func (t *tx) recordSent(r row, o outcome) error {
	if r.document == o.sent.id || slices.Contains(r.duplicates, o.sent.id) {
		return nil
	}
	mine, err := t.own(r.id, r.template, o.sent.id)
	switch {
	case err != nil:
		return err
	case !mine && r.document == "" && r.attempt == o.attempt:
		t.log(slog.LevelError, "a document id was returned for two messages: a person decides", slog.String("key", r.key), slog.String("document", o.sent.id))
		return t.undecide(r, []string{o.sent.id}, true, "the service returned the document id of another message")
	case !mine:
		return nil
	case r.document == "" && r.attempt == o.attempt:
		return t.sent(r, o.sent, t.now)
	}
	t.log(slog.LevelError, "a second document was made for one key: a person decides which one to void", slog.String("key", r.key),
		slog.String("document", r.document), slog.String("duplicate", o.sent.id))
	return t.change(r.id, "duplicates = $2, "+tell, toJSON(append(r.duplicates, o.sent.id)))
}

// own records that a document is a message's. It reports false if it is another message's.
func (t *tx) own(id int64, template, document string) (bool, error) {
	n, err := t.exec(`INSERT INTO signforms_outbox_documents (box, document, template, message) VALUES ($1, $2, $3, $4)
		ON CONFLICT (box, document) DO UPDATE SET message = excluded.message
		WHERE signforms_outbox_documents.message IN (0, excluded.message)`, t.box, document, template, id)
	return n > 0, err
}

// sent records the document of a message, which is the message's own already.
func (t *tx) sent(r row, d document, at int64) error {
	var text []byte
	var kept any
	if _, err := t.first([]any{&text}, "SELECT content FROM signforms_outbox WHERE id = $1", r.id); err != nil {
		return err
	}
	if text != nil {
		c, err := decode(text)
		if err != nil {
			return err
		}
		kept = encode(c.afterSend())
	}
	var due int64
	switch {
	case r.void == voidWished:
		due = t.now
	case r.reminded < len(r.remindAfter):
		due = at + r.remindAfter[r.reminded]
	}
	err := t.change(r.id, `state = 'sent', phase = 0, document = $2, status = $3, signers = $4, sent_at = $5, due = $6, since = $7, backoff = 0,
		ended_at = 0, error = '', candidates = '[]', content = $8, `+tell,
		d.id, string(d.status), toJSON(d.signers), at, due, t.now, kept)
	if err == nil {
		err = t.addSigners(r, d.signers)
	}
	if err == nil && ended(d.status) {
		r.state, r.status = Sent, ""
		err = t.follow(r, d.status)
	}
	return err
}

// addSigners makes a message found by the events of its document.
func (t *tx) addSigners(r row, ids []string) error {
	names := slices.Clone(ids)
	for _, address := range r.receivers {
		names = append(names, addressDigest(r.template, address))
	}
	for _, name := range names {
		_, err := t.exec("INSERT INTO signforms_outbox_signers (box, signer, message) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", t.box, name, r.id)
		if err != nil {
			return err
		}
	}
	return nil
}

// undecide leaves a message to a person. looked: candidates are all that there are.
func (t *tx) undecide(r row, candidates []string, looked bool, reason string) error {
	n := 0
	if looked {
		n = 1
	}
	return t.change(r.id, "state = 'undecided', phase = 0, candidates = $2, looked = $3, error = $4, "+tell, toJSON(append([]string{}, candidates...)), n, reason)
}

// recordRefusal makes a message pending again behind the others, or failed.
func (t *tx) recordRefusal(r row, o outcome, others bool) error {
	r.tries++
	if others {
		r.refused++
	}
	if r.refusedAt == 0 {
		r.refusedAt = t.now
	}
	if r.refused >= maxRefused || r.tries >= maxRefused && t.now-r.refusedAt >= maxRefusedFor.Milliseconds() {
		t.log(slog.LevelError, "a message failed", slog.String("key", r.key), slog.String("error", o.err.Error()))
		return t.stop(r, o.err.Error())
	}
	backoff := nextBackoff(time.Duration(r.backoff)*time.Millisecond, o.err).Milliseconds()
	return t.wait(r, t.now+backoff, backoff, "tries = $5, refused = $6, refused_at = $7, error = $8", r.tries, r.refused, r.refusedAt, o.err.Error())
}

// templateRows are the rows of signforms_outbox_templates by template.
type templateRows map[string]templateRow

type templateRow struct {
	walks, reconcile, againAt int64
	tried, again              int
}

func (all templateRows) of(template string) (walks int64, tried bool) {
	return all[template].walks, all[template].tried > 0
}

func (t *tx) templates() (templateRows, error) {
	all := templateRows{}
	err := t.each(func(rows *sql.Rows) error {
		var name string
		var r templateRow
		err := rows.Scan(&name, &r.walks, &r.tried, &r.reconcile, &r.again, &r.againAt)
		all[name] = r
		return err
	}, "SELECT template, walks, tried, reconcile, again, again_at FROM signforms_outbox_templates WHERE box = $1", t.box)
	return all, err
}
