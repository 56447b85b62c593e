package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	addedPoll  = 100 * time.Millisecond // poll interval for a second after an Add
	errorPause = time.Second
	maxTasks   = 12               // including the walks
	drainLimit = 10 * time.Second // time limit for recording outcomes after Grace
)

// Run sends, settles, follows and reminds until ctx ends. Then it claims no more messages, gives
// running requests [Options.Grace], and returns nil. While the database or the service is
// unreachable, it keeps trying. Several processes may run the same box. Run returns an error if the
// box has no client, or if it runs in this Box already.
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
	r.drain(context.WithoutCancel(ctx))
	return nil
}

// runner is one call of Run.
type runner struct {
	*Box
	inline   bool // set by tests: each task runs at once, in the calling goroutine
	progress bool
	pace     pace
	active   int          // number of running sends
	outcomes []outcome    // outcomes to be recorded
	done     chan outcome // has room for the outcomes of all sends
	ends     chan taskEnd // has room for the ends of all tasks
	tasks    sync.WaitGroup
	running  map[string]bool          // running tasks by name
	after    map[string]time.Duration // when a task may run again
	failing  map[string]time.Duration // the last wait after an error of a task, which is logged once
	sending  []watching               // messages that were sending at the last watch
	probed   time.Duration            // when the next probe is due, for the task "watch"
	first    map[string]bool          // templates to be walked before their first claim
	went     int                      // number of messages that were sent or refused
	wentAt   map[int64]int            // the value of went when the message was deferred last
	offset   int64                    // stored time less monotonic time, in milliseconds; 0: not known
}

// taskEnd is the end of a task.
type taskEnd struct {
	name string
	err  error
	wait time.Duration // wait until the task may run again
	then func()
}

func newRunner(b *Box) *runner {
	return &runner{Box: b, pace: pace{careful: true}, done: make(chan outcome, b.options.Workers), ends: make(chan taskEnd, 16),
		running: map[string]bool{}, after: map[string]time.Duration{}, failing: map[string]time.Duration{},
		first: map[string]bool{}, wentAt: map[int64]int{}}
}

// turn records the ends of sends and tasks, starts those that are due, and returns when to check
// again. Requests use the context work.
func (r *runner) turn(ctx, work context.Context) time.Duration {
	r.recordAll(work)
	wait := r.options.PollInterval
	r.mu.Lock()
	if r.elapsed() < r.added {
		wait = min(wait, addedPoll)
	}
	r.mu.Unlock()
	p, err := r.plan(ctx)
	if err == nil {
		err = r.watchClock(ctx, p.now)
	}
	if r.failed("plan", err) > 0 {
		return min(wait, errorPause)
	}
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
		wait = min(wait, r.start(task.name, p.until(task.due), func() (end taskEnd) {
			end.wait, end.err = task.do()
			return end
		}))
	}
	wait = min(wait, r.startSends(ctx, work, p))
	if p.sending > 0 {
		wait = min(wait, r.start("watch", 0, func() taskEnd { return r.watchDoubts(ctx) }))
	} else {
		r.sending = nil
	}
	return min(wait, r.startWalks(ctx, p))
}

// start starts a task that is due in wait, unless it is running. It returns when to check again.
func (r *runner) start(name string, wait time.Duration, do func() taskEnd) time.Duration {
	if r.running[name] {
		return math.MaxInt64 // the end of the task begins a turn
	}
	if wait = max(wait, r.after[name]-r.elapsed()); wait > 0 {
		return wait
	}
	r.running[name], r.progress = true, true
	task := func() taskEnd {
		e := do()
		e.name = name
		return e
	}
	if r.inline {
		r.end(task())
	} else {
		r.tasks.Go(func() { r.ends <- task() })
	}
	return math.MaxInt64
}

// end records the end of a task.
func (r *runner) end(e taskEnd) {
	delete(r.running, e.name)
	r.after[e.name] = r.elapsed() + max(e.wait, r.failed(e.name, e.err))
	if e.then != nil {
		e.then()
	}
}

// failed logs the first error of a task until the task has succeeded again. It returns how long to
// wait.
func (r *runner) failed(name string, err error) time.Duration {
	last, known := r.failing[name]
	if err == nil {
		delete(r.failing, name)
		return 0
	}
	if !known && !errors.Is(err, context.Canceled) {
		r.log(slog.LevelWarn, "an error, after which Run tries again", slog.String("task", name), slog.String("error", err.Error()))
	}
	r.failing[name] = min(max(errorPause, 2*last), maxBackoff)
	return r.failing[name]
}

// plan has the stored times at which work is due; 0 means that there is no such work.
type plan struct {
	now, pending, sending, untold, voids, reads, reminders, contents, reconcile, again int64
	template                                                                           string // template of the message that is due first
}

// plan uses a single statement, so that an idle Run costs little.
func (r *runner) plan(ctx context.Context) (p plan, err error) {
	const messages = " FROM signforms_outbox WHERE box = $1 AND "
	err = r.read(ctx, func(t *tx) {
		p.now = t.now
		t.first([]any{&p.pending, &p.template, &p.sending, &p.untold, &p.voids, &p.reads, &p.reminders, &p.contents, &p.reconcile, &p.again}, `SELECT
			coalesce((SELECT min(due)`+messages+`state = 'pending'), 0),
			coalesce((SELECT template`+messages+`state = 'pending' ORDER BY due, id LIMIT 1), ''),
			(SELECT count(*) FROM (SELECT 1`+messages+`state = 'sending' LIMIT 1) AS one),
			coalesce((SELECT min(tell_due) + 1`+messages+`told <> changes), 0),
			coalesce((SELECT min(void_due)`+messages+`void_due > 0), 0),
			coalesce((SELECT min(read_due)`+messages+`read_due > 0 AND document <> ''), 0),
			coalesce((SELECT min(due)`+messages+`state = 'sent' AND due > 0), 0),
			coalesce((SELECT min(ended_at) + $2`+messages+`content IS NOT NULL AND ended_at > 0), 0),
			coalesce((SELECT min(reconcile) FROM signforms_outbox_templates WHERE box = $1), 0),
			coalesce((SELECT min(again_at) + $3 FROM signforms_outbox_templates WHERE box = $1 AND again = 1), 0)`,
			t.box, r.options.KeepContent.Milliseconds(), againEvery.Milliseconds())
	})
	return p, err
}

// until returns the time until something is due.
func (p plan) until(due int64) time.Duration {
	if due == 0 {
		return math.MaxInt64
	}
	return max(0, millis(due-p.now))
}

// watchClock ends waits that were set by a clock that has been set back since. It does so at the
// start of Run, and when it detects that the clock was set back.
func (r *runner) watchClock(ctx context.Context, now int64) error {
	offset := now - r.elapsed().Milliseconds()
	back := r.offset == 0 || offset <= r.offset-time.Second.Milliseconds()
	r.offset = offset
	if !back {
		return nil
	}
	r.offset = 0 // unknown until the waits have ended
	err := r.write(ctx, mode{}, func(t *tx) {
		for _, set := range []string{
			"signforms_outbox SET due = $2, since = $2 WHERE box = $1 AND (state = 'pending' OR state = 'sent' AND backoff > 0) AND since > $2",
			"signforms_outbox SET tell_due = 0 WHERE box = $1 AND told <> changes AND tell_due > $2",
			"signforms_outbox SET read_due = $2 WHERE box = $1 AND read_due > $2",
			"signforms_outbox SET void_due = $2 WHERE box = $1 AND void_due > $2",
			"signforms_outbox_templates SET again_at = 0 WHERE box = $1 AND again_at > $2",
		} {
			t.exec("UPDATE "+set, t.box, t.now)
		}
		t.exec("UPDATE signforms_outbox_templates SET reconcile = $2 WHERE box = $1 AND reconcile > $3", t.box, t.now,
			t.now+max(r.options.Reconcile, failedAgain).Milliseconds())
	})
	if err == nil {
		r.offset = offset
	}
	return err
}

// startSends claims messages that are due and begins their sends. The service's time is read before
// the first claim, and then every hour.
func (r *runner) startSends(ctx, work context.Context, p plan) time.Duration {
	wait := p.until(p.pending)
	if wait > 0 {
		return wait
	}
	r.start("clock", 0, func() taskEnd { return taskEnd{wait: time.Hour, err: r.readService(ctx, p.template)} })
	n, wait := r.pace.allows(r.elapsed(), r.active, r.options.Workers)
	switch {
	case r.running["clock"] || n <= 0:
		return math.MaxInt64 // the end of the task or of a send begins a turn
	case wait > 0:
		return wait
	}
	claims, first, err := r.claim(ctx, n)
	if wait := r.failed("claim", err); wait > 0 {
		return min(wait, errorPause)
	}
	for _, template := range first {
		r.first[template] = true
	}
	for _, c := range claims {
		r.active++
		r.progress = true
		if r.inline {
			r.follow(r.request(work, c))
		} else {
			r.tasks.Go(func() { r.done <- r.request(work, c) })
		}
	}
	return math.MaxInt64 // the end of a send or of a walk begins the next turn
}

// follow records the end of a send in the runner.
func (r *runner) follow(o outcome) {
	r.active--
	r.pace.follow(o, r.elapsed())
	switch o.verdict() {
	case wasSent, wasRefused:
		r.went++
		delete(r.wentAt, o.id)
	case later:
		o.othersWent = r.went > r.wentAt[o.id]
		r.wentAt[o.id] = r.went
	}
	r.outcomes = append(r.outcomes, o)
}

// recordAll records all outcomes. Outcomes that cannot be recorded stay for the next turn. If this
// process dies, another process settles them.
func (r *runner) recordAll(ctx context.Context) {
	for range len(r.done) {
		r.follow(<-r.done)
	}
	batch := r.outcomes
	r.outcomes = nil
	if len(batch) == 0 {
		return
	}
	err := r.record(ctx, batch)
	if err != nil && len(batch) > 1 { // a transaction of the user may have locked one of the rows
		batch = slices.DeleteFunc(batch, func(o outcome) bool { return r.record(ctx, []outcome{o}) == nil })
	}
	if err != nil {
		r.outcomes = batch
	}
	r.failed("record", err)
}

// watchDoubts watches the messages that are sending.
func (r *runner) watchDoubts(ctx context.Context) (end taskEnd) {
	all, err := r.watch(ctx, false)
	end = taskEnd{wait: r.options.PollInterval, err: err, then: func() { r.sending = all }}
	probe := ""
	for _, w := range all {
		switch {
		case w.doubted >= lookedUpFor+w.timeout+2*watchMargin:
			end.err = errors.Join(end.err, r.giveUp(ctx, w))
		case w.remain > 0 && w.phase == phaseFirst:
			end.wait = min(end.wait, w.remain)
		case w.remain > 0:
			probe = w.template
		}
	}
	if probe == "" {
		return end
	}
	if r.elapsed() < r.probed {
		end.wait = min(end.wait, r.probed-r.elapsed())
		return end
	}
	r.probed = r.elapsed() + probeEvery
	if err := r.probeService(ctx, probe); err != nil {
		r.log(slog.LevelDebug, "the service does not answer", slog.String("error", err.Error()))
	}
	end.wait = 0 // the next watch adds up the time that the probe has observed
	return end
}

// giveUp makes a message undecided that could not be looked up for a day.
func (r *runner) giveUp(ctx context.Context, w watching) error {
	return r.write(ctx, mode{serial: true}, func(t *tx) {
		if m, found := t.byID(w.id); found && m.state == Sending && m.attempt == w.attempt && m.phase == w.phase {
			t.undecide(m, nil, 0, "the service's list could not be read for 24 hours: "+m.err)
		}
	})
}

// drain waits for the running sends and tasks, and records their outcomes.
func (r *runner) drain(ctx context.Context) {
	idle := make(chan struct{})
	go func() {
		r.tasks.Wait()
		close(idle)
	}()
	for ended := false; !ended; {
		select {
		case o := <-r.done:
			r.follow(o)
			r.recordAll(ctx)
		case <-idle:
			ended = true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
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
