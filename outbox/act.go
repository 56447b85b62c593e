package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signforms/signforms-go"
)

const (
	actAgain   = 30 * time.Second // time after which another process may repeat a read or a void that this process has claimed
	actLimit   = 20 * time.Second // time limit of the request
	actBatch   = 20
	missingFor = 23 * time.Hour // time between two reads without the document, after which the document counts as deleted
)

// action is an operation on the documents of messages. First the row records that the operation
// begins, then the request is made, and then its outcome is recorded.
type action struct {
	due     string // the condition of messages that are due, with the time as $2
	durable bool   // the claim survives a power cut
	claim   func(t *tx, r *row)
	do      func(context.Context, row) (signforms.DocumentStatus, error)
	record  func(t *tx, claimed, now row, status signforms.DocumentStatus, err error)
}

// act executes an action for up to n messages that are due, and returns their number.
func (b *Box) act(ctx context.Context, a action, n int) (done int, err error) {
	var due []row
	err = b.write(ctx, mode{durable: a.durable}, func(t *tx) {
		due = t.load(a.due+" LIMIT $3"+t.skip(), t.now, n)
		for i := range due {
			a.claim(t, &due[i])
		}
	})
	if err != nil {
		return 0, err
	}
	for _, r := range due {
		bounded, cancel := context.WithTimeout(ctx, actLimit)
		status, failed := a.do(bounded, r)
		cancel()
		err = errors.Join(err, b.write(ctx, mode{}, func(t *tx) {
			if now, found := t.byID(r.id); found {
				a.record(t, r, now, status, failed)
			}
		}))
	}
	return len(due), err
}

// readDocuments reads documents by their ids, because of an event or because a list lacks them.
func (b *Box) readDocuments(ctx context.Context) error {
	_, err := b.act(ctx, action{
		due: "read_due > 0 AND document <> '' AND read_due <= $2 ORDER BY read_due",
		claim: func(t *tx, r *row) {
			r.readDue = t.now + actAgain.Milliseconds()
			t.change(r.id, "read_due = $2", r.readDue)
		},
		do: func(ctx context.Context, r row) (signforms.DocumentStatus, error) {
			d, err := b.client.Respondents.Get(ctx, r.document)
			if err != nil {
				return "", err
			}
			return d.Status, nil
		},
		record: func(t *tx, claimed, r row, status signforms.DocumentStatus, err error) {
			missing := errors.Is(err, signforms.ErrNotFound)
			if err != nil && !missing {
				return
			}
			if r.readDue == claimed.readDue { // no event arrived meanwhile
				t.change(r.id, "read_due = 0")
			}
			switch {
			case !missing:
				t.change(r.id, "missing_at = 0")
				t.follow(r, status)
			case r.missingAt == 0:
				t.change(r.id, "missing_at = $2", t.now)
			case t.now-r.missingAt >= missingFor.Milliseconds():
				t.follow(r, signforms.StatusDeleted)
			}
		},
	}, actBatch)
	return err
}

// voidDocuments voids the documents of messages that are to be void.
func (b *Box) voidDocuments(ctx context.Context) error {
	_, err := b.act(ctx, action{
		due:   "void_due > 0 AND void_due <= $2 ORDER BY void_due",
		claim: func(t *tx, r *row) { t.change(r.id, "void_due = $2", t.now+actAgain.Milliseconds()) },
		do: func(ctx context.Context, r row) (signforms.DocumentStatus, error) {
			_, err := b.client.Documents.Void(ctx, r.entry().Ref())
			return "", err
		},
		record: func(t *tx, _, r row, _ signforms.DocumentStatus, err error) {
			switch {
			case r.state != Sent: // another process was faster
			case err == nil:
				t.follow(r, signforms.StatusVoid)
			case errors.Is(err, signforms.ErrNotFound):
				t.follow(r, signforms.StatusDeleted)
			case errors.Is(err, signforms.ErrRefused), errors.Is(err, signforms.ErrInvalid): // the document may be signed
				t.log(slog.LevelWarn, "a document was not voided", slog.String("key", r.key), slog.String("error", err.Error()))
				t.change(r.id, "void = 2, void_due = 0, read_due = $2, error = $3, "+tell, t.now, err.Error())
			default:
				t.later(r, "void_due", err)
			}
		},
	}, actBatch)
	return err
}

// later sets when an action that failed is repeated.
func (t *tx) later(r row, due string, err error) {
	backoff := nextBackoff(millis(r.backoff), err).Milliseconds()
	t.change(r.id, due+" = $2, since = $3, backoff = $4, error = $5", t.now+backoff, t.now, backoff, err.Error())
}

// remind reminds the signers of messages that are due, until the reminder budget is used up. It
// returns how long the budget stays used up. After stop has ended, it claims no more messages. An
// unknown outcome counts as reminded. If a reminder was not sent, its claim is undone.
func (b *Box) remind(ctx, stop context.Context) (full time.Duration, err error) {
	for stop.Err() == nil {
		budget, err := b.client.Documents.ReminderBudget(ctx)
		if err != nil {
			return 0, err
		}
		if budget.Remaining == 0 {
			return max(budget.NextIn, time.Second), nil
		}
		n, err := b.act(ctx, action{
			due:     "state = 'sent' AND due > 0 AND due <= $2 ORDER BY due, id",
			durable: true,
			claim:   (*tx).claimReminder,
			do: func(ctx context.Context, r row) (signforms.DocumentStatus, error) {
				_, err := b.client.Documents.Remind(ctx, r.entry().Ref())
				return "", err
			},
			record: func(t *tx, claimed, r row, _ signforms.DocumentStatus, err error) {
				switch {
				case err == nil || r.state != Sent || r.reminded != claimed.reminded:
				case errors.Is(err, signforms.ErrOutcomeUnknown):
					t.change(r.id, "error = $2", err.Error())
				case errors.Is(err, signforms.ErrRefused), errors.Is(err, signforms.ErrNotFound), errors.Is(err, signforms.ErrInvalid): // the document may have ended
					t.change(r.id, "read_due = $2, error = $3", t.now, err.Error())
				default:
					t.change(r.id, "reminded = $2", claimed.remindedBefore)
					t.later(r, "due", err)
				}
			},
		}, min(budget.Remaining, actBatch))
		if err != nil || n == 0 {
			return 0, err
		}
	}
	return 0, nil
}

// claimReminder records that a message is reminded. Several due reminders of a message count as
// one.
func (t *tx) claimReminder(r *row) {
	r.remindedBefore = r.reminded
	for r.reminded < len(r.remindAfter) && (r.reminded == r.remindedBefore || r.sentAt+r.remindAfter[r.reminded] <= t.now) {
		r.reminded++
	}
	var next int64
	if r.reminded < len(r.remindAfter) {
		next = r.sentAt + r.remindAfter[r.reminded]
	}
	t.change(r.id, "reminded = $2, due = $3, since = $4", r.reminded, next, t.now)
}
