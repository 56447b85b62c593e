package store

import (
	"cmp"
	"fmt"
	"slices"
)

// log holds entries that are only ever added at the end and dropped at the beginning, numbered over all and grouped by record.
// What one change adds is kept as one record, a batch.
type log[T any] struct {
	kind     Kind
	recordOf func(*T) string
	seqOf    func(*T) *int64
	last     int64 // number of the newest entry that there ever was
	batches  [][]*T
	n        int // entries in all batches
	byRecord map[string][]*T
}

func newLog[T any](kind Kind, recordOf func(*T) string, seqOf func(*T) *int64) log[T] {
	return log[T]{kind: kind, recordOf: recordOf, seqOf: seqOf, byRecord: map[string][]*T{}}
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
		id := l.recordOf(e)
		l.byRecord[id] = append(l.byRecord[id], e)
	}
}

// pop takes back the newest batch.
func (l *log[T]) pop() {
	batch := l.batches[len(l.batches)-1]
	l.batches = l.batches[:len(l.batches)-1]
	l.n -= len(batch)
	l.last = *l.seqOf(batch[0]) - 1
	for _, e := range batch {
		id := l.recordOf(e)
		l.keep(id, l.byRecord[id][:len(l.byRecord[id])-1])
	}
}

func (l *log[T]) keep(id string, rest []*T) {
	if len(rest) > 0 {
		l.byRecord[id] = rest
	} else {
		delete(l.byRecord, id)
	}
}

// drop drops the oldest batches until at most n entries are left, and returns their ids.
func (l *log[T]) drop(n int) (ids []string) {
	batches := l.batches
	for len(batches) > 1 && l.n > n {
		batch := batches[0]
		batches = batches[1:]
		l.n -= len(batch)
		ids = append(ids, l.batchID(batch))
		for _, e := range batch {
			id := l.recordOf(e)
			l.keep(id, l.byRecord[id][1:])
		}
	}
	l.batches = slices.Clone(batches) // lets go of what was dropped
	return ids
}

// arrange sorts what was loaded in any order.
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

// entries returns every entry. What is added or dropped later does not change the batches that are there.
func (l *log[T]) entries() Records[T] { return Records[T]{l.batches, l.n} }

// of returns the entries about a record.
func (l *log[T]) of(id string) Records[T] { return RecordsOf(l.byRecord[id]) }

func values[T any](entries []*T) []T {
	out := make([]T, len(entries))
	for i, e := range entries {
		out[i] = *e
	}
	return out
}
