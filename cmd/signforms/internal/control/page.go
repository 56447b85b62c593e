package control

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// defaultLimit is how many items a page has by default.
const defaultLimit = 100

// query reads the query parameters of one request. It records which parameters the operation reads.
type query struct {
	values url.Values
	known  []string
	err    *wire.Error
}

func readQuery(r *http.Request) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if r.Context().Value(waitable{}) != nil {
		q.known = []string{"wait", "count"}
	}
	if err != nil {
		q.fail("it cannot be read: %v", err)
	}
	return q
}

func (q *query) text(name string) string {
	q.known = append(q.known, name)
	return q.values.Get(name)
}

// oneOf returns a text that must be one of allowed, or "" if the parameter is missing.
func (q *query) oneOf(name string, allowed ...string) string {
	text := q.text(name)
	if text != "" && !slices.Contains(allowed, text) {
		q.fail("%s is %q: it must be %s or %s", name, text, strings.Join(allowed[:len(allowed)-1], ", "), allowed[len(allowed)-1])
	}
	return text
}

func (q *query) number(name string, otherwise, least, most int) int {
	text := q.text(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.fail("%s is %q: it must be a number from %d to %d", name, text, least, most)
	}
	return n
}

// duration returns a length of time above 0 and up to most, or 0 if the parameter is missing.
func (q *query) duration(name string, most time.Duration) time.Duration {
	text := q.text(name)
	if text == "" {
		return 0
	}
	d, err := wire.ParseDuration(text)
	if err != nil || d <= 0 || time.Duration(d) > most {
		q.fail("%s is %q: it must be a length of time as in 10s, at most %v", name, text, most)
	}
	return time.Duration(d)
}

func (q *query) time(name string) (t time.Time) {
	if text := q.text(name); text != "" {
		var err error
		if t, err = time.Parse(time.RFC3339, text); err != nil {
			q.fail("%s is %q: it must be a time as in 2026-11-21T09:30:00Z", name, text)
		}
	}
	return t
}

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = failure(http.StatusBadRequest, "input", "the query: "+format, args...)
	}
}

// check returns an error if the query has an invalid value, or a parameter that the operation does
// not read. Call it after all parameters were read.
func (q *query) check() error {
	slices.Sort(q.known)
	q.known = slices.Compact(q.known)
	for name := range q.values {
		switch {
		case len(q.known) == 0:
			q.fail("there is no parameter %q: this operation has none", name)
		case !slices.Contains(q.known, name):
			q.fail("there is no parameter %q; there are %s", name, strings.Join(q.known, ", "))
		}
		q.one(name)
	}
	if q.err != nil {
		return q.err
	}
	return nil
}

// one refuses a parameter that is given several times or is empty. An empty parameter must not
// count as a missing one.
func (q *query) one(name string) {
	switch values := q.values[name]; {
	case len(values) > 1:
		q.fail("%s is given %d times: give it once", name, len(values))
	case len(values) == 1 && values[0] == "":
		q.fail("%s is empty: leave it out, or give it a value", name)
	}
}

// page returns the requested page of the items that match, converted.
func page[In, Out any](q *query, all []In, match func(In) bool, convert func(In) Out) (*wire.Page[Out], error) {
	offset, limit := q.bounds()
	if err := q.check(); err != nil {
		return nil, err
	}
	out := &wire.Page[Out]{Items: []Out{}}
	for _, in := range all {
		if !match(in) {
			continue
		}
		if out.Total >= offset && len(out.Items) < limit {
			out.Items = append(out.Items, convert(in))
		}
		out.Total++
	}
	out.Next = next(offset, len(out.Items), out.Total)
	return out, nil
}

// every matches every item, and same returns an item unchanged.
func every[T any](T) bool { return true }
func same[T any](v T) T   { return v }

// found returns the requested page of the items that find returns and match selects, converted.
func found[In, Out any](q *query, match func(In) bool, find func(match func(In) bool, offset, limit int) ([]In, int), convert func(In) Out) (*wire.Page[Out], error) {
	offset, limit := q.bounds()
	if err := q.check(); err != nil {
		return nil, err
	}
	items, total := find(match, offset, limit)
	out := &wire.Page[Out]{Items: []Out{}, Total: total, Next: next(offset, len(items), total)}
	for _, in := range items {
		out.Items = append(out.Items, convert(in))
	}
	return out, nil
}

// bounds returns the offset and the limit of the requested page.
func (q *query) bounds() (offset, limit int) {
	return q.number("offset", 0, 0, 1<<31-1), q.number("limit", defaultLimit, 1, wire.MaxLimit)
}

// next returns the offset of the next page, or 0 when there is none.
func next(offset, items, total int) int {
	if end := offset + items; items > 0 && end < total {
		return end
	}
	return 0
}

// newest reverses a log in place and returns it.
func newest[T any](log []T) []T {
	slices.Reverse(log)
	return log
}

func (q *query) boolean(name string) bool {
	switch text := q.text(name); text {
	case "", "false":
	case "true":
		return true
	default:
		q.fail("%s is %q: it must be true or false", name, text)
	}
	return false
}
