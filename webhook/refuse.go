package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The reasons that unauthenticated requests can cause. They are made once, so that a request costs
// no memory for its error. Each matches the exported error that it begins with.
var (
	errMethod = errors.New("webhook: request method is not POST; if the request is a delivery, a redirect changed " +
		"the method: give the service the URL that the redirect leads to")
	errMediaType = errors.New("webhook: request has no Content-Type of application/json, or more than one; " +
		"if the request is a delivery, a proxy changed it")
	errEncoding = errors.New("webhook: request body has a Content-Encoding, but what was signed has none: " +
		"decompress it before this handler and remove the header")
	errBodyCutShort = errors.New("webhook: request body is incomplete: the sender hung up, http.Server.ReadTimeout " +
		"passed, or what wraps the body returns neither bytes nor an error")
	errSignatureMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, SignatureHeader)
	errTimestampMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, TimestampHeader)
	errSignatureRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, SignatureHeader)
	errTimestampRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, TimestampHeader)
	errSignatureMalformed = fmt.Errorf("%w: %s is not 64 lower-case hexadecimal digits; "+
		"webhook.Diagnose knows other forms", ErrHeaderMalformed, SignatureHeader)
	errTimestampMalformed = fmt.Errorf("%w: %s is neither 10-digit Unix seconds, nor 13-digit Unix milliseconds, nor RFC 3339 ending in Z; "+
		"if the service sends another form, read it with VerifierOptions.ParseTimestamp", ErrHeaderMalformed, TimestampHeader)
	errTimestampUnsafe = fmt.Errorf("%w: %s is not 1 to 64 printable ASCII characters without opening brackets and braces, "+
		"so that VerifierOptions.ParseTimestamp is not called", ErrHeaderMalformed, TimestampHeader)
	errTimestampRefused = fmt.Errorf("%w: %s was refused by VerifierOptions.ParseTimestamp; its error is omitted because it may quote the header",
		ErrHeaderMalformed, TimestampHeader)
	errSplitUnsafe = fmt.Errorf("%w, which VerifierOptions.ParseTimestamp requires", ErrPayload)
	errConsumed    = fmt.Errorf("%w: %w", ErrSignature, ErrBodyConsumed)
)

const (
	ifMissing  = "; the request is not a delivery, a proxy removed the header, or the map was not built with http.Header.Add"
	ifRepeated = "; if the request is a delivery, a proxy added one"
)

// refusal is the reason why a request is not processed, with the response to the sender. All
// requests that fail verification get the same response.
type refusal struct {
	reply  reply
	err    error
	unread bool // the body was not read to its end
}

// write sends the response. If the body was not read to its end, it also closes an HTTP/1
// connection. A server that keeps such a connection would first wait for the rest of the body,
// which may never arrive.
func (f *refusal) write(w http.ResponseWriter, r *http.Request) {
	if f.unread && r.ProtoMajor == 1 {
		w.Header()["Connection"] = []string{"close"}
	}
	f.reply.write(w, 0) // no refusal is a 503, so there is no Retry-After
}

// refuse returns the refusal for an error of Verify or Parse.
func refuse(err error) *refusal {
	switch {
	case errors.Is(err, ErrNoSecret):
		return &refusal{reply: replyFailed, err: err}
	case errors.Is(err, ErrTooLarge):
		return &refusal{reply: replyTooLarge, err: err}
	case errors.Is(err, ErrPayload):
		return &refusal{reply: replyPayload, err: err}
	}
	return &refusal{reply: replyUnauthorized, err: err}
}

// verifyRequest decides whether a request is refused. Cheap checks come first:
//
//  1. method, media type, length and the form of the two headers, before the body is read
//  2. the size of the body
//  3. the signature
//  4. the clock
//
// A Handler also refuses genuine payloads that [Parse] cannot read. Nothing else refers to the
// bytes of the Payload, so they may become a string without a copy.
func (v *Verifier) verifyRequest(r *http.Request) (Verified, *refusal) {
	c, refused := v.checkHeader(r)
	var body []byte
	if refused == nil {
		body, refused = v.readBody(r)
	}
	if refused != nil {
		refused.unread = r.ContentLength != 0
		return Verified{}, refused
	}
	verified, err := v.verify(r.Context(), &c, body)
	if err == ErrSignature && int64(len(body)) < r.ContentLength {
		err = errConsumed
	}
	switch {
	case err == nil:
		return verified, nil
	case r.Context().Err() != nil && errors.Is(err, r.Context().Err()):
		return Verified{}, &refusal{reply: replyUnavailable, err: err}
	}
	return Verified{}, refuse(err)
}

func (v *Verifier) checkHeader(r *http.Request) (c signedHeaders, refused *refusal) {
	switch {
	case !v.usable():
		return c, refuse(ErrNoSecret)
	case r.Method != http.MethodPost:
		return c, &refusal{reply: replyMethod, err: errMethod}
	case !isJSON(r.Header["Content-Type"]):
		return c, &refusal{reply: replyMediaType, err: errMediaType}
	case !isIdentity(r.Header["Content-Encoding"]):
		return c, &refusal{reply: replyMediaType, err: errEncoding}
	case r.ContentLength > int64(v.maxBody):
		return c, refuse(v.tooLarge)
	}
	if err := v.readHeaders(&c, r.Header); err != nil {
		return c, refuse(err)
	}
	return c, nil
}

// isJSON reports whether there is exactly one Content-Type and it is application/json. The media
// type ends at the first semicolon or comma, because gateways repeat a parameter or the whole
// value, and leave quotes open. Types that end in +json are refused, because the service does not
// send them.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	mediaType := values[0]
	if end := strings.IndexAny(mediaType, ";,"); end >= 0 {
		mediaType = mediaType[:end]
	}
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/json")
}

// isIdentity reports whether there is no Content-Encoding other than "identity". A compressed body
// differs from the signed body, and decompressing an unauthenticated body could need any amount of
// memory.
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

// signedHeaders has the values of the two headers of a delivery.
type signedHeaders struct {
	text      string // the timestamp in its signed form
	at        time.Time
	signature signature
}

func (v *Verifier) readHeaders(c *signedHeaders, header http.Header) (err error) {
	signatures, timestamps := header[SignatureHeader], header[TimestampHeader]
	switch {
	case len(signatures) == 0:
		return errSignatureMissing
	case len(timestamps) == 0:
		return errTimestampMissing
	case len(signatures) > 1:
		return errSignatureRepeated
	case len(timestamps) > 1:
		return errTimestampRepeated
	}
	if !decodeSignature(&c.signature, signatures[0]) {
		return errSignatureMalformed
	}
	c.text = timestamps[0]
	c.at, err = v.parseTimestamp(c.text)
	return err
}

const (
	firstRead     = 2 << 10  // memory for a body before its first byte has arrived
	announcedRead = 64 << 10 // memory that a Content-Length may allocate once firstRead is full
	pooledBody    = announcedRead + 1
	maxEmptyReads = 100
)

// bodies keeps the memory of bodies that are no longer used. Only the memory of genuine deliveries
// enters the pool. Otherwise a stranger could fill the pool with large buffers and then hold them
// with bodies that never arrive.
var bodies sync.Pool // *[]byte

// readBody reads the body of a request. It allocates memory as bytes arrive, whatever the
// Content-Length announces.
func (v *Verifier) readBody(r *http.Request) ([]byte, *refusal) {
	if r.Body == nil {
		return nil, nil
	}
	// Reading has room for one byte more than the length, so that reading sees the end of the body
	// without growing the buffer.
	length := min(r.ContentLength, announcedRead) + 1
	if length == 0 {
		length = firstRead
	}
	var body []byte
	if used, ok := bodies.Get().(*[]byte); ok {
		body = (*used)[:0]
	} else {
		body = make([]byte, 0, min(length, firstRead))
	}
	for empty := 0; empty < maxEmptyReads; empty++ {
		if len(body) == cap(body) {
			size := min(max(length, 4*int64(len(body))), int64(v.maxBody)+1)
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):min(cap(body), v.maxBody+1)])
		body = body[:len(body)+n]
		switch {
		case len(body) > v.maxBody:
			return nil, refuse(v.tooLarge)
		case err != nil:
			return body, unfinished(err)
		case n > 0:
			empty = -1
		}
	}
	return nil, &refusal{reply: replyCutShort, err: errBodyCutShort}
}

// unfinished returns nil if err is the end of the body, and the refusal for any other reason why
// reading stopped.
func unfinished(err error) *refusal {
	if err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose) {
		return nil
	}
	if e, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return refuse(fmt.Errorf("%w: more than the %d bytes that an http.MaxBytesReader before this handler lets through",
			ErrTooLarge, e.Limit))
	}
	return &refusal{reply: replyCutShort, err: errBodyCutShort}
}

// verify checks the signature first and then the clock, so that a delivery that is refused for its
// time is known to be genuine.
func (v *Verifier) verify(ctx context.Context, c *signedHeaders, body []byte) (Verified, error) {
	found := Verified{Payload: body, Timestamp: c.at}
	if found.SecretIndex = v.match(c, body); found.SecretIndex < 0 {
		var err error
		if found.Payload, found.SecretIndex, err = v.matchNormal(ctx, c, body); err != nil {
			return Verified{}, err
		}
		found.Reserialized = true
	}
	if v.custom != nil && !beginsDocument(found.Payload) {
		return Verified{}, errSplitUnsafe
	}
	if v.tolerance >= 0 {
		if age := v.now().Sub(c.at); age > v.tolerance || age < -v.tolerance {
			return Verified{}, v.untimely(age)
		}
	}
	return found, nil
}

func (v *Verifier) untimely(age time.Duration) error {
	side := "behind"
	if age < 0 {
		side = "ahead of"
	}
	return fmt.Errorf("%w: %v %s the clock, %v allowed; it is a replay or was delayed, or a clock is wrong",
		ErrTimestamp, age.Round(time.Millisecond).Abs(), side, v.tolerance)
}
