package api

import (
	"strconv"
	"time"
)

// TimestampFormat is the format of x-timestamp, which the service does not document.
type TimestampFormat int

// The formats of x-timestamp.
const (
	UnixSeconds      TimestampFormat = iota // 10 digits
	UnixMilliseconds                        // 13 digits
	RFC3339                                 // UTC, with milliseconds
)

// Format returns t in the format. A time before September 2001, as in a testing/synctest bubble, is
// always written as RFC 3339, because in the Unix formats it would have fewer digits than receivers
// expect.
func (f TimestampFormat) Format(t time.Time) string {
	switch {
	case f == RFC3339 || t.Unix() < 1e9:
		return timeText(t)
	case f == UnixMilliseconds:
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	return strconv.FormatInt(t.Unix(), 10)
}
