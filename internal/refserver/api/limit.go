package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Limit decides which reminder requests are accepted. Its methods are never called at the same time, and now never goes back.
type Limit interface {
	// Take accepts and counts a request with the key, or returns how long to wait and counts nothing.
	Take(key string, now time.Time) (wait time.Duration, ok bool)
	// Return takes back the arrival that was counted at that time.
	Return(key string, at time.Time)
	// State returns what must be kept about the key over a restart, in JSON.
	State(key string) []byte
	// Restore takes what State returned, maybe of another rule. A state that it cannot read counts as no request.
	Restore(key string, state []byte)
	// Reset forgets every request.
	Reset()
	// String is the rule as a sentence.
	String() string
}

// The documented limit: 5 reminder requests in 15 minutes for each API key.
const (
	DefaultReminders      = 5
	DefaultReminderWindow = 15 * time.Minute
)

// SlidingWindow accepts n requests in any window of time, exactly: it keeps the time of each. A request stops counting one
// whole window later.
func SlidingWindow(n int, window time.Duration) Limit {
	return &slidingWindow{rule[[]time.Time]{n, window, map[string][]time.Time{}}}
}

// rule is what the readings of the limit have in common: the numbers, and the state of each key.
type rule[State any] struct {
	n      int
	window time.Duration
	states map[string]State
}

func (l *rule[State]) State(key string) []byte {
	state, err := json.Marshal(l.states[key])
	if err != nil {
		panic(err) // times and numbers always encode
	}
	return state
}

func (l *rule[State]) Restore(key string, state []byte) {
	var s State
	if json.Unmarshal(state, &s) == nil {
		l.states[key] = s
	}
}

func (l *rule[State]) Reset() { clear(l.states) }

func (l *rule[State]) String() string {
	if l.window%time.Minute == 0 {
		return fmt.Sprintf("At most %d reminders in %d minutes", l.n, l.window/time.Minute)
	}
	return fmt.Sprintf("At most %d reminders in %s", l.n, l.window)
}

// slidingWindow keeps the arrivals that count, oldest first.
type slidingWindow struct{ rule[[]time.Time] }

func (l *slidingWindow) Take(key string, now time.Time) (time.Duration, bool) {
	recent := l.states[key]
	recent = recent[max(0, len(recent)-l.n):] // a restored state may hold more
	for len(recent) > 0 && now.Sub(recent[0]) >= l.window {
		recent = recent[1:]
	}
	if len(recent) >= l.n {
		l.states[key] = recent
		return l.window - now.Sub(recent[0]), false
	}
	l.states[key] = append(slices.Clip(recent), now)
	return 0, true
}

func (l *slidingWindow) Return(key string, at time.Time) {
	if i := slices.IndexFunc(l.states[key], at.Equal); i >= 0 {
		l.states[key] = slices.Delete(slices.Clone(l.states[key]), i, i+1)
	}
}

// FixedWindow accepts n requests in each window of time; windows are counted from the Unix epoch. It is another reading of the
// limit, which accepts up to 2n requests within a window's length.
func FixedWindow(n int, window time.Duration) Limit {
	return &fixedWindow{rule[used]{n, window, map[string]used{}}}
}

type fixedWindow struct{ rule[used] }

// used is how much of a window is used up.
type used struct {
	Start time.Time
	N     int
}

func (l *fixedWindow) Take(key string, now time.Time) (time.Duration, bool) {
	start := time.Unix(0, now.UnixNano()/int64(l.window)*int64(l.window))
	u := l.states[key]
	if !u.Start.Equal(start) {
		u = used{Start: start}
	}
	if u.N >= l.n {
		return start.Add(l.window).Sub(now), false
	}
	u.N++
	l.states[key] = u
	return 0, true
}

func (l *fixedWindow) Return(key string, at time.Time) {
	if u := l.states[key]; u.N > 0 && !at.Before(u.Start) {
		u.N--
		l.states[key] = u
	}
}

// TokenBucket holds n tokens for each key and refills one each n-th part of the window: another reading of the limit. It starts
// full.
func TokenBucket(n int, window time.Duration) Limit {
	return &tokenBucket{rule[bucket]{n, window, map[string]bucket{}}}
}

type tokenBucket struct{ rule[bucket] }

// bucket is when a bucket was or will be full, if nothing is taken any more. A bucket that nobody used was full at time zero.
type bucket struct{ Full time.Time }

func (l *tokenBucket) Take(key string, now time.Time) (time.Duration, bool) {
	refill := l.window / time.Duration(l.n)
	full := l.states[key].Full
	if full.Before(now) {
		full = now
	}
	full = full.Add(refill)
	if wait := full.Sub(now) - time.Duration(l.n)*refill; wait > 0 {
		return wait, false
	}
	l.states[key] = bucket{Full: full}
	return 0, true
}

func (l *tokenBucket) Return(key string, _ time.Time) {
	if b, ok := l.states[key]; ok {
		l.states[key] = bucket{Full: b.Full.Add(-l.window / time.Duration(l.n))}
	}
}
