package signforms

import (
	"slices"
	"sync"
)

// lines holds the calls of this process that want a slot, first come first served, per store and key: clients made
// separately stand in the same line. A line is gone when its last call leaves.
var lines = lineSet{m: map[lineKey]*line{}}

type lineKey struct {
	store LimitStore
	key   string
}

type lineSet struct {
	mu sync.Mutex
	m  map[lineKey]*line
}

// line is the calls in their order. Only the first takes a slot from the store.
type line struct {
	turns []*turn
	// waits is true from when the store told the first to wait until it asks again. Only then is it known that nobody in line
	// has a slot; at other times the first may have one already.
	waits bool
}

// turn is a call's place in its line.
type turn struct {
	key  lineKey
	line *line
	// told is true when the call knows how long it will wait; it asks again when something wakes it.
	told bool
	// poke holds one wake-up: the turn is first now, a slot was settled, the key was closed, the wait can be known or the
	// clock moved. It is made when the call first sleeps and belongs to it, so that a call that need not wait makes none.
	poke  chan struct{}
	woken bool // before there was a poke
	// gaveUp is true when the call has returned while the store was about to answer it.
	gaveUp bool
}

// join puts a call at the end of a line.
func (s *lineSet) join(key lineKey) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.m[key]
	if l == nil {
		l = &line{}
		s.m[key] = l
	}
	t := &turn{key: key, line: l}
	l.turns = append(l.turns, t)
	return t
}

// leave wakes the next in line if t was the first.
func (s *lineSet) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := t.line
	i := slices.Index(l.turns, t)
	l.turns = slices.Delete(l.turns, i, i+1)
	if len(l.turns) == 0 {
		delete(s.m, t.key)
	} else if i == 0 {
		l.turns[0].wake()
	}
}

// asks reports whether t is the first, and if so, that it asks the store for a slot now.
func (s *lineSet) asks(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.line.turns[0] != t {
		t.told = false
		return false
	}
	t.line.waits = false
	return true
}

// waits says that the store told t, the first, to wait: now those can know for how long they will who do not.
func (s *lineSet) waits(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.line.waits = true
	for _, other := range t.line.turns[1:] {
		if !other.told {
			other.wake()
		}
	}
}

// ahead tells how many stand before t and have no slot. While that is not known, t will be woken when it is.
func (s *lineSet) ahead(t *turn) (n int, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.told = t.line.waits
	return slices.Index(t.line.turns, t), t.told
}

// giveUp marks t, the first, which leaves when the store has answered.
func (s *lineSet) giveUp(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.gaveUp = true
}

// firstGaveUp reports whether the first in t's line will leave without a slot.
func (s *lineSet) firstGaveUp(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.line.turns[0].gaveUp
}

// length tells how many stand in line.
func (s *lineSet) length(key lineKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.m[key]; l != nil {
		return len(l.turns)
	}
	return 0
}

// listen returns where t hears wake-ups, also those since it joined.
func (s *lineSet) listen(t *turn) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.poke == nil {
		t.poke = make(chan struct{}, 1)
		if t.woken {
			t.wake()
		}
	}
	return t.poke
}

// wake makes the first in line ask the store again, or everyone.
func (s *lineSet) wake(key lineKey, everyone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.m[key]
	if l == nil {
		return
	}
	for i, t := range l.turns {
		if i == 0 || everyone {
			t.wake()
		}
	}
}

// wakeFirst makes the first in every line before a store ask it again.
func (s *lineSet) wakeFirst(store LimitStore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.m {
		if key.store == store {
			l.turns[0].wake()
		}
	}
}

func (t *turn) wake() {
	t.told = false
	if t.poke == nil {
		t.woken = true
		return
	}
	select {
	case t.poke <- struct{}{}:
	default: // one is waiting to be seen already
	}
}
