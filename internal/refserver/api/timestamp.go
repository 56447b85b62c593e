package api

import (
	"strconv"
	"time"
)

// TimestampFormat is how x-timestamp is written, which is not documented by the service.
type TimestampFormat int

// The formats of x-timestamp.
const (
	UnixSeconds      TimestampFormat = iota // 10 digits
	UnixMilliseconds                        // 13 digits
	RFC3339                                 // UTC, with milliseconds
)

// Format writes t. Times before September 2001, as in a testing/synctest bubble, are always written as RFC 3339: in the
// Unix formats they would have fewer digits than receivers expect.
func (f TimestampFormat) Format(t time.Time) string {
	switch {
	case f == RFC3339 || t.Unix() < 1e9:
		return timeText(t)
	case f == UnixMilliseconds:
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	return strconv.FormatInt(t.Unix(), 10)
}
