package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	firstRead     = 1920      // the memory of a body of which nothing has arrived; a whole buffer takes 2 KiB
	firstSpace    = 64 << 10  // what a Content-Length may allocate once firstRead bytes have arrived
	largestPooled = 256 << 10 // larger memory is left to the garbage collector
	maxEmptyReads = 100
)

// buffer holds the body of a request while it is read. It is reused, so nothing that outlives the request may refer to it.
type buffer struct {
	first    [firstRead]byte
	body     []byte // what was read, in first or large.body
	read     bool   // body is complete
	consumed bool   // the request announced a longer body
	large    *space // nil until first is full or a body is normalised
}

// space is the additional memory of a buffer.
type space struct{ body, normal []byte }

// There are two pools so that a request without a body yet does not hold the memory of a large one.
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

// keepNormal keeps the memory of a normalised body for later requests. A large one that did not match is dropped at once,
// because many such requests may be in progress.
func (b *buffer) keepNormal(normal []byte, matched bool) {
	if !matched && cap(normal) > largestPooled {
		normal = nil
	}
	b.space().normal = normal
}

// received returns the body, or nil when it was not read.
func (b *buffer) received() []byte {
	if !b.read {
		return nil
	}
	return b.body[:len(b.body):len(b.body)]
}

// grow makes room for more of the body. length is the Content-Length, or -1.
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

// readBody reads a request's body into b. Memory grows with the bytes that have arrived, not with the Content-Length.
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
			return &refusal{answer: answerTooLarge, err: v.tooLarge}
		}
		if err != nil {
			return b.end(err, r.ContentLength)
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return &refusal{answer: answerCutShort, err: errBodyStuck}
		}
	}
}

// end distinguishes the end of a body from other reasons why reading stopped. The server reports a body that is shorter than
// announced as an error, so one that ends without an error was partly read before.
func (b *buffer) end(err error, length int64) *refusal {
	if err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose) {
		b.read, b.consumed = true, int64(len(b.body)) < length
		return nil
	}
	if e, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &refusal{answer: answerTooLarge, err: fmt.Errorf("%w: more than the %d bytes that an http.MaxBytesReader before this handler lets through", ErrTooLarge, e.Limit)}
	}
	return &refusal{answer: answerCutShort, err: errBodyCutShort}
}
