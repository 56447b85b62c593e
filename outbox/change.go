package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signforms/signforms-go"
)

// Add adds a message in the transaction of q. Nothing is sent unless that transaction commits. At
// most one document is sent for a key, until Forget.
//
// If the key exists already with the same Send, Add changes nothing and returns nil, whatever the
// state of the message. With another Send, Add returns ErrKeyUsed. A PDF that is made again usually
// differs in its bytes, so call Get first. For inputs that Send would refuse, the error matches
// signforms.ErrInvalid.
func (b *Box) Add(ctx context.Context, q Querier, m Message) error {
	e, err := m.encode()
	if err != nil {
		return err
	}
	t := b.session(ctx, q)
	for range 3 { // Forget may come between the two statements
		if t.exec(`INSERT INTO signforms_outbox (box, key, template, digest, due, since, added_at, send_before, remind_after, receivers, content)
			VALUES ($1, $2, $3, $4, $5, $5, $5, $6, $7, $8, $9) ON CONFLICT (box, key) DO NOTHING`,
			b.box, m.Key, e.template, e.digest, t.now, e.sendBefore, e.remindAfter, e.receivers, e.content) > 0 {
			b.expectAdd()
			return nil
		}
		var digest []byte
		found := t.first([]any{&digest}, "SELECT digest FROM signforms_outbox WHERE box = $1 AND key = $2", b.box, m.Key)
		switch {
		case t.err != nil:
			return fmt.Errorf("outbox: Add: %w", t.err)
		case found && !bytes.Equal(digest, e.digest):
			return fmt.Errorf("%w: %q", ErrKeyUsed, m.Key)
		case found:
			return nil
		}
	}
	return fmt.Errorf("outbox: Add: another transaction has added %q, which this one cannot see: repeat this one", m.Key)
}

// Get returns the message with a key, or ErrKeyUnknown.
func (b *Box) Get(ctx context.Context, q Querier, key string) (Entry, error) {
	t := b.session(ctx, q)
	r := t.byKey(key)
	if t.err != nil {
		return Entry{}, fmt.Errorf("outbox: Get of %q: %w", key, t.err)
	}
	return r.entry(), nil
}

// Void makes sure that a message is not signed, if possible. The state of the message decides:
//
//   - A pending or failed message is cancelled. A cancelled message stays cancelled.
//   - The document of a message that is sending or undecided is voided when it is known.
//   - The document of a sent message is voided by the next turn of Run.
//
// Entry.Voiding is true until then. A document that was signed meanwhile stays signed. Void returns
// ErrState if the message has ended with a status other than void.
func (b *Box) Void(ctx context.Context, q Querier, key string) error {
	return b.decide(ctx, q, "Void", key, func(r row) string {
		if r.state == Ended && r.status != "VOID" && r.status != "DELETED" {
			return "the document has ended as " + string(r.status)
		}
		return ""
	}, `due = CASE WHEN state = 'sent' THEN 0 ELSE due END, void_due = CASE WHEN state = 'sent' THEN $3 ELSE 0 END,
		void = CASE WHEN state IN ('ended', 'cancelled') THEN void ELSE 1 END,
		ended_at = CASE WHEN state IN ('pending', 'failed') THEN $3 ELSE ended_at END,
		changes = CASE WHEN state IN ('pending', 'failed') THEN changes + 1 ELSE changes END,
		state = CASE WHEN state IN ('pending', 'failed') THEN 'cancelled' ELSE state END`,
		"state <> 'ended' OR status IN ('VOID', 'DELETED')")
}

// MarkNotSent records the decision of a person that an undecided message was not sent. The message
// becomes pending again, or cancelled after Void. MarkNotSent returns ErrState if the message is
// not undecided.
func (b *Box) MarkNotSent(ctx context.Context, q Querier, key string) error {
	return b.decide(ctx, q, "MarkNotSent", key, wanted(Undecided),
		`due = $3, since = $3, backoff = 0, first_walk = -1, candidates = '[]', looked = 0, not_sent = 0, error = '',
		ended_at = CASE WHEN void = 1 THEN $3 ELSE 0 END,
		changes = CASE WHEN void = 1 THEN changes + 1 ELSE changes END,
		state = CASE WHEN void = 1 THEN 'cancelled' ELSE 'pending' END`, "state = 'undecided'")
}

// Retry makes a failed message pending again, without its SendBefore. Retry returns ErrState if the
// message has not failed, and ErrErased if its content was erased.
func (b *Box) Retry(ctx context.Context, q Querier, key string) error {
	return b.decide(ctx, q, "Retry", key, wanted(Failed),
		`state = 'pending', due = $3, since = $3, backoff = 0, tries = 0, refused = 0, refused_at = 0, not_sent = 0, send_before = 0,
		ended_at = 0, error = ''`, "state = 'failed' AND content IS NOT NULL")
}

func wanted(s State) func(row) string {
	return func(r row) string {
		if r.state == s {
			return ""
		}
		return "it is " + string(r.state)
	}
}

// decide changes the message with a key in one statement, so that the change is atomic even without
// a transaction. If the statement changes no row, refusal returns why.
func (b *Box) decide(ctx context.Context, q Querier, method, key string, refusal func(row) string, set, condition string) error {
	t := b.session(ctx, q)
	if t.exec("UPDATE signforms_outbox SET "+set+" WHERE box = $1 AND key = $2 AND CAST($3 AS BIGINT) > 0 AND ("+condition+")", b.box, key, t.now) > 0 {
		b.expectAdd()
		return nil
	}
	return b.refused(t, method, key, refusal)
}

// refused returns why a method has changed no row.
func (b *Box) refused(t *tx, method, key string, refusal func(row) string) error {
	r := t.byKey(key)
	if why := refusal(r); t.err == nil {
		t.err = fmt.Errorf("%w: %s", ErrState, why)
		if why == "" { // the message has the required state after all
			t.err = ErrErased
		}
	}
	return fmt.Errorf("outbox: %s of %q: %w", method, key, t.err)
}

// Forget erases a message that has ended, failed or was cancelled, if OnChange was called for its
// last change. Otherwise it returns ErrState. Then the key may be added again. The id of the
// document stays in the box, so that the document is never mistaken for that of another send.
func (b *Box) Forget(ctx context.Context, q Querier, key string) error {
	const which = "box = $1 AND key = $2 AND state IN ('ended', 'failed', 'cancelled') AND told = changes"
	t := b.session(ctx, q)
	t.exec("DELETE FROM signforms_outbox_signers WHERE message IN (SELECT id FROM signforms_outbox WHERE "+which+")", b.box, key)
	if t.exec("DELETE FROM signforms_outbox WHERE "+which, b.box, key) > 0 {
		return nil
	}
	return b.refused(t, "Forget", key, func(r row) string {
		if r.told != r.changes {
			return "OnChange was not called yet for its last change"
		}
		return "it is " + string(r.state)
	})
}

// LookFirst makes Run search for the document of each message that is pending now, before it sends
// the message. Call it once before Run after the database was restored from a backup, or after a
// failover to an asynchronous standby: messages may have been sent after the state that was
// restored.
func (b *Box) LookFirst(ctx context.Context) error {
	err := b.write(ctx, mode{durable: true, serial: true, limit: batchLimit}, func(t *tx) {
		t.exec(`UPDATE signforms_outbox SET state = 'sending', attempt = attempt + 1, phase = $2, watched = 0, doubted = 0, timeout = $3,
			claimed_at = $4, service_at = 0, first_walk = CASE WHEN first_walk >= 0 THEN first_walk ELSE coalesce(
				(SELECT walks FROM signforms_outbox_templates AS w WHERE w.box = $1 AND w.template = signforms_outbox.template), 0) END
			WHERE box = $1 AND state = 'pending'`, b.box, phaseFirst, b.options.SendTimeout.Milliseconds(), t.now)
	})
	if err != nil {
		return fmt.Errorf("outbox: LookFirst: %w", err)
	}
	b.Wake()
	return nil
}

// MarkSent records the decision of a person that an undecided message was sent, with the id of its
// document. MarkSent reads the document from the service. It returns ErrState in these cases:
//
//   - The message is not undecided.
//   - The document belongs to a different message or template.
//   - The document may belong to a message that is sending.
func (b *Box) MarkSent(ctx context.Context, key, documentID string) error {
	if b.client == nil {
		return errors.New("outbox: MarkSent: the box was opened without a client")
	}
	d, err := b.client.Respondents.Get(ctx, documentID)
	if err == nil {
		err = b.write(ctx, mode{serial: true}, func(t *tx) { t.markSent(key, d) })
	}
	if err != nil {
		return fmt.Errorf("outbox: MarkSent of %q: %w", key, err)
	}
	b.Wake()
	return nil
}

func (t *tx) markSent(key string, d *signforms.Respondent) {
	r := t.byKey(key)
	why := wanted(Undecided)(r)
	if normalID(d.TemplateID) != r.template {
		why = "the document is of another template"
	}
	for _, other := range rivals(t.doubts(r.template), d, 0) {
		if other.id != r.id && other.state == Sending {
			why = fmt.Sprintf("the document may be that of %q, which is sending: wait until it is settled", other.key)
		}
	}
	if t.err == nil && why == "" && (slices.Contains(r.duplicates, normalID(d.ID)) || !t.own(r.id, r.template, normalID(d.ID))) {
		why = "the document is another message's, or a duplicate"
	}
	if t.err == nil && why != "" {
		t.err = fmt.Errorf("%w: %s", ErrState, why)
	}
	t.sent(r, d, r.claimedAt)
}
