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

// turn is a call's place in its line. Only the first in line asks the store.
type turn struct {
	line  lineKey
	first chan struct{} // closed when the turn is first; nil when it was from the start
	poke  chan struct{} // holds one wake-up when a slot was settled or a key closed; made by the first in line to sleep
}

// join returns the call's turn and how many stand before it.
func (s *lineSet) join(line lineKey) (*turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &turn{line: line}
	ahead := len(s.m[line])
	if ahead > 0 {
		t.first = make(chan struct{})
	}
	s.m[line] = append(s.m[line], t)
	return t, ahead
}

func (s *lineSet) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := s.m[t.line]
	i := slices.Index(turns, t)
	turns = slices.Delete(turns, i, i+1)
	switch {
	case len(turns) == 0:
		delete(s.m, t.line)
		return
	case i == 0:
		close(turns[0].first)
	}
	s.m[t.line] = turns
}

// ahead tells how many stand before t.
func (s *lineSet) ahead(t *turn) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.m[t.line], t)
}

// sleeper returns the channel by which a sleeping first in line is woken.
func (s *lineSet) sleeper(t *turn) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.poke == nil {
		t.poke = make(chan struct{}, 1)
	}
	return t.poke
}

// wake tells the first in line to ask the store again.
func (s *lineSet) wake(line lineKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := s.m[line]
	if len(turns) == 0 || turns[0].poke == nil {
		return
	}
	select {
	case turns[0].poke <- struct{}{}:
	default: // one is waiting to be seen already
	}
}
