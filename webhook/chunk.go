package webhook

// chunk builds lists that share allocations: most events have a handful of signers, and a payload many events.
type chunk[T any] struct {
	buf   []T
	start int // of the list under construction
}

const chunkMin, chunkMax = 4, 64

// begin starts a new list; the one before must have been taken by end or is given up.
func (c *chunk[T]) begin() { c.start = len(c.buf) }

// add appends a zero T to the list and returns it; it is valid until the next add.
func (c *chunk[T]) add() *T {
	if len(c.buf) == cap(c.buf) {
		list := c.buf[c.start:]
		size := max(chunkMin, min(2*cap(c.buf), chunkMax), 2*len(list))
		c.buf = append(make([]T, 0, size), list...)
		c.start = 0
	}
	c.buf = c.buf[:len(c.buf)+1]
	return &c.buf[len(c.buf)-1]
}

// end returns the list, nil when it is empty. Appending to it does not touch its neighbours.
func (c *chunk[T]) end() []T {
	if c.start == len(c.buf) {
		return nil
	}
	return c.buf[c.start:len(c.buf):len(c.buf)]
}
