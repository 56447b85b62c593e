package webhook

import (
	"time"

	"github.com/signforms/signforms-go/internal/jsonfill"
	"github.com/signforms/signforms-go/internal/jsonscan"
)

// left returns the number of bytes of the payload that remain.
func (d *decoder) left() int { return len(d.text) - d.scan.Pos() }

// content returns the content of a string: a part of the payload, or a copy if the string contains
// escapes.
func (d *decoder) content(t jsonscan.Text) string {
	if t.Escaped {
		return unescaped(d.src[t.Start:t.End])
	}
	return d.text[t.Start:t.End]
}

// unescaped is not inlined, so that content can be inlined.
//
//go:noinline
func unescaped(raw []byte) string {
	var few [256]byte
	return string(jsonscan.Unescape(few[:0], raw))
}

// The values of FieldError.Want.
const (
	wantString  = "a string"
	wantBoolean = "true or false"
	wantInteger = "a whole number"
	wantTime    = "a time in RFC 3339 or Unix seconds or milliseconds"
	wantObject  = "an object"
	wantList    = "an array of objects"
)

// str reads a string. null gives the empty string; a number or boolean gives its JSON, as in the
// client's records. Like the functions below, str accepts a value of any kind and reports whether
// it fits. If the value does not fit, dst is set to zero.
func (d *decoder) str(dst *string) (ok bool) {
	switch d.scan.Next() {
	case '"':
		*dst = d.content(d.scan.String())
		return true
	case '{', '[':
		d.scan.Skip()
		*dst = ""
		return false
	}
	d.loose(dst)
	return true
}

// loose reads a value of any kind as text: the content of a string, an empty text for null, and
// otherwise the JSON of the value.
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
	var text string
	if !d.str(&text) {
		return false
	}
	*dst, ok = jsonfill.Bool(short(text))
	return ok || text == ""
}

// integer reads a whole number in any spelling, such as 1, 1.0 or "1".
func (d *decoder) integer(dst *int) (ok bool) {
	*dst = 0
	var text string
	if !d.str(&text) {
		return false
	}
	*dst, ok = jsonfill.Int(short(text))
	return ok || text == ""
}

// instant reads a time in one of the forms of parseInstant, in a string or as a number; null and "" are zero.
func (d *decoder) instant(dst *time.Time) (ok bool) {
	*dst = time.Time{}
	var text string
	if !d.str(&text) {
		return false
	}
	*dst, ok = parseInstant(text)
	return ok
}

// short returns text, or "" if it is too long for a boolean, number or time. strconv would copy a
// long text into an error that nobody reads.
func short(text string) string {
	if len(text) > 64 {
		return ""
	}
	return text
}

// parseInstant reads RFC 3339. It tries the strict form first, which needs no memory, and then the
// other forms of [jsonfill.Time].
func parseInstant(text string) (at time.Time, ok bool) {
	if text == "" {
		return time.Time{}, true
	}
	if at.UnmarshalText([]byte(text)) == nil {
		return at.UTC(), true
	}
	at, ok = jsonfill.Time(short(text))
	return at.UTC(), ok
}

// misfit records that a value could not be read. The event's type decides which members matter, and
// may still be unknown. For a list, misfit keeps only the misfits of the first element that has
// any.
func (d *decoder) misfit(key, want string) {
	e := &d.cur
	for _, m := range e.misfits {
		if m.member == e.reading && m.index != e.index {
			return
		}
	}
	e.misfits = append(e.misfits, misfit{e.reading, e.index, key, &FieldError{Field: e.path(key), Want: want}})
}
