package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	firstRead     = 1920      // the memory of a body that was only announced; with the rest of buffer it makes 2 KiB
	firstSpace    = 64 << 10  // what a declared Content-Length may allocate once firstRead bytes have arrived
	largestPooled = 256 << 10 // larger memory is left to the garbage collector
	maxEmptyReads = 100
)

// buffer is where the body of a request is read. It is used again for other requests, so nothing that outlives the
// request may refer to it.
type buffer struct {
	first    [firstRead]byte
	body     []byte // what was read, in first or large.body
	read     bool   // body is the whole body, as far as there was one
	consumed bool   // the request announced more than there was
	large    *space // nil until first is full or a body is normalised
}

// space is the larger memory of a buffer.
type space struct{ body, normal []byte }

// The pools are apart so that requests of which nothing has arrived do not hold the memory of large ones.
var (
	buffers = sync.Pool{New: func() any { return new(buffer) }}
	spaces  = sync.Pool{New: func() any { return new(space) }}
)

func takeBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if b.large != nil {
		b.large.release()
	}
	b.body, b.large, b.read, b.consumed = nil, nil, false, false
	buffers.Put(b)
}

func (s *space) release() {
	if cap(s.body) > largestPooled {
		s.body = nil
	}
	if cap(s.normal) > largestPooled {
		s.normal = nil
	}
	spaces.Put(s)
}

func (b *buffer) space() *space {
	if b.large == nil {
		b.large = spaces.Get().(*space)
	}
	return b.large
}

// keepNormal keeps the memory of a normalised body for others. That of one that did not match is given up at once when
// it is large: many such requests may still wait for their answers.
func (b *buffer) keepNormal(normal []byte, matched bool) {
	if !matched && cap(normal) > largestPooled {
		normal = nil
	}
	b.space().normal = normal
}

// received returns the body that was read, or nil where none was.
func (b *buffer) received() []byte {
	if !b.read {
		return nil
	}
	return b.body[:len(b.body):len(b.body)]
}

// grow makes room for more of a body of which length bytes were announced, or -1.
func (b *buffer) grow(length int64) {
	s := b.space()
	if len(b.body) == firstRead {
		// One more than the length, so that the end of the body is seen without growing.
		if want := int(min(max(length, 2*firstRead), firstSpace)) + 1; cap(s.body) < want {
			s.body = make([]byte, 0, want)
		}
		b.body = append(s.body[:0], b.body...)
		return
	}
	b.body = append(b.body, 0)[:len(b.body)]
	s.body = b.body
}

// readBody reads a request's body into b. Memory grows with the bytes that have arrived, not with those announced.
func (v *Verifier) readBody(r *http.Request, b *buffer) *refusal {
	b.body = b.first[:0]
	if r.Body == nil {
		b.read, b.consumed = true, r.ContentLength > 0
		return nil
	}
	for empty := 0; ; {
		if len(b.body) == cap(b.body) {
			b.grow(r.ContentLength)
		}
		n, err := r.Body.Read(b.body[len(b.body):min(cap(b.body), v.maxBody+1)])
		b.body = b.body[:len(b.body)+n]
		if len(b.body) > v.maxBody {
			return &refusal{answerTooLarge, v.tooLarge}
		}
		if err != nil {
			return b.end(err, r.ContentLength)
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return &refusal{answerCutShort, errBodyStuck}
		}
	}
}

// end tells the proper end of a body from every other reason why reading stopped. The server itself reports a body that is
// shorter than announced as an error: one that ends in order was read by someone else before.
func (b *buffer) end(err error, length int64) *refusal {
	if err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose) {
		b.read, b.consumed = true, int64(len(b.body)) < length
		return nil
	}
	if e, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &refusal{answerTooLarge, fmt.Errorf("%w: more than the %d bytes that an http.MaxBytesReader before this handler lets through", ErrTooLarge, e.Limit)}
	}
	return &refusal{answerCutShort, errBodyCutShort}
}
