package outbox

import (
	"context"
	"fmt"
	"slices"
)

// MarkSent records a person's word that an undecided message was sent as a document, which it reads from the service. It
// returns ErrState if the message is not undecided, if the document is another message's or of another template, and
// while another message that is sending may have it.
func (b *Box) MarkSent(ctx context.Context, key, documentID string) error {
	if b.client == nil {
		return fmt.Errorf("outbox: MarkSent: the box was opened without a client")
	}
	d, err := b.get(ctx, documentID)
	if err == nil {
		err = b.write(ctx, mode{serial: true}, func(t *tx) error { return t.markSent(key, d) })
	}
	if err != nil {
		return fmt.Errorf("outbox: MarkSent of %q: %w", key, err)
	}
	b.Wake()
	return nil
}

func (t *tx) markSent(key string, d document) error {
	r, err := t.byKey(key)
	switch {
	case err != nil:
		return err
	case r.state != Undecided:
		return fmt.Errorf("%w: it is %s", ErrState, r.state)
	case d.template != "" && d.template != r.template:
		return fmt.Errorf("%w: the document is of another template", ErrState)
	}
	doubts, err := t.doubts(r.template)
	if err != nil {
		return err
	}
	for _, other := range newMatcher(doubts).of(d, 0) {
		if other.id != r.id && other.state == Sending {
			return fmt.Errorf("%w: the document may be that of %q, which is sending: wait until it is settled", ErrState, other.key)
		}
	}
	mine, err := t.own(r.id, r.template, d.id)
	if err == nil && !mine {
		err = fmt.Errorf("%w: the document is another message's", ErrState)
	}
	if err != nil {
		return err
	}
	if slices.Contains(r.duplicates, d.id) {
		return fmt.Errorf("%w: the document is a duplicate", ErrState)
	}
	return t.sent(r, d, r.claimedAt)
}
