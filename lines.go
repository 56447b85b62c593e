package signforms

import (
	"slices"
	"sync"
)

// lines holds the calls of this process that want a slot, first come first served, per store and key: clients made
// separately stand in the same line. A line is gone when its last call leaves.
var lines = lineSet{m: map[lineKey][]*turn{}}

type lineKey struct {
	store LimitStore
	key   string
}

type lineSet struct {
	mu sync.Mutex
	m  map[lineKey][]*turn
}

// turn is a call's place in its line. Only the first in line takes a slot from the store.
type turn struct {
	line lineKey
	// poke holds one wake-up: the turn is first now, a slot was settled or the key closed. It is made when the call first
	// sleeps and belongs to it, so that a call that need not wait makes none.
	poke chan struct{}
}

// join returns the call's turn and how many stand before it.
func (s *lineSet) join(line lineKey) (*turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &turn{line: line}
	ahead := len(s.m[line])
	s.m[line] = append(s.m[line], t)
	return t, ahead
}

// leave wakes the next in line if t was the first.
func (s *lineSet) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := s.m[t.line]
	i := slices.Index(turns, t)
	turns = slices.Delete(turns, i, i+1)
	if len(turns) == 0 {
		delete(s.m, t.line)
		return
	}
	s.m[t.line] = turns
	if i == 0 {
		turns[0].wake()
	}
}

// ahead tells how many stand before t.
func (s *lineSet) ahead(t *turn) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.m[t.line], t)
}

// length tells how many stand in line.
func (s *lineSet) length(line lineKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.m[line])
}

// listen makes t hear wake-ups from now on.
func (s *lineSet) listen(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.poke = make(chan struct{}, 1)
}

// wake makes the first in line ask the store again, or everyone.
func (s *lineSet) wake(line lineKey, everyone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.m[line] {
		if i == 0 || everyone {
			t.wake()
		}
	}
}

func (t *turn) wake() {
	if t.poke == nil {
		return
	}
	select {
	case t.poke <- struct{}{}:
	default: // one is waiting to be seen already
	}
}
