package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Limit decides which reminder requests are accepted. Its methods are never called concurrently,
// and now never goes back.
type Limit interface {
	// Take accepts and counts a request with the key. If it does not accept the request, it counts
	// nothing and returns how long to wait.
	Take(key string, now time.Time) (wait time.Duration, ok bool)
	// Return undoes the counting of the request that arrived at the time at.
	Return(key string, at time.Time)
	// State returns the state of the key that must be kept over a restart, in JSON.
	State(key string) []byte
	// Restore sets the state of the key to a result of State. A state that it cannot read counts as
	// no requests.
	Restore(key string, state []byte)
	// Reset removes all counted requests.
	Reset()
	// String returns the rule as a sentence.
	String() string
}

// The documented limit: 5 reminder requests in 15 minutes for each API key.
const (
	DefaultReminders      = 5
	DefaultReminderWindow = 15 * time.Minute
)

// SlidingWindow accepts n requests in any window of time. It is exact, because it keeps the time of
// each request. A request stops counting one whole window later.
func SlidingWindow(n int, window time.Duration) Limit {
	return &slidingWindow{n, window, map[string][]time.Time{}}
}

// slidingWindow keeps the arrivals of each key that count, oldest first.
type slidingWindow struct {
	n      int
	window time.Duration
	states map[string][]time.Time
}

func (l *slidingWindow) State(key string) []byte {
	state, err := json.Marshal(l.states[key])
	if err != nil {
		panic(err) // times always encode
	}
	return state
}

func (l *slidingWindow) Restore(key string, state []byte) {
	var arrivals []time.Time
	if json.Unmarshal(state, &arrivals) == nil {
		l.states[key] = arrivals
	}
}

func (l *slidingWindow) Reset() { clear(l.states) }

func (l *slidingWindow) String() string {
	if l.window%time.Minute == 0 {
		return fmt.Sprintf("At most %d reminders in %d minutes", l.n, l.window/time.Minute)
	}
	return fmt.Sprintf("At most %d reminders in %s", l.n, l.window)
}

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
