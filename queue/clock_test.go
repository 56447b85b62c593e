package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// machine is a machine with its own clock and a database clock. Both follow virtual time, plus the jumps that a test adds.
type machine struct {
	mu                   sync.Mutex
	boot                 time.Time
	id                   string
	wall, stood, service time.Duration // how far the wall clock and the database are ahead; how long the clock since boot stood still
}

func newMachine() *machine { return &machine{boot: time.Now().Add(-time.Hour), id: "first"} }

func (m *machine) clocks() queue.Clocks {
	return queue.Clocks{
		Wall:     func() time.Time { return time.Now().Add(m.get(&m.wall)) },
		Boot:     func() time.Duration { m.mu.Lock(); defer m.mu.Unlock(); return time.Since(m.boot) - m.stood },
		BootID:   m.id,
		Database: func() time.Time { return time.Now().Add(m.get(&m.service)) },
	}
}

func (m *machine) get(d *time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *d
}

func (m *machine) set(d *time.Duration, to time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*d = to
}

// open opens a queue as a process on the machine does.
func (m *machine) open(s stage, o queue.Options) *queue.Queue {
	o.SetClocks(m.clocks())
	if !o.HasPoll() {
		o.SetPoll(10 * time.Second)
	}
	return s.queue(&o)
}

// Nothing is erased, run twice or held up because a clock jumps: not in processes that saw it, and
// not in those that start after it.
func TestRun_clockJumps(t *testing.T) {
	const day = 24 * time.Hour
	for _, by := range []time.Duration{10 * time.Minute, -10 * time.Minute, 40 * day, -40 * day} {
		wall := func(m *machine) { m.set(&m.wall, by) }
		database := func(m *machine) { m.set(&m.service, by) }
		reboot := func(m *machine) {
			wall(m)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.boot, m.id = time.Now(), "second"
		}
		t.Run(fmt.Sprint("wall clock of a machine ", by), func(t *testing.T) { clocksJump(t, true, wall) })
		t.Run(fmt.Sprint("database ", by), func(t *testing.T) { clocksJump(t, by < 0, database) })
		t.Run(fmt.Sprint("reboot ", by), func(t *testing.T) { clocksJump(t, false, reboot) })
	}
	t.Run("suspend", func(t *testing.T) {
		clocksJump(t, false, func(m *machine) {
			time.Sleep(time.Hour)
			m.set(&m.stood, time.Hour) // as if it had stood still in that time
		})
	})
}

// clocksJump lets the clocks of one machine of two jump. held says that a lease that is live before is live after it.
func clocksJump(t *testing.T, held bool, jump func(*machine)) {
	eachStoreVirtually(t, func(s stage) {
		m, other := newMachine(), newMachine()
		if s.isFile() {
			other = m
		}
		options := queue.Options{Retries: []time.Duration{}, KeepFailed: 30 * 24 * time.Hour}
		var j journal
		goOn := make(chan struct{})
		on := j.noting(func(_ context.Context, e webhook.Event) error {
			switch e.SubjectID() {
			case "failed":
				return errors.New("no")
			case "held":
				<-goOn
			}
			return nil
		})
		receiver, worker := m.open(s, options), other.open(s, options)
		stop := s.run(worker, on)
		s.accept(receiver, completed("failed", 1), completed("held", 1))
		time.Sleep(15 * time.Second)
		require.Equal(s, []string{"failed/1", "held/1"}, j.sorted())
		jump(m)
		if !held { // the worker of before died with its machine, or the database says that its lease is over
			close(goOn)
			stop()
		}
		late := m.open(s, options)
		if m.id == "second" {
			receiver = late // no process outlives a reboot
		}
		s.accept(receiver, completed("after", 1)) // by what it knew of the clock before
		s.run(late, on)
		s.run(m.open(s, options), on)
		s.accept(late, completed("late", 1))
		time.Sleep(70 * time.Second)
		want := []string{"after/1", "failed/1", "held/1", "late/1"}
		require.Equal(s, want, j.sorted(), "all run, and none twice")
		time.Sleep(10 * time.Minute)
		require.Contains(s, s.states(late), "failed/failed", "kept for 30 days")
		if held {
			close(goOn)
		}
	})
}

// Entries that were kept before a jump of the clock are erased after it, when their time has passed by the clock's steps
// without the jump.
func TestSweep_afterAClockJump(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		m := newMachine()
		options := queue.Options{Retries: []time.Duration{}, KeepFailed: 30 * 24 * time.Hour}
		options.SetPoll(12 * time.Hour)
		q := m.open(s, options)
		stop := s.run(q, failing("no"))
		s.accept(q, completed("failed", 1))
		s.settledSlowly(q)
		stop()
		m.set(&m.wall, 40*24*time.Hour)
		m.set(&m.service, 40*24*time.Hour)
		m.id = "second"
		s.run(m.open(s, options), failing("no"))
		time.Sleep(29 * 24 * time.Hour)
		require.Equal(s, []string{"failed/failed"}, s.states(q))
		time.Sleep(2 * 24 * time.Hour)
		require.Equal(s, []string{"/erased"}, s.states(q))
	})
}

// A time that only a clock ahead can have stored is not waited for.
func TestRun_storedTimesAheadOfTheClock(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := newMachine().open(s, queue.Options{Retries: []time.Duration{time.Hour}})
		s.accept(q, completed("due", 1), completed("leased", 1), completed("asked", 1))
		ahead := q.Now().Add(40 * 24 * time.Hour).UnixMilli()
		set := func(subject, what string) {
			s.exec(`UPDATE signforms_ordering_keys SET ` + what + ` WHERE id = (SELECT ordering_key_id FROM signforms_events WHERE subject = '` + subject + `')`)
		}
		set("due", fmt.Sprint("since = ", ahead, ", due = ", ahead+10_000))
		set("leased", fmt.Sprint("since = ", ahead, ", token = 7, lease = ", ahead+20_000))
		set("asked", fmt.Sprint("due = ", ahead)) // by RetryAfter
		var j journal
		s.run(q, j.noting(nil))
		time.Sleep(2 * time.Second)
		require.Empty(s, j.all())
		time.Sleep(10 * time.Second)
		require.Equal(s, []string{"due/1"}, j.all())
		time.Sleep(20 * time.Second)
		require.Equal(s, []string{"due/1", "leased/1"}, j.all())
		time.Sleep(time.Hour)
		require.Len(s, j.all(), 2, "one that RetryAfter put off waits")
	})
}

// An answer that took long may be wrong by as much.
func TestClock_slowAnswer(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		m := newMachine()
		o := &queue.Options{}
		c := m.clocks()
		c.Database = nil
		o.SetClocks(c)
		q := s.queue(o)
		off := func() time.Duration { return time.Until(q.Now()).Round(100 * time.Millisecond) }
		require.Zero(s, off())
		q.FollowClock(time.Now().Add(-2*time.Second), c.Boot()-4*time.Second)
		require.Zero(s, off(), "as it was two of the four seconds ago")
		q.FollowClock(time.Now().Add(time.Minute), c.Boot()-4*time.Second)
		require.Equal(s, time.Minute, off())
		q.FollowClock(time.Now(), c.Boot()-4*time.Second)
		require.Equal(s, 4*time.Second, off())
	})
}
