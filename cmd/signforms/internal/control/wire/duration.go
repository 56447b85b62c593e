package wire

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Duration is a length of time. It is written as text, such as "90s" or "72h". The unit d is a day
// of 24 hours, as in "3d" and "1d12h".
type Duration time.Duration

// ParseDuration reads the text of a Duration.
func ParseDuration(text string) (Duration, error) {
	if !duration.MatchString(text) {
		return 0, badDuration(text)
	}
	d, err := parseDuration(text)
	if err != nil || d.Abs() > MaxDuration {
		return 0, fmt.Errorf("%q is too long: at most %dd, about 100 years", text, MaxDays)
	}
	return Duration(d), nil
}

// parseDuration reads a text that the regular expression matches. It returns an error if the time
// is too long for a time.Duration.
func parseDuration(text string) (time.Duration, error) {
	m := withDays.FindStringSubmatch(text)
	if m == nil {
		return time.ParseDuration(text)
	}
	days, err := strconv.Atoi(m[2])
	if err != nil || days > MaxDays {
		return 0, errors.New("too many days")
	}
	rest := time.Duration(0)
	if m[3] != "" {
		if rest, err = time.ParseDuration(m[3]); err != nil {
			return 0, err
		}
	}
	d := time.Duration(days)*24*time.Hour + rest
	if m[1] == "-" {
		d = -d
	}
	return d, nil
}

var (
	duration = regexp.MustCompile(`^[-+]?(0|\d+d|(\d+d)?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`)
	withDays = regexp.MustCompile(`^([-+]?)(\d+)d(.*)$`)
)

// MaxDays is about 100 years, because the largest time.Duration is about 292 years.
const (
	MaxDays     = 36_500
	MaxDuration = MaxDays * 24 * time.Hour
)

func badDuration(text string) error {
	return fmt.Errorf("%q is not a length of time: write it as in 90s, 15m, 72h or 3d", text)
}

// String writes d as the time package does, without days.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDuration(string(text))
	return err
}

// Set and Type make a Duration the value of a flag.
func (d *Duration) Set(text string) error { return d.UnmarshalText([]byte(text)) }

// Type is the word for the value in the help of a command.
func (d *Duration) Type() string { return "duration" }
