package webhook

import (
	"strconv"
	"time"
	"unsafe"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// left returns the number of bytes that remain.
func (d *decoder) left() int { return len(d.text) - d.scan.Pos() }

// content returns a string's content: a part of the payload, or a copy when it contains escapes.
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

// What a FieldError says that a field should be.
const (
	wantString  = "a string"
	wantBoolean = "true or false"
	wantInteger = "a whole number"
	wantTime    = "a time in RFC 3339 or Unix seconds or milliseconds"
	wantObject  = "an object"
	wantList    = "an array of objects"
)

// str reads a string; null gives the empty string. Like the functions below, it accepts a value of any kind and reports
// whether it fits; if not, dst is set to zero.
func (d *decoder) str(dst *string) (ok bool) {
	switch d.scan.Next() {
	case '"':
		*dst = d.content(d.scan.String())
		return true
	case 'n':
		d.scan.Scalar()
		*dst = ""
		return true
	}
	d.scan.Skip()
	*dst = ""
	return false
}

// loose reads a value of any kind as text: a string's content, an empty text for null, else the value's JSON.
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

func (d *decoder) boolean(dst *bool) (ok bool) {
	c := d.scan.Next()
	*dst = c == 't'
	if c == 't' || c == 'f' || c == 'n' {
		d.scan.Scalar()
		return true
	}
	d.scan.Skip()
	return false
}

func (d *decoder) integer(dst *int) (ok bool) {
	*dst = 0
	switch d.scan.Next() {
	case '"', '{', '[', 't', 'f':
		d.scan.Skip()
		return false
	case 'n':
		d.scan.Scalar()
		return true
	}
	t := d.scan.Scalar()
	n, err := strconv.Atoi(d.text[t.Start:t.End])
	if err != nil {
		return false
	}
	*dst = n
	return true
}

// instant reads a time: RFC 3339, or Unix seconds or milliseconds as a number or in a string; null and "" are zero.
func (d *decoder) instant(dst *time.Time) (ok bool) {
	*dst = time.Time{}
	switch d.scan.Next() {
	case '{', '[', 't', 'f':
		d.scan.Skip()
		return false
	}
	var text string
	d.loose(&text)
	*dst, ok = parseInstant(text)
	return ok
}

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

// misfit notes that a value has the wrong type. It keeps the first misfit of each member: which members matter depends on
// the event's type, which may still be unknown.
func (d *decoder) misfit(key, want string) {
	e := &d.cur
	for _, m := range e.misfits {
		if m.member == e.reading {
			return
		}
	}
	e.misfits = append(e.misfits, misfit{e.reading, &FieldError{Field: e.path(key), Want: want}})
}
