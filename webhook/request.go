package webhook

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"
)

// refusal is the reason why a request is not processed, and the answer to the sender. All requests that fail verification
// get the same answer.
type refusal struct {
	answer answer
	err    error
	unread bool // not the whole body was read
}

// note records how much of the body was read, reports the refusal and returns it. b may be released then.
func (f *refusals) note(r *http.Request, b *buffer, refused *refusal) *refusal {
	refused.unread = !b.read && r.ContentLength != 0
	f.tell(r.Context(), refused, r.Header, b.received())
	return refused
}

// write answers over HTTP/1 at once: a server that is to keep the connection waits for the rest of the body first, which may never
// arrive.
func (f *refusal) write(w http.ResponseWriter, r *http.Request, retryAfter time.Duration) {
	if f.unread && r.ProtoMajor == 1 {
		w.Header()["Connection"] = []string{"close"}
	}
	f.answer.write(w, retryAfter)
}

var (
	errMethod = errors.New("webhook: request method is not POST; if the request is a delivery, a redirect changed the method: " +
		"give the service the URL that the redirect leads to")
	errMediaType = errors.New("webhook: request has no Content-Type of application/json, or more than one; " +
		"if the request is a delivery, something on the way changed it")
	errEncoding = errors.New("webhook: request body has a Content-Encoding, but what was signed has none: " +
		"decompress it before this handler and remove the header")
	errBodyCutShort = errors.New("webhook: request body is incomplete: the sender hung up, or http.Server.ReadTimeout passed")
	errBodyStuck    = errors.New("webhook: reading the request body returns neither bytes nor an error: did something before this handler wrap it?")
)

// refuse returns the refusal for an error of Verify or Parse.
func refuse(err error) *refusal {
	switch {
	case errors.Is(err, ErrNoSecret):
		return &refusal{answer: answerFailed, err: err}
	case errors.Is(err, ErrTooLarge):
		return &refusal{answer: answerTooLarge, err: err}
	case errors.Is(err, ErrPayload):
		return &refusal{answer: answerPayload, err: err}
	}
	return &refusal{answer: answerUnauthorized, err: err}
}

// receive checks a request up to its signature and timestamp, cheap checks first: a request that cannot be genuine is
// refused before its body is read. Payload may refer to the memory of b.
func (v *Verifier) receive(r *http.Request, b *buffer) (Verified, *refusal) {
	if !v.usable() {
		return Verified{}, refuse(ErrNoSecret)
	}
	if r.Method != http.MethodPost {
		return Verified{}, &refusal{answer: answerMethod, err: errMethod}
	}
	if !isJSON(r.Header["Content-Type"]) {
		return Verified{}, &refusal{answer: answerMediaType, err: errMediaType}
	}
	if !isIdentity(r.Header["Content-Encoding"]) {
		return Verified{}, &refusal{answer: answerMediaType, err: errEncoding}
	}
	if r.ContentLength > int64(v.maxBody) {
		return Verified{}, &refusal{answer: answerTooLarge, err: v.tooLarge}
	}
	var c claim
	if err := v.readClaim(&c, r.Header); err != nil {
		return Verified{}, refuse(err)
	}
	if refused := v.readBody(r, b); refused != nil {
		return Verified{}, refused
	}
	verified, err := v.verify(&c, b.body, b)
	switch {
	case err == ErrSignature && b.consumed:
		return Verified{}, refuse(errBodyConsumed)
	case err != nil:
		return Verified{}, refuse(err)
	}
	return verified, nil
}

// maxMediaType bounds the Content-Type header: parsing a megabyte of parameters costs more than hashing it.
const maxMediaType = 256

// isJSON reports whether there is one Content-Type and it is application/json, with any parameters. Types that end in
// +json are refused: the service does not send them.
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

// isIdentity reports whether there is no Content-Encoding other than "identity". A compressed body is not what was signed,
// and decompressing an unauthenticated body could cost any amount of memory.
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
