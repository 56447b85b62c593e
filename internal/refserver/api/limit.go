package api

import (
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
	// String is the rule as a sentence.
	String() string
}

// The documented limit: 5 reminder requests in 15 minutes for each API key.
const (
	DefaultReminders      = 5
	DefaultReminderWindow = 15 * time.Minute
)

// SlidingWindow accepts n requests in any window of time, exactly: it keeps the time of each. A request that comes one
// whole window after an earlier one no longer meets it.
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
	start time.Time
	n     int
}

func (l *fixedWindow) Take(key string, now time.Time) (time.Duration, bool) {
	start := time.Unix(0, now.UnixNano()/int64(l.window)*int64(l.window))
	u := l.used[key]
	if !u.start.Equal(start) {
		u = used{start: start}
	}
	if u.n >= l.n {
		return start.Add(l.window).Sub(now), false
	}
	u.n++
	l.used[key] = u
	return 0, true
}

func (l *fixedWindow) Return(key string, at time.Time) {
	if u := l.used[key]; u.n > 0 && !at.Before(u.start) {
		u.n--
		l.used[key] = u
	}
}

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

// bucket is what was in it at a time. Tokens are counted in nanoseconds of refilling, so that nothing is rounded.
type bucket struct {
	at   time.Time
	fill time.Duration
}

func (l *tokenBucket) Take(key string, now time.Time) (time.Duration, bool) {
	full := time.Duration(l.n) * l.refill
	b, known := l.buckets[key]
	if !known {
		b = bucket{at: now, fill: full}
	}
	if gone := now.Sub(b.at); gone > full-b.fill {
		b.fill = full
	} else {
		b.fill += gone
	}
	b.at = now
	if b.fill < l.refill {
		l.buckets[key] = b
		return l.refill - b.fill, false
	}
	b.fill -= l.refill
	l.buckets[key] = b
	return 0, true
}

func (l *tokenBucket) Return(key string, _ time.Time) {
	if b, ok := l.buckets[key]; ok {
		b.fill = min(b.fill+l.refill, time.Duration(l.n)*l.refill)
		l.buckets[key] = b
	}
}

func (l *tokenBucket) String() string { return limitText(l.n, time.Duration(l.n)*l.refill) }

func limitText(n int, window time.Duration) string {
	if window%time.Minute == 0 {
		return fmt.Sprintf("At most %d reminders in %d minutes", n, window/time.Minute)
	}
	return fmt.Sprintf("At most %d reminders in %s", n, window)
}
