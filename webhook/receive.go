package webhook

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// refusal is why a request is not processed and what the sender is told. Requests that fail in verification all get
// the same answer.
type refusal struct {
	answer answer
	err    error
}

var (
	errMethod = errors.New("webhook: request method is not POST; if it was a delivery, a redirect changed it: " +
		"give the service the URL that the redirect leads to")
	errMediaType = errors.New("webhook: request has no Content-Type of application/json, or more than one; " +
		"if it was a delivery, something on the way changed it")
	errEncoding = errors.New("webhook: request body has a Content-Encoding, but what was signed has none: " +
		"decompress it before this handler and remove the header")
	errBodyCutShort = errors.New("webhook: request body did not arrive whole: the sender hung up, or http.Server.ReadTimeout passed")
	errBodyStuck    = errors.New("webhook: request body gives neither bytes nor an error: is it wrapped by something before this handler?")
)

// answerFor returns the answer to a delivery that Verify refuses.
func answerFor(err error) answer {
	if errors.Is(err, ErrTooLarge) {
		return answerTooLarge
	}
	return answerUnauthorized
}

// receive checks a request up to its signature and timestamp, in the order of the cost of each check: a request that
// cannot be genuine is refused before its body is read. Payload may refer to the memory of b.
func (v *Verifier) receive(r *http.Request, b *buffer) (Verified, *refusal) {
	if r.Method != http.MethodPost {
		return Verified{}, &refusal{answerMethod, errMethod}
	}
	if !isJSON(r.Header["Content-Type"]) {
		return Verified{}, &refusal{answerMediaType, errMediaType}
	}
	if !isIdentity(r.Header["Content-Encoding"]) {
		return Verified{}, &refusal{answerMediaType, errEncoding}
	}
	if r.ContentLength > int64(v.maxBody) {
		return Verified{}, &refusal{answerTooLarge, v.tooLarge}
	}
	var c claim
	if err := v.readClaim(&c, r.Header); err != nil {
		return Verified{}, &refusal{answerUnauthorized, err}
	}
	if refused := v.readBody(r, b); refused != nil {
		return Verified{}, refused
	}
	verified, err := v.verify(&c, b.body, &b.normal)
	if err != nil {
		return Verified{}, &refusal{answerUnauthorized, err}
	}
	return verified, nil
}

// maxMediaType bounds the Content-Type header: to take a megabyte of parameters apart costs more than a hash of it.
const maxMediaType = 256

// isJSON reports whether there is one Content-Type and it is application/json, with any parameters. Other types whose
// names end in +json are refused: the service does not send them.
func isJSON(values []string) bool {
	if len(values) != 1 || len(values[0]) > maxMediaType {
		return false
	}
	if values[0] == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(values[0])
	return err == nil && mediaType == "application/json"
}

// isIdentity reports whether no Content-Encoding is given but "identity". A compressed body is not what was signed,
// and unpacking it for a stranger would cost more memory than it cost the stranger.
func isIdentity(values []string) bool {
	for _, value := range values {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return false
			}
		}
	}
	return true
}

const (
	firstBuffer   = 64 << 10  // what a declared Content-Length alone may allocate
	unknownBuffer = 4 << 10   // the same without a Content-Length
	largestPooled = 256 << 10 // larger buffers are left to the garbage collector
	maxEmptyReads = 100
)

// buffer is where a body is read and normalised. It is used again for other requests, so nothing that outlives the
// request may refer to it.
type buffer struct {
	body   []byte
	normal []byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func takeBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if cap(b.body) > largestPooled {
		b.body = nil
	}
	if cap(b.normal) > largestPooled {
		b.normal = nil
	}
	buffers.Put(b)
}

// readBody reads a request's body into b. Memory grows with the bytes that have arrived, not with those announced.
func (v *Verifier) readBody(r *http.Request, b *buffer) *refusal {
	first := unknownBuffer
	if r.ContentLength >= 0 {
		// One more than the length, so that the end of the body is seen without growing.
		first = int(min(r.ContentLength, firstBuffer)) + 1
	}
	if cap(b.body) < first {
		b.body = make([]byte, 0, first)
	}
	body, empty := b.body[:0], 0
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := r.Body.Read(body[len(body):min(cap(body), v.maxBody+1)])
		body = body[:len(body)+n]
		b.body = body
		if len(body) > v.maxBody {
			return &refusal{answerTooLarge, v.tooLarge}
		}
		if err != nil {
			return endOfBody(err)
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return &refusal{answerCutShort, errBodyStuck}
		}
	}
}

// endOfBody tells the proper end from every other reason why reading stopped.
func endOfBody(err error) *refusal {
	if err == io.EOF {
		return nil
	}
	if e, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &refusal{answerTooLarge, fmt.Errorf("%w: more than the %d bytes that an http.MaxBytesReader before this handler lets through", ErrTooLarge, e.Limit)}
	}
	return &refusal{answerCutShort, errBodyCutShort}
}
