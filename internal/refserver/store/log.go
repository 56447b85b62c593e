package store

import (
	"cmp"
	"fmt"
	"slices"
)

// log has entries that are added only at the end and dropped only at the beginning. Entries are
// numbered, and may be grouped by record. The entries of one change are kept as one record, a
// batch.
type log[T any] struct {
	kind    Kind
	seqOf   func(*T) *int64
	last    int64 // number of the newest entry ever added
	batches [][]*T
	n       int // entries in all batches
	kept    int // number of entries that the last drop left

	recordOf func(*T) string // nil: not grouped
	byRecord map[string][]*T
}

func newLog[T any](kind Kind, seqOf func(*T) *int64, recordOf func(*T) string) log[T] {
	return log[T]{kind: kind, seqOf: seqOf, recordOf: recordOf, byRecord: map[string][]*T{}}
}

// add appends the entries and gives them the next numbers.
func (l *log[T]) add(tx *Tx, entries []T) {
	if len(entries) == 0 {
		return
	}
	batch := make([]*T, len(entries))
	for i, e := range entries {
		batch[i] = &e
		*l.seqOf(&e) = l.last + int64(i) + 1
	}
	tx.change(func() { l.push(batch) }, func() { l.pop() })
	tx.wrote(l.kind, l.batchID(batch), batch)
}

func (l *log[T]) batchID(batch []*T) string { return fmt.Sprintf("%012d", *l.seqOf(batch[0])) }

func (l *log[T]) push(batch []*T) {
	l.batches = append(l.batches, batch)
	l.n += len(batch)
	l.last = *l.seqOf(batch[len(batch)-1])
	for _, e := range batch {
		l.group(e, func(entries []*T) []*T { return append(entries, e) })
	}
}

// group changes the entries of the record of e.
func (l *log[T]) group(e *T, change func([]*T) []*T) {
	if l.recordOf == nil {
		return
	}
	id := l.recordOf(e)
	if l.byRecord[id] = change(l.byRecord[id]); len(l.byRecord[id]) == 0 {
		delete(l.byRecord, id)
	}
}

// pop removes the newest batch.
func (l *log[T]) pop() {
	batch := l.batches[len(l.batches)-1]
	l.batches = l.batches[:len(l.batches)-1]
	l.n -= len(batch)
	l.last = *l.seqOf(batch[0]) - 1
	for _, e := range batch {
		l.group(e, func(entries []*T) []*T { return entries[:len(entries)-1] })
	}
}

// drop drops the oldest batches until at most n entries are left, and returns their ids. It keeps
// batches with an entry for which needed returns true; needed may be nil.
func (l *log[T]) drop(n int, needed func(*T) bool) (ids []string) {
	var stay [][]*T
	for _, batch := range l.batches[:len(l.batches)-1] {
		if l.n <= n || needed != nil && needed(batch[0]) {
			stay = append(stay, batch)
			continue
		}
		l.n -= len(batch)
		ids = append(ids, l.batchID(batch))
		for _, e := range batch {
			l.group(e, func(entries []*T) []*T { return entries[1:] })
		}
	}
	l.batches = append(stay, l.batches[len(l.batches)-1]) // makes a new slice, so that the dropped batches can be freed
	l.kept = l.n
	return ids
}

// arrange sorts the entries, which were loaded in any order.
func (l *log[T]) arrange() {
	slices.SortFunc(l.batches, func(a, b []*T) int { return cmp.Compare(*l.seqOf(a[0]), *l.seqOf(b[0])) })
	loaded := l.batches
	l.batches, l.n = nil, 0
	clear(l.byRecord)
	newest := l.last
	for _, batch := range loaded {
		l.push(batch)
	}
	l.last = max(l.last, newest)
}

// entries returns every entry. Later additions and drops do not change the existing batches.
func (l *log[T]) entries() Records[T] { return Records[T]{l.batches, l.n} }

// of returns the entries of a record.
func (l *log[T]) of(recordID string) Records[T] { return RecordsOf(l.byRecord[recordID]) }

func values[T any](entries []*T) []T {
	out := make([]T, len(entries))
	for i, e := range entries {
		out[i] = *e
	}
	return out
}
