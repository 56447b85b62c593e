package store

import (
	"iter"
	"runtime"
	"slices"
	"unicode"
)

// Found returns a page of the records that a query selects, and the number of all selected records.
// It uses the state of the transaction that returned the Found. Call it after the transaction: it
// may search every name, which needs no lock.
type Found[T any] func() (page []*T, total int)

// find selects from l by time and text. Without a text it reads only the records of the page.
func find[T any](l *list[T], q Query) Found[T] {
	if l == nil {
		return func() ([]*T, int) { return nil, 0 }
	}
	lo, hi := 0, l.n
	if !q.From.IsZero() {
		lo = l.rank(keyOf(q.From, ""))
	}
	if !q.To.IsZero() {
		hi = l.rank(keyOf(q.To.Add(1), ""))
	}
	if q.Text == "" {
		page, total := l.page(lo, hi, q.Page), max(hi-lo, 0)
		return func() ([]*T, int) { return page, total }
	}
	now := l.asItIs()
	return func() ([]*T, int) { return now.search(lo, hi, q) }
}

// search searches the records from index lo up to hi, without hi. It returns the page of those
// whose name contains the query's text, and their number.
func (l *list[T]) search(lo, hi int, q Query) (page []*T, total int) {
	text, looked := folded(q.Text), 0
	l.each(lo, hi, q.Ascending, func(v *T) bool {
		if looked++; looked%blockSize == 0 {
			runtime.Gosched() // with few processors, a writer then need not wait for the whole search
		}
		if !contains(l.name(v), text) {
			return true
		}
		if int64(total) >= q.Offset && len(page) < q.Limit {
			page = append(page, v)
		}
		total++
		return true
	})
	return page, total
}

// contains reports whether a name contains a text, which must be folded. It makes no copy of the
// name, because a search reads every name.
func contains(name string, text []rune) bool {
	for start, first := range name {
		if len(text) == 0 || fold(first) != text[0] {
			continue
		}
		n := 0
		for _, r := range name[start:] {
			if n == len(text) || fold(r) != text[n] {
				break
			}
			n++
		}
		if n == len(text) {
			return true
		}
	}
	return len(text) == 0
}

// folded returns the letters of a text in a form in which letters that differ only in case are
// equal, as in [strings.EqualFold].
func folded(s string) []rune {
	text := []rune(s)
	for i, r := range text {
		text[i] = fold(r)
	}
	return text
}

// fold returns the form of a letter with the smallest code. For example, the forms of sigma are Σ,
// σ and ς.
func fold(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	if r <= unicode.MaxASCII {
		return r
	}
	return foldAny(r)
}

func foldAny(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}

// Records are records of one kind, oldest first, in the state of the transaction that returned
// them. They may be read after the transaction.
type Records[T any] struct {
	parts [][]*T
	n     int
}

// RecordsOf returns the records of a slice, which must not be changed afterwards.
func RecordsOf[T any](all []*T) Records[T] { return Records[T]{[][]*T{all}, len(all)} }

// Len returns the number of records.
func (r Records[T]) Len() int { return r.n }

// All yields the records, oldest first.
func (r Records[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, part := range r.parts {
			for _, v := range part {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// Newest yields the records, newest first.
func (r Records[T]) Newest() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, part := range slices.Backward(r.parts) {
			for _, v := range slices.Backward(part) {
				if !yield(v) {
					return
				}
			}
		}
	}
}
