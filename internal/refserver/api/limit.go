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

// stateOf prints a limit's state.
func stateOf(v any) []byte {
	state, err := json.Marshal(v)
	if err != nil {
		panic(err) // times and numbers always encode
	}
	return state
}

// The documented limit: 5 reminder requests in 15 minutes for each API key.
const (
	DefaultReminders      = 5
	DefaultReminderWindow = 15 * time.Minute
)

// SlidingWindow accepts n requests in any window of time, exactly: it keeps the time of each. A request stops counting one
// whole window later.
func SlidingWindow(n int, window time.Duration) Limit {
	return &slidingWindow{n: n, window: window, arrivals: map[string][]time.Time{}}
}

type slidingWindow struct {
	n        int
	window   time.Duration
	arrivals map[string][]time.Time // oldest first, at most n
}

func (l *slidingWindow) Take(key string, now time.Time) (time.Duration, bool) {
	recent := l.arrivals[key]
	for len(recent) > 0 && now.Sub(recent[0]) >= l.window {
		recent = recent[1:]
	}
	if len(recent) >= l.n {
		l.arrivals[key] = recent
		return l.window - now.Sub(recent[0]), false
	}
	l.arrivals[key] = append(slices.Clip(recent), now)
	return 0, true
}

func (l *slidingWindow) Return(key string, at time.Time) {
	if i := slices.IndexFunc(l.arrivals[key], at.Equal); i >= 0 {
		l.arrivals[key] = slices.Delete(slices.Clone(l.arrivals[key]), i, i+1)
	}
}

func (l *slidingWindow) State(key string) []byte { return stateOf(l.arrivals[key]) }

func (l *slidingWindow) Restore(key string, state []byte) {
	var recent []time.Time
	if json.Unmarshal(state, &recent) == nil {
		l.arrivals[key] = recent[max(0, len(recent)-l.n):]
	}
}

func (l *slidingWindow) Reset() { clear(l.arrivals) }

func (l *slidingWindow) String() string { return limitText(l.n, l.window) }

// FixedWindow accepts n requests in each window of time; windows are counted from the Unix epoch. It is another reading of the
// limit, which accepts up to 2n requests within a window's length.
func FixedWindow(n int, window time.Duration) Limit {
	return &fixedWindow{n: n, window: window, used: map[string]used{}}
}

type fixedWindow struct {
	n      int
	window time.Duration
	used   map[string]used
}

type used struct {
	Start time.Time
	N     int
}

func (l *fixedWindow) Take(key string, now time.Time) (time.Duration, bool) {
	start := time.Unix(0, now.UnixNano()/int64(l.window)*int64(l.window))
	u := l.used[key]
	if !u.Start.Equal(start) {
		u = used{Start: start}
	}
	if u.N >= l.n {
		return start.Add(l.window).Sub(now), false
	}
	u.N++
	l.used[key] = u
	return 0, true
}

func (l *fixedWindow) Return(key string, at time.Time) {
	if u := l.used[key]; u.N > 0 && !at.Before(u.Start) {
		u.N--
		l.used[key] = u
	}
}

func (l *fixedWindow) State(key string) []byte { return stateOf(l.used[key]) }

func (l *fixedWindow) Restore(key string, state []byte) {
	var u used
	if json.Unmarshal(state, &u) == nil {
		l.used[key] = u
	}
}

func (l *fixedWindow) Reset() { clear(l.used) }

func (l *fixedWindow) String() string { return limitText(l.n, l.window) }

// TokenBucket holds n tokens for each key and refills one each refill: another reading of the limit. It starts full.
func TokenBucket(n int, refill time.Duration) Limit {
	return &tokenBucket{n: n, refill: refill, buckets: map[string]bucket{}}
}

type tokenBucket struct {
	n       int
	refill  time.Duration
	buckets map[string]bucket
}

// bucket is how full a bucket was at a time. Tokens are counted in nanoseconds of refilling, so that nothing is rounded.
type bucket struct {
	At   time.Time
	Fill time.Duration
}

func (l *tokenBucket) Take(key string, now time.Time) (time.Duration, bool) {
	full := time.Duration(l.n) * l.refill
	b, known := l.buckets[key]
	if !known {
		b = bucket{At: now, Fill: full}
	}
	if gone := now.Sub(b.At); gone > full-b.Fill {
		b.Fill = full
	} else {
		b.Fill += gone
	}
	b.At = now
	if b.Fill < l.refill {
		l.buckets[key] = b
		return l.refill - b.Fill, false
	}
	b.Fill -= l.refill
	l.buckets[key] = b
	return 0, true
}

func (l *tokenBucket) Return(key string, _ time.Time) {
	if b, ok := l.buckets[key]; ok {
		b.Fill = min(b.Fill+l.refill, time.Duration(l.n)*l.refill)
		l.buckets[key] = b
	}
}

func (l *tokenBucket) State(key string) []byte { return stateOf(l.buckets[key]) }

func (l *tokenBucket) Restore(key string, state []byte) {
	var b bucket
	if json.Unmarshal(state, &b) == nil && !b.At.IsZero() {
		l.buckets[key] = b
	}
}

func (l *tokenBucket) Reset() { clear(l.buckets) }

func (l *tokenBucket) String() string { return limitText(l.n, time.Duration(l.n)*l.refill) }

func limitText(n int, window time.Duration) string {
	if window%time.Minute == 0 {
		return fmt.Sprintf("At most %d reminders in %d minutes", n, window/time.Minute)
	}
	return fmt.Sprintf("At most %d reminders in %s", n, window)
}
