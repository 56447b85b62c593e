package webhook

import (
	"strconv"
	"time"
	"unsafe"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// left returns how many bytes are still to be read.
func (d *decoder) left() int { return len(d.text) - d.scan.Pos() }

// content returns what a string says: a part of the payload, or a copy when it holds escapes.
func (d *decoder) content(t jsonscan.Text) string {
	if t.Escaped {
		return unescaped(d.text[t.Start:t.End])
	}
	return d.text[t.Start:t.End]
}

func unescaped(raw string) string {
	content := jsonscan.Unescape(make([]byte, 0, len(raw)), bytesOf(raw))
	return unsafe.String(unsafe.SliceData(content), len(content))
}

// str reads a string; null is the empty one.
func (d *decoder) str(key string, dst *string) {
	var text string
	switch d.scan.Next() {
	case '"':
		text = d.content(d.scan.String())
	case 'n':
		d.scan.Scalar()
	default:
		d.misfit(key, "a string")
	}
	*dst = text
}

// loose reads a value of any kind as text: a string's content, nothing for null, else the value's JSON.
func (d *decoder) loose(dst *string) {
	switch d.scan.Next() {
	case '"':
		*dst = d.content(d.scan.String())
	case 'n':
		d.scan.Scalar()
		*dst = ""
	default:
		start := d.scan.Pos()
		d.scan.Skip()
		*dst = d.text[start:d.scan.Pos()]
	}
}

func (d *decoder) boolean(key string, dst *bool) {
	switch c := d.scan.Next(); c {
	case 't', 'f', 'n':
		d.scan.Scalar()
		*dst = c == 't'
	default:
		d.misfit(key, "true or false")
	}
}

func (d *decoder) integer(key string, dst *int) {
	*dst = 0
	switch d.scan.Next() {
	case '"', '{', '[', 't', 'f':
		d.misfit(key, "a whole number")
	case 'n':
		d.scan.Scalar()
	default:
		t := d.scan.Scalar()
		n, err := strconv.Atoi(d.text[t.Start:t.End])
		if err != nil {
			d.noteMisfit(key, "a whole number")
		}
		*dst = n
	}
}

// instant reads a time: RFC 3339, or Unix seconds or milliseconds as a number or in a string; null and "" are zero.
func (d *decoder) instant(key string, dst *time.Time) {
	var text string
	switch d.scan.Next() {
	case '{', '[', 't', 'f':
		d.misfit(key, wantTime)
		return
	default:
		d.loose(&text)
	}
	at, ok := parseInstant(text)
	if !ok {
		d.noteMisfit(key, wantTime)
	}
	*dst = at
}

const wantTime = "a time in RFC 3339 or Unix seconds or milliseconds"

func parseInstant(text string) (at time.Time, ok bool) {
	switch len(text) {
	case 0:
		return time.Time{}, true
	case 10, 13:
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return time.Time{}, false
		}
		if len(text) == 10 {
			return time.Unix(int64(n), 0).UTC(), true
		}
		return time.UnixMilli(int64(n)).UTC(), true
	}
	if err := at.UnmarshalText(bytesOf(text)); err != nil {
		return time.Time{}, false
	}
	return at.UTC(), true
}

// misfit skips a value that has the wrong type and notes it.
func (d *decoder) misfit(key, want string) {
	d.noteMisfit(key, want)
	d.scan.Skip()
}

// noteMisfit keeps the first misfit of each member: which of them matters depends on the event's type, which may
// still be unknown.
func (d *decoder) noteMisfit(key, want string) {
	e := &d.cur
	for _, m := range e.misfits {
		if m.member == e.reading {
			return
		}
	}
	e.misfits = append(e.misfits, misfit{e.reading, &FieldError{Field: e.path(key), Want: want}})
}
