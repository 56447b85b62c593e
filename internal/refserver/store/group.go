package store

import (
	"errors"
	"runtime"
	"sync"
	"time"
)

// groupMost bounds how many transactions are saved together, and so how long the first waits for the last.
const groupMost = 64

// groups lets transactions that arrive during a save share the next one, which costs little more than the save of one of them.
type groups struct {
	mu      sync.Mutex
	waiting []*member
	turn    chan struct{} // holds a value while a group is worked through
}

// member is a transaction in a group.
type member struct {
	tx       *Tx
	fn       func(*Tx) error
	err      error
	panicked any
	done     chan struct{} // closed when the outcome is known
}

var errCutShort = errors.New("a change that was to be saved together with it ended its goroutine")

// join runs a transaction in a group of those that wait. Whoever comes first when a group has ended works through the next one.
func (s *Store) join(m *member) {
	m.done = make(chan struct{})
	s.groups.mu.Lock()
	s.groups.waiting = append(s.groups.waiting, m)
	s.groups.mu.Unlock()
	for !m.ended() {
		select {
		case <-m.done:
		case s.groups.turn <- struct{}{}:
			s.lead()
		}
	}
}

// ended reports whether the outcome is known. A transaction that has its outcome leads no further group.
func (m *member) ended() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// lead works through the transactions that wait. It first yields to goroutines that the last save held up in a view: requests read
// before they change something, and would else come too late for this group.
func (s *Store) lead() {
	runtime.Gosched()
	s.mu.Lock()
	defer func() { <-s.groups.turn }()
	defer s.mu.Unlock()
	group := s.groups.next()
	defer func() {
		for _, m := range group {
			close(m.done)
		}
	}()
	s.together(group)
}

func (g *groups) next() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), groupMost)
	group := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	return group
}

// together runs the transactions one after the other, at one time, and saves what they wrote. One that fails is undone alone; when
// the save fails, all are undone. The store is locked.
func (s *Store) together(group []*member) {
	if s.closed.Load() {
		refuse(group, ErrClosed)
		return
	}
	if doubt := s.doubt.Load(); doubt != nil {
		refuse(group, doubt.Err)
		return
	}
	s.expire()
	kept, now := false, s.now()
	defer func() {
		if !kept { // or a function ended the goroutine
			refuse(group, errCutShort)
			for i := len(group) - 1; i >= 0; i-- {
				group[i].tx.rollback()
			}
		}
	}()
	var writes []Write
	for _, m := range group {
		m.run(now)
		writes = append(writes, m.tx.writes...)
	}
	if err := s.commit(now, writes); err != nil {
		refuse(group, err)
		return
	}
	kept = true
	for _, m := range group {
		s.tell(m.tx.writes)
		s.tell(m.tx.claims)
	}
	s.prune()
}

// refuse gives an error to those of the group that have none.
func refuse(group []*member, err error) {
	for _, m := range group {
		if m.err == nil && m.panicked == nil {
			m.err = &Unavailable{err}
		}
	}
}

// run calls the transaction's function, and undoes what that did when it fails.
func (m *member) run(now time.Time) {
	done := false
	defer func() {
		if !done {
			m.panicked = recover()
		}
		if !done || m.err != nil {
			m.tx.rollback()
		}
	}()
	m.tx.Now = now
	m.err = m.fn(m.tx)
	done = true
}
