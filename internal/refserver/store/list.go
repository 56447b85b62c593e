package store

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// key orders records by instant; ties are ordered by id. Nanoseconds alone would overflow in 2262,
// and filters use the year 9999.
type key struct {
	seconds, nanoseconds int64 // Unix time
	id                   string
}

func keyOf(at time.Time, id string) key { return key{at.Unix(), int64(at.Nanosecond()), id} }

func (k key) compare(o key) int {
	if c := cmp.Compare(k.seconds, o.seconds); c != 0 {
		return c
	}
	if c := cmp.Compare(k.nanoseconds, o.nanoseconds); c != 0 {
		return c
	}
	return cmp.Compare(k.id, o.id)
}

// blockSize is how many pointers one insertion copies at most.
const blockSize = 256

// list has records in the order of their keys, in blocks. Inserting, removing, and skipping to a
// page cost about as much with 100,000 records as with 1,000. A copy of the slice of blocks, which
// is small, is a snapshot of the list that can be read without a lock.
type list[T any] struct {
	key    func(*T) key
	name   func(*T) string // returns the name that searches read; nil: there is no name
	blocks [][]*T          // no block is empty, and no block is ever changed; a changed block is replaced
	n      int
}

// find returns the block, and the index in it, of the first record whose key is not less than k.
func (l *list[T]) find(k key) (block, place int) {
	block = sort.Search(len(l.blocks), func(b int) bool {
		records := l.blocks[b]
		return l.key(records[len(records)-1]).compare(k) >= 0
	})
	if block == len(l.blocks) {
		return block, 0
	}
	records := l.blocks[block]
	place = sort.Search(len(records), func(i int) bool { return l.key(records[i]).compare(k) >= 0 })
	return block, place
}

// at returns the record with the key k, or nil.
func (l *list[T]) at(k key) *T {
	b, i := l.find(k)
	if b == len(l.blocks) || l.key(l.blocks[b][i]) != k {
		return nil
	}
	return l.blocks[b][i]
}

// put inserts v, or replaces the record with the same key.
func (l *list[T]) put(v *T) {
	k := l.key(v)
	b, i := l.find(k)
	if b < len(l.blocks) && l.key(l.blocks[b][i]) == k {
		records := slices.Clone(l.blocks[b])
		records[i] = v
		l.blocks[b] = records
		return
	}
	l.n++
	last := len(l.blocks) - 1
	if b > last && (last < 0 || len(l.blocks[last]) == blockSize) {
		l.blocks = append(l.blocks, []*T{v})
		return
	}
	if b > last { // past the end of the copied blocks, so they do not change
		l.blocks[last] = append(l.blocks[last], v)
		return
	}
	records := slices.Concat(l.blocks[b][:i], []*T{v}, l.blocks[b][i:])
	if len(records) <= blockSize {
		l.blocks[b] = records
		return
	}
	half := len(records) / 2
	l.blocks[b] = slices.Clone(records[:half])
	l.blocks = slices.Insert(l.blocks, b+1, slices.Clone(records[half:]))
}

// remove removes the record with the key k, if there is one.
func (l *list[T]) remove(k key) {
	b, i := l.find(k)
	if b == len(l.blocks) || l.key(l.blocks[b][i]) != k {
		return
	}
	l.n--
	if len(l.blocks[b]) == 1 {
		l.blocks = slices.Delete(l.blocks, b, b+1)
		return
	}
	l.blocks[b] = slices.Concat(l.blocks[b][:i], l.blocks[b][i+1:])
}

// asItIs returns a snapshot of the list, which may be read without a lock.
func (l *list[T]) asItIs() list[T] {
	return list[T]{key: l.key, name: l.name, blocks: slices.Clone(l.blocks), n: l.n}
}

// rank returns how many records have a key less than k.
func (l *list[T]) rank(k key) int {
	b, i := l.find(k)
	for _, block := range l.blocks[:b] {
		i += len(block)
	}
	return i
}

// first returns the record with the least key, or nil.
func (l *list[T]) first() *T {
	if l.n == 0 {
		return nil
	}
	return l.blocks[0][0]
}

// last returns the record with the greatest key, or nil.
func (l *list[T]) last() *T {
	if l.n == 0 {
		return nil
	}
	records := l.blocks[len(l.blocks)-1]
	return records[len(records)-1]
}

// each calls fn for the records from index lo up to hi, without hi, until fn returns false.
// ascending selects the direction.
func (l *list[T]) each(lo, hi int, ascending bool, fn func(*T) bool) {
	count := hi - lo
	start := lo
	if !ascending {
		start = hi - 1
	}
	if count <= 0 {
		return
	}
	b := 0
	for start >= len(l.blocks[b]) {
		start -= len(l.blocks[b])
		b++
	}
	for ; count > 0; count-- {
		if !fn(l.blocks[b][start]) {
			return
		}
		if ascending {
			if start++; start == len(l.blocks[b]) {
				b, start = b+1, 0
			}
		} else if start--; start < 0 && b > 0 {
			b--
			start = len(l.blocks[b]) - 1
		}
	}
}

// page returns a page of the records from index lo up to hi, without hi.
func (l *list[T]) page(lo, hi int, p Page) []*T {
	n := max(hi-lo, 0)
	skip := int(min(p.Offset, int64(n)))
	n = min(n-skip, p.Limit)
	if n <= 0 {
		return nil
	}
	if p.Ascending {
		lo += skip
	} else {
		lo = hi - skip - n
	}
	out := make([]*T, 0, n)
	l.each(lo, lo+n, p.Ascending, func(v *T) bool {
		out = append(out, v)
		return true
	})
	return out
}

// Page selects a part of a list. Records are sorted newest first, unless Ascending is true.
type Page struct {
	Ascending bool
	Offset    int64 // how many records to skip, 0 or more; a page number times a limit may exceed an int of 32 bits
	Limit     int   // how many records to return at most
}
