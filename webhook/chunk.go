package webhook

// chunk builds lists that share allocations: most events have a handful of signers, and a payload many events.
type chunk[T any] struct {
	buf   []T
	start int // of the list under construction
	seen  int // items of all lists
	first int // bytes of the payload that were left when the first list began
}

const chunkMin, chunkMax = 4, 64

// begin starts a new list with left bytes of the payload to go. The one before must have been taken by end, or is
// given up.
func (c *chunk[T]) begin(left int) {
	if c.seen == 0 {
		c.first = left
	}
	c.start = len(c.buf)
}

// add appends a zero T to the list and returns it; it is valid until the next add.
func (c *chunk[T]) add(left int) *T {
	if len(c.buf) == cap(c.buf) {
		c.grow(left)
	}
	c.seen++
	c.buf = c.buf[:len(c.buf)+1]
	return &c.buf[len(c.buf)-1]
}

// grow moves the list under construction to a new allocation, which has room for as many items more as there would be
// if the payload went on to its end as it began, and an eighth. A payload that goes on otherwise costs at most chunkMax
// items or sixteen times those of the list.
func (c *chunk[T]) grow(left int) {
	list := c.buf[c.start:]
	more := c.seen*left/max(c.first-left, 1)*9/8 + 1
	size := max(chunkMin, min(len(list)+more, max(chunkMax, 16*len(list))))
	c.buf = append(make([]T, 0, size), list...)
	c.start = 0
}

// end returns the list, nil when it is empty. Appending to it does not touch its neighbours.
func (c *chunk[T]) end() []T {
	if c.start == len(c.buf) {
		return nil
	}
	return c.buf[c.start:len(c.buf):len(c.buf)]
}
