package jsonfill

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// scalar sets a string, bool, int or time.Time from the next value, and reports whether the value
// fits.
func (f *filler) scalar(v reflect.Value, field field) bool {
	switch start := f.scan.Next(); start {
	case '"':
		text := f.raw(f.scan.String())
		return !f.exhausted() && f.set(v, text)
	case 'n':
		f.scan.Skip()
		return false
	case '{', '[':
		raw := f.value()
		return field.any && f.set(v, raw)
	default:
		t := f.scan.Scalar()
		return f.set(v, f.src[t.Start:t.End])
	}
}

// set converts text into the kind of v.
func (f *filler) set(v reflect.Value, text []byte) bool {
	switch v.Kind() {
	case reflect.String:
		if len(text) == 0 || !f.take(len(text)) {
			return len(text) == 0
		}
		v.SetString(string(text))
		return true
	case reflect.Bool:
		b, ok := Bool(short(text))
		if b {
			v.SetBool(true)
		}
		return ok
	case reflect.Int:
		n, ok := Int(short(text))
		if n != 0 {
			v.SetInt(int64(n))
		}
		return ok
	default:
		return setTime(v.Addr().Interface().(*time.Time), text)
	}
}

// Int reads a whole number in any form, such as 2, 2.0 or 2e0. In a form other than digits, the
// number may be at most 2,147,483,647.
func Int(s string) (n int, ok bool) {
	if s == "" { // an error of strconv would take memory
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// Bool reads the words of strconv.ParseBool, and 0 and 1 in the forms of [Int].
func Bool(s string) (v, ok bool) {
	v, err := strconv.ParseBool(s)
	if err == nil {
		return v, true
	}
	n, ok := Int(s)
	return ok && n == 1, ok && (n == 0 || n == 1)
}

// setTime reads RFC 3339. It tries the strict form first, which takes no memory, and then the other
// forms of Time.
func setTime(v *time.Time, text []byte) bool {
	var at time.Time
	ok := at.UnmarshalText(text) == nil
	if !ok {
		at, ok = Time(short(text))
	}
	if ok && !at.IsZero() {
		*v = at
	}
	return ok
}

// Time reads Unix seconds of 10 digits, Unix milliseconds of 13 digits, and dates and times of ISO
// 8601 in their extended form. It also accepts lower case, a blank for the T, and offsets without a
// colon. A time without a zone is read as UTC.
func Time(s string) (at time.Time, ok bool) {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		switch len(s) {
		case 10:
			return time.Unix(int64(n), 0).UTC(), true
		case 13:
			return time.UnixMilli(int64(n)).UTC(), true
		}
		return time.Time{}, false
	}
	s = strings.ToUpper(strings.TrimSpace(s))
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// short returns text, or "" if it is too long for a boolean, number or time. strconv would copy a
// long text into an error that nobody reads.
func short(text []byte) string {
	if len(text) > 64 {
		return ""
	}
	return string(text)
}
