package webhook

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"time"

	"github.com/signforms/signforms-go/internal/jsjson"
)

// The defaults of [VerifierOptions].
const (
	defaultTolerance = 5 * time.Minute
	defaultMaxBody   = 1 << 20 // bytes
)

// VerifierOptions are the optional settings of [NewVerifier]. The zero value gives the defaults.
type VerifierOptions struct {
	// Tolerance is how far a delivery's timestamp may be from the clock, in either direction.
	// Default 5 minutes. A negative Tolerance disables the comparison; a delivery that somebody
	// recorded then stays valid forever.
	//
	// If a retry of the service keeps the timestamp of its first attempt, it is refused after
	// Tolerance, and its event is lost.
	//
	// A large Tolerance needs a large replay store. The default store keeps each event for at least
	// twice the Tolerance and holds 100,000 events. If more events arrive in that time, the store
	// is full and deliveries get the response 503.
	Tolerance time.Duration

	// Now is the clock. Default [time.Now]. It must be safe for concurrent use.
	Now func() time.Time

	// MaxBody is the largest body in bytes that is accepted. Default 1 MiB. A body takes a few
	// times the memory of the bytes that have arrived.
	//
	// A body of over 64 KiB must match the signature exactly as it arrived. A smaller body is also
	// compared in JavaScript's form, which takes up to 2 MB. At most a quarter of the processors do
	// so at the same time.
	MaxBody int

	// ParseTimestamp reads X-Timestamp in place of the known forms: 10-digit Unix seconds, 13-digit
	// Unix milliseconds, and RFC 3339 ending in Z. The service does not document the form.
	// ParseTimestamp may accept any text. It is called before the signature is checked, with 1 to
	// 64 printable ASCII characters that contain no opening bracket or brace.
	//
	// If ParseTimestamp is set, the signed body must begin with an opening bracket or brace.
	// ParseTimestamp must be safe for concurrent use. The text of its error is not passed on.
	ParseTimestamp func(string) (time.Time, error)
}

// Verifier checks that deliveries come from the service, are unaltered, and are recent. Make a
// Verifier with [NewVerifier]; a nil or zero Verifier refuses everything. A Verifier is never
// changed and is safe for concurrent use. Its secrets cannot be printed.
type Verifier struct {
	secrets   []*macPool
	tolerance time.Duration // negative: not checked
	now       func() time.Time
	maxBody   int
	tooLarge  error // made once, because unauthenticated requests can cause it
	custom    func(string) (time.Time, error)
}

// Verified describes a genuine delivery.
type Verified struct {
	// Payload is the authenticated payload. Decode Payload and never the body: the two differ if
	// Reserialized is true. If Reserialized is false, Payload is the slice that was passed to
	// Verify.
	Payload []byte

	// Timestamp is when the service signed the delivery, in UTC unless ParseTimestamp returns
	// another zone. The service does not document whether a repeated delivery has a new Timestamp.
	Timestamp time.Time

	// SecretIndex is the index, from 0, of the matching secret in the list that was passed to
	// NewVerifier. When all recent deliveries match the new secret, the old one can be removed.
	SecretIndex int

	// Reserialized reports that the body matched the signature only in JavaScript's form. Something
	// between the service and this process reformats JSON. The body then has at most 64 KiB.
	Reserialized bool
}

// NewVerifier returns a Verifier that accepts deliveries signed with any of the secrets. To rotate
// a secret without a gap, pass the new secret and the old one. opts may be nil.
//
// The error lists every invalid input:
//
//   - There is no secret.
//   - A secret is empty, begins or ends with white space, or contains an invisible character such
//     as a byte order mark.
//   - A secret has fewer than 14 bytes in FIPS 140-only mode.
//   - MaxBody is negative.
func NewVerifier(secrets []string, opts *VerifierOptions) (*Verifier, error) {
	if opts == nil {
		opts = &VerifierOptions{}
	}
	v := &Verifier{
		tolerance: min(opts.Tolerance, math.MaxInt64/2), // so that twice the tolerance does not overflow
		now:       opts.Now,
		maxBody:   opts.MaxBody,
		custom:    opts.ParseTimestamp,
	}
	if v.tolerance == 0 {
		v.tolerance = defaultTolerance
	}
	if v.now == nil {
		v.now = time.Now
	}
	if v.maxBody == 0 {
		v.maxBody = defaultMaxBody
	}
	var mistakes []error
	v.maxBody = min(v.maxBody, math.MaxInt-1) // one byte more is read to see that a body is too large
	if v.maxBody < 0 {
		mistakes = append(mistakes, fmt.Errorf("webhook: VerifierOptions.MaxBody is %d, want a number of bytes, "+
			"or 0 for the default", v.maxBody))
	}
	if len(secrets) == 0 {
		mistakes = append(mistakes, errors.New("webhook: no secrets: give the one shown where the webhook was set up"))
	}
	for i, secret := range secrets {
		if err := checkSecret(secret); err != nil {
			mistakes = append(mistakes, fmt.Errorf("webhook: secrets[%d] %w", i, err))
			continue
		}
		v.secrets = append(v.secrets, newMACPool(secret))
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	v.tooLarge = fmt.Errorf("%w: more than %d bytes, see VerifierOptions.MaxBody", ErrTooLarge, v.maxBody)
	return v, nil
}

// Verify checks that the service sent body with this header, within the tolerance. The error
// matches one of the errors listed with [ErrSignature] or, if ParseTimestamp is set, [ErrPayload].
// ErrTimestamp means that the delivery is genuine, but not recent.
//
// Build header with [http.Header.Add], because Verify looks up the canonical keys that Add and
// net/http use. The body need not be JSON, unless ParseTimestamp is set; [Parse] checks that.
func (v *Verifier) Verify(header http.Header, body []byte) (Verified, error) {
	if !v.usable() {
		return Verified{}, ErrNoSecret
	}
	if len(body) > v.maxBody {
		return Verified{}, v.tooLarge
	}
	var c signedHeaders
	if err := v.readHeaders(&c, header); err != nil {
		return Verified{}, err
	}
	return v.verify(context.Background(), &c, body)
}

// usable reports whether v was made by NewVerifier.
func (v *Verifier) usable() bool { return v != nil && len(v.secrets) > 0 }

// Events verifies a delivery and decodes the authenticated payload: [Verifier.Verify] and [Parse]
// in one call. The error is an error of Verify or matches [ErrPayload]. The caller may use body
// again.
func (v *Verifier) Events(header http.Header, body []byte) ([]Event, error) {
	verified, err := v.Verify(header, body)
	if err != nil {
		return nil, err
	}
	return Parse(verified.Payload)
}

// matchNormal compares like match, but with the body in the form of JSON.stringify. It makes that
// form once for all secrets. It returns ctx's error if ctx ends while the body waits for its turn.
func (v *Verifier) matchNormal(ctx context.Context, c *signedHeaders, body []byte) (normal []byte, secret int, err error) {
	if len(body) == 0 {
		return nil, -1, errConsumed
	}
	if len(body) > maxReprint {
		return nil, -1, ErrSignature
	}
	select {
	case reprints <- struct{}{}:
	case <-ctx.Done():
		return nil, -1, fmt.Errorf("webhook: waiting to compare a reformatted body: %w", ctx.Err())
	}
	defer func() { <-reprints }()
	normal, err = jsjson.Normalize(make([]byte, 0, len(body)), body)
	if err != nil || string(normal) == string(body) {
		return nil, -1, ErrSignature
	}
	if secret = v.match(c, normal); secret < 0 {
		return nil, -1, ErrSignature
	}
	return normal, secret, nil
}

// match returns the index of the first secret that gives the claimed signature over body, or -1. It
// takes the same time for each secret that matches.
func (v *Verifier) match(c *signedHeaders, body []byte) int {
	found := -1
	for i := len(v.secrets) - 1; i >= 0; i-- {
		sum := v.secrets[i].sum(c.text, body)
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], c.signature[:]), i, found)
	}
	return found
}

// maxReprint is the size of the largest body that is converted to JavaScript's form. The service's
// events have 1 to 8 KB. A larger body from a stranger costs only its hashing.
const maxReprint = 64 << 10

// reprints limits how many bodies are converted to JavaScript's form at the same time, in the whole
// process. Strangers can occupy a quarter of the processors with it.
var reprints = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/4))
