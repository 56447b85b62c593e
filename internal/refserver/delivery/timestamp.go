package delivery

import (
	"strconv"
	"time"
)

// TimestampFormat is how x-timestamp is written; the interface does not show it.
type TimestampFormat int

// The formats of x-timestamp.
const (
	UnixSeconds      TimestampFormat = iota // 10 digits
	UnixMilliseconds                        // 13 digits
	RFC3339                                 // UTC, with milliseconds
)

// Format writes t. Until September 2001 the Unix formats would have a digit less than receivers look for, so that RFC 3339
// takes their place: the clock of a testing/synctest bubble starts in 2000.
func (f TimestampFormat) Format(t time.Time) string {
	switch {
	case f == RFC3339 || t.Unix() < 1e9:
		return stamp(t)
	case f == UnixMilliseconds:
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	return strconv.FormatInt(t.Unix(), 10)
}
