package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signforms/signforms-go"
)

// Add adds a message in the transaction of q: nothing is sent unless that commits. Adding the same key with the same Send
// again changes nothing and is no error, whatever the state of the message; with another Send Add returns ErrKeyUsed. A
// PDF that is made again usually differs in its bytes, so call Get first. Inputs that Send would refuse return an error
// that matches signforms.ErrInvalid. At most one document is sent for a key, until Forget.
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

// Void asks for a message not to be signed. A message that was not sent is cancelled. The document of a message that is
// sending or undecided is voided once it is known, and the document of a sent message at Run's next turn. Entry.Voiding is
// true until then. A document that was signed meanwhile stays signed. Void returns ErrState if the message has ended with
// a status other than void.
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

// MarkNotSent records a person's word that an undecided message was not sent. It is pending again, or cancelled after
// Void. Another state than undecided returns ErrState.
func (b *Box) MarkNotSent(ctx context.Context, q Querier, key string) error {
	return b.decide(ctx, q, "MarkNotSent", key, wanted(Undecided),
		`due = $3, since = $3, backoff = 0, first_walk = -1, candidates = '[]', looked = 0, not_sent = 0, error = '',
		ended_at = CASE WHEN void = 1 THEN $3 ELSE 0 END,
		changes = CASE WHEN void = 1 THEN changes + 1 ELSE changes END,
		state = CASE WHEN void = 1 THEN 'cancelled' ELSE 'pending' END`, "state = 'undecided'")
}

// Retry makes a failed message pending again, without its SendBefore. Another state than failed returns ErrState, and a
// message whose content was erased ErrErased.
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

// decide changes the message with a key in one statement, so that it is one change also without a transaction. If that
// changes no row, refusal returns why.
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
		if why == "" { // it was read in the state that was asked for
			t.err = ErrErased
		}
	}
	return fmt.Errorf("outbox: %s of %q: %w", method, key, t.err)
}

// Forget erases a message that ended, failed or was cancelled, after OnChange was called for it; otherwise it returns
// ErrState. The key may then be added again. The id of its document stays, so that the document is never taken for
// another send.
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

// LookFirst makes Run look for each message that is pending now before it sends it. Call it once before Run after the
// database was restored from a backup, or after a failover to an asynchronous standby: messages may have been sent after
// the state that was restored.
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

// MarkSent records a person's word that an undecided message was sent as a document, which it reads from the service. It
// returns ErrState if the message is not undecided, if the document belongs to a different message or template, and while
// the document may belong to a message that is sending.
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
