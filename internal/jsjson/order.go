package jsjson

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math"
	"slices"
)

// appendSorted appends an object's properties in JavaScript's order. Array indices come first, in
// ascending order, and then the other keys in the order of their first occurrence. A key that
// occurs twice has its last value, in its first position. appendSorted appends nothing if the
// properties are already in that order.
func (n *normalizer) appendSorted(dst, given []property) []property {
	repeated := n.repeated(given)
	if !repeated && slices.IsSortedFunc(given, byIndex) {
		return dst
	}
	if repeated {
		given = n.firstOfEach(given)
	}
	from := len(dst)
	if dst == nil {
		dst = make([]property, 0, cap(n.open))
	}
	for _, p := range given {
		if p.index != notIndex {
			dst = append(dst, p)
		}
	}
	slices.SortFunc(dst[from:], byIndex)
	for _, p := range given {
		if p.index == notIndex {
			dst = append(dst, p)
		}
	}
	return dst
}

func byIndex(a, b property) int { return cmp.Compare(a.index, b.index) }

// notIndex is the index of keys that are not array indices. These keys come after the array
// indices.
const notIndex = math.MaxUint32

// arrayIndex returns the number of a key that JavaScript sorts before other keys: "0" to "4294967294" without leading
// zeros. For other keys it returns notIndex.
func arrayIndex(key []byte) uint32 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return notIndex
	}
	var n uint64
	for _, c := range key {
		if c < '0' || c > '9' {
			return notIndex
		}
		n = 10*n + uint64(c-'0')
	}
	return uint32(min(n, notIndex))
}

// repeats finds the keys of an object that occur more than once.
type repeats struct {
	table []int32 // 1 + index in the object, by the key's hash, with linear probing
	kept  []property
}

// repeatsLinear is the number of properties up to which all pairs are compared, without the table.
const repeatsLinear = 8

var repeatsSeed = maphash.MakeSeed()

func (n *normalizer) repeated(given []property) bool {
	if len(given) > repeatsLinear {
		n.repeats.reset(len(given))
		for i := range given {
			if n.place(given, i) != i {
				return true
			}
		}
		return false
	}
	for i := range given {
		for j := range given[:i] {
			if bytes.Equal(n.key(given[i]), n.key(given[j])) {
				return true
			}
		}
	}
	return false
}

// firstOfEach returns one property for each key, at the position of its first occurrence and with
// the value of its last. The result is valid until the next call.
func (n *normalizer) firstOfEach(given []property) []property {
	n.repeats.reset(len(given))
	kept := n.repeats.kept[:0]
	for _, p := range given {
		last := len(kept)
		kept = append(kept, p)
		if place := n.place(kept, last); place < last {
			kept[place] = p
			kept = kept[:last]
		}
	}
	n.repeats.kept = kept
	return kept
}

// reset empties the table and makes room for n keys.
func (r *repeats) reset(n int) {
	size := 16
	for size < 2*n {
		size *= 2
	}
	r.table = slices.Grow(r.table[:0], size)[:size]
	clear(r.table)
}

// place returns the index of the first property with the same key as list[i]. If that index is i,
// place adds the property to the table.
func (n *normalizer) place(list []property, i int) int {
	table, key := n.repeats.table, n.key(list[i])
	mask := uint64(len(table) - 1)
	for slot := maphash.Bytes(repeatsSeed, key) & mask; ; slot = (slot + 1) & mask {
		at := table[slot]
		if at == 0 {
			table[slot] = int32(i + 1)
			return i
		}
		if bytes.Equal(n.key(list[at-1]), key) {
			return int(at - 1)
		}
	}
}
