package outbox

import (
	"context"
	"database/sql"
	"time"

	"github.com/signforms/signforms-go"
)

// A message that is sending is watched until its request can no longer arrive. Then, after a first
// walk, it is watched until the service has responded for a while. The row adds up these times, so
// that little time is lost by a restart. No wall clock is used, and no message belongs to a
// process.
const (
	watchMargin = time.Minute      // time after the deadline of the send
	answeredFor = time.Minute      // time between the two walks during which the service responds
	probeEvery  = 15 * time.Second // time between probes while a message waits for its second walk
	answeredGap = 30 * time.Second // time between two responses; a longer time does not count
	saveWatch   = 5 * time.Second
	lookedUpFor = 24 * time.Hour
)

// watchlist has the observations of a process about messages that are sending, and about the
// service's clock. Box.mu guards it.
type watchlist struct {
	watches   map[int64]*watch
	service   time.Time     // the service's time
	serviceAt time.Duration // monotonic time at which service was read
}

// watch has the observations of this process about one attempt in one phase.
type watch struct {
	attempt, phase           int
	watchedBase, doubtedBase time.Duration // values in the row when the watch began
	since                    time.Duration // when the read that began the watch returned
	answered                 time.Duration // how long the service answered since then
	response                 time.Duration // when the last response came
	responded                bool          // the last probe since the watch began had a response
	saved                    time.Duration // the value of doubted that was stored last
}

// watching is a message that is sending, as read from its row and its watch.
type watching struct {
	id               int64
	template         string
	attempt, phase   int
	watched, doubted time.Duration
	timeout, remain  time.Duration // remain is the time until a walk is due
}

// watch reads the messages that are sending, adds up how long they were observed, and stores these
// times at intervals, or at once if atOnce is true.
func (b *Box) watch(ctx context.Context, atOnce bool) (all []watching, err error) {
	err = b.read(ctx, func(t *tx) {
		all = nil
		t.each(func(rows *sql.Rows) error {
			var w watching
			var watched, doubted, timeout int64
			err := rows.Scan(&w.id, &w.template, &w.attempt, &w.phase, &watched, &doubted, &timeout)
			w.watched, w.doubted, w.timeout = millis(watched), millis(doubted), millis(timeout)
			all = append(all, w)
			return err
		}, "SELECT id, template, attempt, phase, watched, doubted, timeout FROM signforms_outbox WHERE box = $1 AND state = 'sending'", t.box)
	})
	if err != nil {
		return nil, err
	}
	stored := b.addUp(all, atOnce)
	if len(stored) == 0 {
		return all, nil
	}
	return all, b.write(ctx, mode{}, func(t *tx) {
		for _, w := range stored {
			t.exec(`UPDATE signforms_outbox SET watched = CASE WHEN watched < $4 THEN $4 ELSE watched END,
				doubted = CASE WHEN doubted < $5 THEN $5 ELSE doubted END
				WHERE id = $1 AND attempt = $2 AND phase = $3 AND state = 'sending'`,
				w.id, w.attempt, w.phase, w.watched.Milliseconds(), w.doubted.Milliseconds())
		}
	})
}

// addUp sets the times of all messages, and returns the messages whose times must be stored. It is
// called when the read of all has returned.
func (b *Box) addUp(all []watching, atOnce bool) (stored []watching) {
	now := b.elapsed()
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.watches
	b.watches = map[int64]*watch{}
	for i := range all {
		w := &all[i]
		seen := before[w.id]
		if seen == nil || seen.attempt != w.attempt || seen.phase != w.phase {
			seen = &watch{attempt: w.attempt, phase: w.phase, watchedBase: w.watched, doubtedBase: w.doubted, since: now}
		}
		b.watches[w.id] = seen
		need, watched := answeredFor, seen.watchedBase+seen.answered
		if w.phase == phaseFirst {
			need, watched = w.timeout+watchMargin, seen.watchedBase+now-seen.since
		}
		doubted := seen.doubtedBase + now - seen.since
		more := watched - w.watched
		w.watched, w.doubted = max(w.watched, watched), max(w.doubted, doubted)
		w.remain = max(0, need-w.watched)
		if atOnce || more >= saveWatch || more > 0 && w.remain == 0 || w.phase != phaseFirst && doubted-seen.saved >= time.Minute {
			seen.saved = doubted
			stored = append(stored, *w)
		}
	}
	return stored
}

// probeService reads one page of a template, so that messages between their two walks record that
// the service responds.
func (b *Box) probeService(ctx context.Context, template string) error {
	began := b.elapsed()
	err := b.readService(ctx, template)
	ended := b.elapsed()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.watches {
		if err == nil && w.responded && ended-w.response <= answeredGap {
			w.answered += max(0, began-w.response)
		}
		w.response, w.responded = ended, err == nil
	}
	return err
}

// readService reads one page of a template, and the service's time with it.
func (b *Box) readService(ctx context.Context, template string) error {
	ctx, cancel := context.WithTimeout(ctx, answeredGap)
	defer cancel()
	page, err := b.client.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: template, Limit: 1})
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && !page.Time.IsZero() {
		b.service, b.serviceAt = page.Time, b.elapsed()
	}
	return err
}

// serviceNow returns the service's time in Unix milliseconds, or 0 if it is not known.
func (b *Box) serviceNow() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.service.IsZero() {
		return 0
	}
	return b.service.Add(b.elapsed() - b.serviceAt).UnixMilli()
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
