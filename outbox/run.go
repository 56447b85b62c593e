package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"
)

const (
	addedPoll  = 100 * time.Millisecond // for a second after an Add
	errorPause = time.Second
	maxWalks   = 4
	clockLimit = 10 * time.Second
	drainLimit = 10 * time.Second // for recording outcomes after Grace
)

// Run sends, settles, follows and reminds until ctx ends. Then it claims nothing more, gives requests that are under way
// [Options.Grace], and returns nil. It goes on trying while the database or the service is unreachable. Several processes
// may run the same box. Run returns an error if the box has no client, or if it runs in this Box already.
func (b *Box) Run(ctx context.Context) error {
	if b.client == nil {
		return errors.New("outbox: Run: the box was opened without a client")
	}
	if !b.runs.TryLock() {
		return errors.New("outbox: Run is running in this Box already: set Options.Workers to send more at once")
	}
	defer b.runs.Unlock()
	r := newRunner(b)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(r.turn(ctx, work))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-b.wake:
		case o := <-r.done:
			r.follow(o)
		case end := <-r.ends:
			r.end(end)
		}
	}
	grace := time.AfterFunc(b.options.Grace, cancel)
	defer grace.Stop()
	r.drain(work)
	return nil
}

// runner is one call of Run.
type runner struct {
	*Box
	inline   bool // tests: each task is run at once, in the calling goroutine
	pace     pace
	active   int          // sends under way
	outcomes []outcome    // to be recorded
	done     chan outcome // has room for all sends
	ends     chan taskEnd // has room for all tasks
	tasks    sync.WaitGroup
	running  map[string]bool               // tasks by name
	after    map[string]time.Duration      // when a task may run again
	failing  map[string]string             // the last error of a task, which is logged once
	sending  map[string]map[int64]watching // by template, as of the last watch
	seen     map[string]map[int64]watching // that of a watch since the last turn, under Box.mu
	probed   time.Duration                 // when the next probe is due, for watchDoubts
	first    map[string]bool               // templates to be walked before their first claim
	clocked  bool                          // the service's time was asked for
	offset   int64                         // stored less monotonic time, in milliseconds
	offsets  bool
	progress bool
}

type taskEnd struct {
	name string
	err  error
	wait time.Duration // until the task may run again
	then func()
}

func newRunner(b *Box) *runner {
	return &runner{Box: b, pace: pace{careful: true}, done: make(chan outcome, b.options.Workers), ends: make(chan taskEnd, 64),
		running: map[string]bool{}, after: map[string]time.Duration{}, failing: map[string]string{},
		sending: map[string]map[int64]watching{}, first: map[string]bool{}}
}

// turn records what has ended, starts what is due, and returns when to look again. Requests are made with work.
func (r *runner) turn(ctx, work context.Context) time.Duration {
	r.recordAll(work)
	r.mu.Lock()
	if r.seen != nil {
		r.sending, r.seen = r.seen, nil
	}
	r.mu.Unlock()
	wait := r.pollAgain()
	p, err := r.plan(ctx)
	if r.failed("reading what is due", err) {
		return min(wait, errorPause)
	}
	r.watchClock(ctx, p.now)
	wait = min(wait, r.startSends(ctx, work, p))
	for _, task := range []struct {
		name string
		due  int64
		do   func() (time.Duration, error)
	}{
		{"tell", p.untold, func() (time.Duration, error) { return 0, r.tellChanges(work) }},
		{"void", p.voids, func() (time.Duration, error) { return 0, r.voidDocuments(work) }},
		{"read", p.reads, func() (time.Duration, error) { return 0, r.readDocuments(ctx) }},
		{"remind", p.reminders, func() (time.Duration, error) { return r.remind(work, ctx) }},
		{"erase", p.contents, func() (time.Duration, error) { return 0, r.erase(ctx) }},
	} {
		wait = min(wait, r.startDue(task.name, p.until(task.due), task.do))
	}
	if p.sending > 0 {
		wait = min(wait, r.startDue("watch", 0, func() (time.Duration, error) { return r.watchDoubts(ctx) }))
	} else {
		clear(r.sending)
	}
	return min(wait, r.startWalks(ctx, p))
}

// pollAgain returns the time until the next look for what other transactions have changed.
func (r *runner) pollAgain() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.elapsed() < r.added {
		return min(addedPoll, r.options.PollInterval)
	}
	return r.options.PollInterval
}

// startDue starts a task that is due in wait, unless it runs. It returns the time until it is due.
func (r *runner) startDue(name string, wait time.Duration, do func() (time.Duration, error)) time.Duration {
	if wait = max(wait, r.after[name]-r.elapsed()); wait > 0 || r.running[name] {
		return max(wait, addedPoll)
	}
	r.start(name, func() taskEnd {
		again, err := do()
		return taskEnd{name: name, err: err, wait: again}
	})
	return math.MaxInt64
}

func (r *runner) start(name string, do func() taskEnd) {
	r.running[name] = true
	r.progress = true
	if r.inline {
		r.end(do())
		return
	}
	r.tasks.Go(func() { r.ends <- do() })
}

// end notes the end of a task.
func (r *runner) end(e taskEnd) {
	delete(r.running, e.name)
	if r.failed(e.name, e.err) {
		e.wait = max(e.wait, errorPause)
	}
	r.after[e.name] = r.elapsed() + e.wait
	if e.then != nil {
		e.then()
	}
}

// failed logs an error once until the same thing has succeeded, and reports whether there is one.
func (r *runner) failed(what string, err error) bool {
	if err == nil {
		delete(r.failing, what)
		return false
	}
	if errors.Is(err, context.Canceled) {
		return true
	}
	if _, known := r.failing[what]; !known {
		r.log(slog.LevelWarn, "an error, after which Run tries again", slog.String("what", what), slog.String("error", err.Error()))
	}
	r.failing[what] = err.Error()
	return true
}

// plan is when work is due, as stored times; 0: there is none.
type plan struct {
	now, pending, sending, untold, voids, reads, reminders, contents, reconcile, again int64
	template                                                                           string // of the message that is due first
}

// plan asks in one statement, so that an idle Run costs little.
func (r *runner) plan(ctx context.Context) (p plan, err error) {
	err = r.read(ctx, func(t *tx) error {
		p.now = t.now
		_, err := t.first([]any{&p.pending, &p.template, &p.sending, &p.untold, &p.voids, &p.reads, &p.reminders, &p.contents, &p.reconcile, &p.again}, `SELECT
			coalesce((SELECT min(due) FROM signforms_outbox WHERE box = $1 AND state = 'pending'), 0),
			coalesce((SELECT template FROM signforms_outbox WHERE box = $1 AND state = 'pending' ORDER BY due, id LIMIT 1), ''),
			(SELECT count(*) FROM (SELECT 1 FROM signforms_outbox WHERE box = $1 AND state = 'sending' LIMIT 1) AS one),
			coalesce((SELECT min(tell_due) + 1 FROM signforms_outbox WHERE box = $1 AND told <> changes), 0),
			coalesce((SELECT min(due) FROM signforms_outbox WHERE box = $1 AND void = 1 AND state = 'sent'), 0),
			coalesce((SELECT min(read_due) FROM signforms_outbox WHERE box = $1 AND read_due > 0 AND document <> ''), 0),
			coalesce((SELECT min(due) FROM signforms_outbox WHERE box = $1 AND state = 'sent' AND due > 0 AND void <> 1), 0),
			coalesce((SELECT min(ended_at) FROM signforms_outbox WHERE box = $1 AND content IS NOT NULL AND ended_at > 0), 0),
			coalesce((SELECT min(reconcile) FROM signforms_outbox_templates WHERE box = $1), 0),
			coalesce((SELECT min(again_at) + 1 FROM signforms_outbox_templates WHERE box = $1 AND again = 1), 0)`, t.box)
		return err
	})
	if p.contents > 0 {
		p.contents += r.options.KeepContent.Milliseconds()
	}
	if p.again > 0 {
		p.again += againEvery.Milliseconds()
	}
	return p, err
}

// until returns the time until something is due.
func (p plan) until(due int64) time.Duration {
	if due == 0 {
		return math.MaxInt64
	}
	return max(0, millis(due-p.now))
}

// watchClock ends waits that were given by a clock that was set back since, at the start and whenever that is seen.
func (r *runner) watchClock(ctx context.Context, now int64) {
	offset := now - r.elapsed().Milliseconds()
	if r.offsets && offset > r.offset-time.Second.Milliseconds() {
		r.offset = offset
		return
	}
	err := r.write(ctx, mode{}, func(t *tx) error {
		for _, s := range []string{"signforms_outbox SET due = $2, since = $2 WHERE box = $1 AND state = 'pending' AND since > $2",
			"signforms_outbox SET due = $2, since = $2 WHERE box = $1 AND state = 'sent' AND backoff > 0 AND since > $2",
			"signforms_outbox SET tell_due = 0 WHERE box = $1 AND told <> changes AND CAST($2 AS BIGINT) > 0",
			"signforms_outbox SET read_due = $2 WHERE box = $1 AND read_due > $2",
			"signforms_outbox_templates SET again_at = 0 WHERE box = $1 AND again = 1 AND again_at > $2"} {
			if _, err := t.exec("UPDATE "+s, t.box, t.now); err != nil {
				return err
			}
		}
		_, err := t.exec("UPDATE signforms_outbox_templates SET reconcile = $2 WHERE box = $1 AND reconcile > $3", t.box, t.now,
			t.now+max(r.options.Reconcile, failedAgain).Milliseconds())
		return err
	})
	if !r.failed("setting waits by the clock", err) {
		r.offset, r.offsets = offset, true
	}
}

// startSends claims messages that are due and begins their sends.
func (r *runner) startSends(ctx, work context.Context, p plan) time.Duration {
	wait := p.until(p.pending)
	if wait > 0 {
		return wait
	}
	if wait = r.readClock(ctx, p.template); wait > 0 {
		return wait
	}
	n, wait := r.pace.allows(r.elapsed(), r.active, r.options.Workers)
	if n <= 0 || wait > 0 {
		return max(wait, addedPoll)
	}
	claims, first, err := r.claim(ctx, n)
	if r.failed("claim", err) {
		return errorPause
	}
	for _, template := range first {
		r.first[template] = true
	}
	for _, c := range claims {
		r.active++
		r.progress = true
		if r.inline {
			r.follow(r.request(work, c))
			continue
		}
		r.tasks.Go(func() { r.done <- r.request(work, c) })
	}
	if len(claims) > 0 && len(claims) == n {
		return addedPoll // the end of a send begins the next turn
	}
	return r.options.PollInterval // what is due waits for another message, or for a walk
}

// readClock asks for the service's time before the first claim, and later every hour. It returns more than 0 while the
// first claim has to wait for that.
func (r *runner) readClock(ctx context.Context, template string) time.Duration {
	r.mu.Lock()
	age, known := r.elapsed()-r.serviced, !r.service.IsZero()
	r.mu.Unlock()
	if r.clocked && known && age < serviceEvery {
		return 0
	}
	r.startDue("clock", 0, func() (time.Duration, error) {
		bounded, cancel := context.WithTimeout(ctx, clockLimit)
		defer cancel()
		return time.Minute, r.readService(bounded, template)
	})
	if r.inline {
		r.clocked = true
	}
	if !r.clocked && r.running["clock"] {
		return addedPoll
	}
	r.clocked = true
	return 0
}

// follow notes the end of a send.
func (r *runner) follow(o outcome) {
	r.active--
	r.pace.follow(o, r.elapsed())
	r.count(o)
	r.outcomes = append(r.outcomes, o)
}

// recordAll records all outcomes. What cannot be recorded stays for the next turn; another process would settle it.
func (r *runner) recordAll(ctx context.Context) {
	for more := true; more && !r.inline; {
		select {
		case o := <-r.done:
			r.follow(o)
		default:
			more = false
		}
	}
	if len(r.outcomes) == 0 {
		return
	}
	batch := r.outcomes
	r.outcomes = nil
	err := r.record(ctx, batch)
	if err != nil && len(batch) > 1 { // one of them may be locked by a transaction of the user
		for _, o := range batch {
			if failed := r.record(ctx, []outcome{o}); failed != nil {
				r.outcomes = append(r.outcomes, o)
			}
		}
	} else if err != nil {
		r.outcomes = batch
	}
	r.failed("record", err)
}

// watchDoubts watches the messages that are sending. It returns when to do so again.
func (r *runner) watchDoubts(ctx context.Context) (time.Duration, error) {
	all, err := r.watch(ctx, false)
	if err != nil {
		return 0, err
	}
	again := r.options.PollInterval
	sending := map[string]map[int64]watching{}
	probe := ""
	for _, w := range all {
		if sending[w.template] == nil {
			sending[w.template] = map[int64]watching{}
		}
		sending[w.template][w.id] = w
		switch {
		case w.doubted >= lookedUpFor+w.timeout+2*watchMargin:
			err = errors.Join(err, r.giveUp(ctx, w))
		case w.phase == phaseFirst && w.remain > 0:
			again = min(again, w.remain)
		case w.phase != phaseFirst && w.remain > 0:
			probe = w.template
		}
	}
	r.mu.Lock()
	r.seen = sending
	r.mu.Unlock()
	if probe != "" {
		again = min(again, probeEvery)
		if r.elapsed() >= r.probed {
			r.probed = r.elapsed() + probeEvery
			if probeErr := r.probeService(ctx, probe); probeErr != nil {
				r.log(slog.LevelDebug, "the service does not answer", slog.String("error", probeErr.Error()))
			}
			again = min(again, time.Second) // the times are added up by the next watch
		}
	}
	return max(again, addedPoll), err
}

// giveUp leaves a message to a person that could not be looked up for a day.
func (r *runner) giveUp(ctx context.Context, w watching) error {
	return r.write(ctx, mode{serial: true}, func(t *tx) error {
		m, found, err := t.byID(w.id)
		if err != nil || !found || m.state != Sending || m.attempt != w.attempt || m.phase != w.phase {
			return err
		}
		t.log(slog.LevelError, "a send could not be looked up for a day: a person decides", slog.String("key", m.key))
		return t.undecide(m, nil, false, "the service's list could not be read for 24 hours: "+m.err)
	})
}

// startWalks starts the walks that are due. It returns the time until the next one is.
func (r *runner) startWalks(ctx context.Context, p plan) time.Duration {
	wait := min(p.until(p.reconcile), p.until(p.again))
	tasks := map[string]*walkTask{}
	want := func(template string) *walkTask {
		if tasks[template] == nil {
			tasks[template] = &walkTask{template: template, doubts: r.sending[template]}
		}
		return tasks[template]
	}
	for template := range r.first {
		want(template)
	}
	for template, all := range r.sending {
		for _, w := range all {
			if w.remain == 0 {
				want(template)
			}
		}
	}
	if wait == 0 {
		if err := r.dueTemplates(ctx, p, want); r.failed("reading templates", err) {
			return errorPause
		}
		wait = math.MaxInt64
	}
	walking := 0
	for name := range r.running {
		if strings.HasPrefix(name, walkName) {
			walking++
		}
	}
	for template, task := range tasks {
		name := walkName + template
		pause := max(r.paused(template), r.after[name]-r.elapsed())
		if pause > 0 && !r.first[template] {
			wait = min(wait, pause)
			continue
		}
		if r.running[name] || walking >= maxWalks {
			continue
		}
		walking++
		delete(r.first, template)
		r.startWalk(ctx, name, *task)
	}
	return max(wait, addedPoll)
}

const walkName = "walk "

func (r *runner) startWalk(ctx context.Context, name string, task walkTask) {
	r.start(name, func() taskEnd {
		err := r.walkTemplate(ctx, task)
		return taskEnd{name: name, err: err, then: func() {
			r.mu.Lock()
			r.seen = nil
			r.mu.Unlock()
			delete(r.sending, task.template)
			r.after["watch"] = 0
		}}
	})
}

// dueTemplates finds the templates that are to be walked once in a while, or for their undecided messages. Those without
// open messages wait for another day.
func (r *runner) dueTemplates(ctx context.Context, p plan, want func(string) *walkTask) error {
	err := r.write(ctx, mode{}, func(t *tx) error {
		all, err := t.templates()
		if err != nil {
			return err
		}
		for name, one := range all {
			if one.again == 1 && one.againAt <= t.now-againEvery.Milliseconds() {
				want(name).again = true
			}
			if one.reconcile > t.now || r.running[walkName+name] || r.paused(name) > 0 {
				continue
			}
			var open int
			next := failedAgain
			if _, err := t.first([]any{&open}, `SELECT count(*) FROM (SELECT 1 FROM signforms_outbox
				WHERE box = $1 AND template = $2 AND state = 'sent' LIMIT 1) AS one`, t.box, name); err != nil {
				return err
			}
			if open == 0 {
				next = r.options.Reconcile
			}
			n, err := t.exec("UPDATE signforms_outbox_templates SET reconcile = $3 WHERE box = $1 AND template = $2 AND reconcile <= $4", t.box, name,
				t.now+next.Milliseconds(), t.now)
			if err != nil {
				return err
			}
			if n > 0 && open > 0 {
				want(name).reconcile = true
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("claiming walks: %w", err)
	}
	return nil
}

// drain waits for the sends and tasks that are under way, and records their outcomes.
func (r *runner) drain(work context.Context) {
	idle := make(chan struct{})
	go func() {
		r.tasks.Wait()
		close(idle)
	}()
	for ended := false; !ended; {
		select {
		case o := <-r.done:
			r.follow(o)
			r.recordAll(context.WithoutCancel(work))
		case e := <-r.ends:
			r.end(e)
		case <-idle:
			ended = true
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(work), drainLimit)
	defer cancel()
	for r.recordAll(ctx); len(r.outcomes) > 0 && ctx.Err() == nil; r.recordAll(ctx) {
		select {
		case <-time.After(addedPoll):
		case <-ctx.Done():
		}
	}
	_, err := r.watch(ctx, true)
	r.failed("watch", err)
}

// step does all that is due in the calling goroutine, for tests that drive time themselves. It returns when to call it
// again.
func (r *runner) step(ctx context.Context) time.Duration {
	r.inline = true
	for {
		r.progress = false
		wait := r.turn(ctx, ctx)
		r.recordAll(ctx)
		if !r.progress || ctx.Err() != nil {
			return wait
		}
	}
}
