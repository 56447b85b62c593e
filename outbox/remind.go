package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signforms/signforms-go"
)

// reminder is a message whose signers are to be reminded.
type reminder struct {
	row
	before int // Reminded before the claim
}

// remind reminds the signers of messages that are due, each time at most once: the row says so before the request. It
// stops when the reminder budget is used up, and returns for how long that is so. After stop has ended it claims no more.
func (b *Box) remind(ctx, stop context.Context) (full time.Duration, err error) {
	for stop.Err() == nil {
		budget, err := b.client.Documents.ReminderBudget(ctx)
		if err != nil {
			return 0, fmt.Errorf("reading the reminder budget: %w", err)
		}
		if budget.Remaining == 0 {
			return max(budget.NextIn, time.Second), nil
		}
		claims, err := b.claimReminders(ctx, budget.Remaining)
		if err != nil || len(claims) == 0 {
			return 0, err
		}
		for _, c := range claims {
			bounded, cancel := context.WithTimeout(ctx, requestLimit)
			_, remindErr := b.client.Documents.Remind(bounded, c.entry().Ref())
			cancel()
			if err := b.write(ctx, mode{}, func(t *tx) error { return t.isReminded(c, remindErr) }); err != nil {
				return 0, fmt.Errorf("recording a reminder: %w", err)
			}
		}
	}
	return 0, nil
}

// claimReminders records that up to n messages are reminded. Several reminders of a message that are due are one.
func (b *Box) claimReminders(ctx context.Context, n int) (claims []reminder, err error) {
	err = b.write(ctx, mode{durable: true}, func(t *tx) error {
		claims = nil
		due, err := t.load("state = 'sent' AND void <> 1 AND due > 0 AND due <= $2 ORDER BY due, id LIMIT $3"+t.skip(), t.now, n)
		for _, r := range due {
			c := reminder{r, r.reminded}
			for r.reminded < len(r.remindAfter) && (r.sentAt+r.remindAfter[r.reminded] <= t.now || r.reminded == c.before) {
				r.reminded++
			}
			if r.reminded == c.before {
				continue
			}
			var next int64
			if r.reminded < len(r.remindAfter) {
				next = r.sentAt + r.remindAfter[r.reminded]
			}
			if err == nil {
				err = t.change(r.id, "reminded = $2, due = $3, since = $4", r.reminded, next, t.now)
			}
			c.row = r
			claims = append(claims, c)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming reminders: %w", err)
	}
	return claims, nil
}

// isReminded gives a reminder back that was not sent. An outcome that is unknown counts as reminded.
func (t *tx) isReminded(c reminder, remindErr error) error {
	r, found, err := t.byID(c.id)
	switch {
	case err != nil || !found || r.state != Sent || r.reminded != c.reminded || remindErr == nil:
		return err
	case errors.Is(remindErr, signforms.ErrOutcomeUnknown):
		return t.change(r.id, "error = $2", remindErr.Error())
	case errors.Is(remindErr, signforms.ErrRefused), errors.Is(remindErr, signforms.ErrNotFound), errors.Is(remindErr, signforms.ErrInvalid):
		return t.change(r.id, "read_due = $2, error = $3", t.now, remindErr.Error()) // it may have ended
	}
	backoff := nextBackoff(millis(r.backoff), remindErr).Milliseconds()
	return t.change(r.id, "reminded = $2, due = $3, since = $4, backoff = $5, error = $6", c.before, t.now+backoff, t.now, backoff, remindErr.Error())
}
