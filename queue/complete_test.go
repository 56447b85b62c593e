package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// ledger is a table of the application in the database of the queue.
type ledger struct {
	*pgxpool.Pool
	s stage
}

func newLedger(t *testing.T) ledger {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	pool, err := pgxpool.New(t.Context(), string(s.where))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE TABLE ledger (entry TEXT NOT NULL)")
	require.NoError(t, err)
	return ledger{pool, s}
}

// enter enters an event, and completes it in the same transaction.
func (l ledger) enter(ctx context.Context, e webhook.Event) (pgx.Tx, error) {
	tx, err := l.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = tx.Exec(ctx, "INSERT INTO ledger VALUES ($1)", name(e)); err == nil {
		err = queue.Complete(ctx, tx)
	}
	if err != nil {
		tx.Rollback(context.WithoutCancel(ctx))
	}
	return tx, err
}

func (l ledger) entries() (all []string) {
	rows, err := l.Query(l.s.Context(), "SELECT entry FROM ledger ORDER BY entry")
	require.NoError(l.s, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(l.s, err)
	return all
}

// The work that a function does in the transaction of Complete is committed exactly once, whatever happens afterwards.
func TestComplete(t *testing.T) {
	l := newLedger(t)
	s := l.s
	var mu sync.Mutex
	tries, outcomes := map[string]int{}, map[string][]queue.Outcome{}
	q := s.queue(&queue.Options{Retries: []time.Duration{0, 0}, OnSettled: func(_ context.Context, set queue.Settled) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[set.Entry.Subject] = append(outcomes[set.Entry.Subject], set.Outcome)
	}})
	s.accept(q, completed("sound", 1), completed("sound", 2), completed("error", 1), completed("panic", 1), completed("forgotten", 1), completed("lost", 1), completed("stale", 1),
		completed("late", 1), completed("late", 2))
	stop := s.run(q, webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
		mu.Lock()
		tries[name(e)]++
		first := tries[name(e)] == 1
		mu.Unlock()
		if e.SubjectID() == "lost" && first { // as if its lease had ended and another worker had it
			s.exec("UPDATE signforms_ordering_keys SET token = 7 WHERE id = (SELECT ordering_key_id FROM signforms_events WHERE subject = 'lost')")
		}
		if name(e) == "late/1" { // as if the transaction of a worker before was committed only now
			s.exec("UPDATE signforms_events SET state = 1, settled = 1 WHERE id = (SELECT min(id) FROM signforms_events WHERE subject = 'late')")
		}
		tx, err := l.enter(ctx, e)
		if err != nil {
			if e.SubjectID() != "lost" && name(e) != "late/1" || !errors.Is(err, queue.ErrLost) {
				t.Error(e.SubjectID(), err)
			}
			return err
		}
		if e.SubjectID() == "forgotten" && first {
			return tx.Rollback(ctx)
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		switch e.SubjectID() {
		case "error":
			return errors.New("after the commit")
		case "panic":
			panic("after the commit")
		case "stale":
			s.exec("UPDATE signforms_ordering_keys SET token = 7, lease = 1 WHERE id = (SELECT ordering_key_id FROM signforms_events WHERE subject = 'stale')")
		}
		return nil
	}})
	s.until(q, func(st queue.Stats) bool { return st.Pending == 1 && st.Running == 1 })
	s.exec("UPDATE signforms_ordering_keys SET lease = 1") // of the one that was lost
	s.settled(q)
	stop()
	require.Equal(t, []string{"error/1", "forgotten/1", "late/2", "lost/1", "panic/1", "sound/1", "sound/2", "stale/1"}, l.entries())
	require.Equal(t, []queue.Outcome{queue.Retrying, queue.Processed}, outcomes["forgotten"])
	require.Equal(t, []queue.Outcome{queue.Processed}, outcomes["error"])
	require.Equal(t, []queue.Outcome{queue.Processed}, outcomes["panic"])
	require.Equal(t, []queue.Outcome{queue.Processed, queue.Processed}, outcomes["sound"])
	require.Equal(t, []queue.Outcome{queue.Stale, queue.Processed}, outcomes["late"])
	for _, e := range s.list(q, queue.Filter{}) {
		require.Equal(t, queue.Done, e.State, fmt.Sprint(e))
	}
}

func TestComplete_elsewhere(t *testing.T) {
	require.ErrorContains(t, queue.Complete(t.Context(), nil), "not that of a function")
	s := stage{T: t, where: newFile(t)}
	q := s.queue(&queue.Options{Retries: []time.Duration{}})
	s.accept(q, completed("a", 1))
	s.run(q, webhook.Funcs{Default: func(ctx context.Context, _ webhook.Event) error { return queue.Complete(ctx, nil) }})
	s.settled(q)
	require.Contains(t, s.list(q, queue.Filter{})[0].Error, "SQLite")
}

func TestComplete_inAnotherSchema(t *testing.T) {
	l, other := newLedger(t), newLedger(t)
	other.s.queue(nil)
	q := l.s.queue(&queue.Options{Retries: []time.Duration{}})
	l.s.accept(q, completed("a", 1), completed("b", 1))
	l.s.run(q, webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
		if e.SubjectID() == "a" {
			return queue.Complete(ctx, nil)
		}
		_, err := other.enter(ctx, e)
		return err
	}})
	l.s.settled(q)
	all := l.s.list(q, queue.Filter{})
	require.Contains(t, all[0].Error, "tx is nil")
	require.NotContains(t, all[0].Error, "panic")
	require.Contains(t, all[1].Error, "in another schema than test")
}
