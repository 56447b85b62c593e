package queue

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// claim is a line that this process holds until its lease ends.
type claim struct {
	line        string
	token       string
	head        int64 // the event to process; 0: none is left
	interrupted bool  // the head's last function began under a lease that ended without an outcome
	until       time.Time
	abandoned   chan struct{} // closed when the function returns that was abandoned; nil: none was
}

const claimTimeout = 5 * time.Second

// claimLines claims up to n lines that are due and not in except.
func (q *Queue) claimLines(ctx context.Context, n int, except []string) (claims []*claim, err error) {
	// A claim that is committed must be worked on, so the end of Run does not cut it short.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	token := rand.Text()
	err = q.db.write(ctx, func(t *tx) error {
		claims = claims[:0]
		until := time.Now().Add(q.lease())
		now := q.now()
		scan := func(rows *sql.Rows) error {
			c := &claim{token: token, until: until}
			var interrupted int64
			claims = append(claims, c)
			err := rows.Scan(&c.line, &c.head, &interrupted)
			c.interrupted = interrupted != 0 && interrupted == c.head
			return err
		}
		free := t.latest + "(due, lease)"
		return t.each(scan, `WITH free AS MATERIALIZED (
				SELECT line FROM signforms_lines WHERE `+free+` <= $1 AND NOT (`+t.in("line", "$4")+`)
				ORDER BY `+free+` LIMIT $5`+t.skip+`)
			UPDATE signforms_lines SET lease = $2, token = $3,
				interrupted = CASE WHEN token = '' THEN 0 ELSE head END,
				head = coalesce((SELECT min(e.id) FROM signforms_events AS e WHERE e.line = signforms_lines.line AND e.state = 0), 0)
			WHERE line IN (SELECT line FROM free)
			RETURNING line, head, interrupted`,
			now, now+q.lease().Milliseconds(), token, t.list(except), n)
	})
	return claims, err
}

// nextDue returns how long it is until a line is due; false when there is none.
func (q *Queue) nextDue(ctx context.Context, except []string) (time.Duration, bool, error) {
	var due int64
	t := q.query(ctx)
	free := t.latest + "(due, lease)"
	// Not min(): with a condition it would read all lines instead of the first in the index.
	found, err := t.first([]any{&due}, "SELECT "+free+" FROM signforms_lines WHERE NOT ("+t.in("line", "$1")+") ORDER BY "+free+" LIMIT 1", t.list(except))
	return time.Duration(due-q.now()) * time.Millisecond, found, err
}

// work is an event to process.
type work struct {
	entry Entry
	event webhook.Event
	err   error // when its JSON cannot be read
}

// load reads the claim's event; nil when it is not pending any more.
func (q *Queue) load(ctx context.Context, c *claim) (*work, error) {
	w := &work{entry: Entry{ID: c.head, Line: c.line, State: Pending}}
	var key, body []byte
	var received int64
	found, err := q.query(ctx).first([]any{&key, &w.entry.Type, &w.entry.Subject, &w.entry.Attempts, &received, &w.entry.Error, &body},
		`SELECT dedupe, type, subject, attempts, received, error, body FROM signforms_events WHERE id = $1 AND state = 0`, c.head)
	if err != nil || !found {
		return nil, err
	}
	w.entry.Key, w.entry.Received = keyText(key), fromMillis(received)
	// As an element of an array, which it was: what is no object is an event that cannot be decoded.
	events, err := webhook.Parse(slices.Concat([]byte("["), body, []byte("]")))
	if err == nil && len(events) != 1 {
		err = errors.New("the stored JSON is not one event")
	}
	if err != nil {
		w.err = webhook.Permanent(err)
		return w, nil
	}
	w.event = events[0]
	return w, nil
}

func keyText(key []byte) string {
	var k webhook.ReplayKey
	copy(k[:], key)
	return k.String()
}
