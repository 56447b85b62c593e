package webhook

// chunk builds lists that share allocations: most events have a handful of signers, and a payload many events.
type chunk[T any] struct {
	buf   []T
	start int // of the list under construction
	left  int // bytes of the payload that were left when it began
}

const chunkMin, chunkMax = 4, 64

// begin starts a new list with left bytes of the payload to go. The one before must have been taken by end, or is
// given up.
func (c *chunk[T]) begin(left int) { c.start, c.left = len(c.buf), left }

// add appends a zero T to the list and returns it; it is valid until the next add.
func (c *chunk[T]) add(left int) *T {
	if len(c.buf) == cap(c.buf) {
		c.grow(left)
	}
	c.buf = c.buf[:len(c.buf)+1]
	return &c.buf[len(c.buf)-1]
}

// grow moves the list under construction to a new allocation. The size is what the list would need if it went on to
// the end of the payload as it began, but at most four times what it has.
func (c *chunk[T]) grow(left int) {
	list := c.buf[c.start:]
	expected := len(list) + len(list)*left/max(c.left-left, 1) + 1
	size := max(chunkMin, min(2*cap(c.buf), chunkMax), min(expected, 4*len(list)))
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
