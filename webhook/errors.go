package webhook

import (
	"errors"
	"fmt"
)

// The reasons why a delivery is refused; tell them apart with [errors.Is]. No error of this package
// holds a secret, a computed signature or a part of the body, so each may be logged. A server should answer all but
// [ErrTooLarge] alike: which of them it was helps only someone who forges.
var (
	// ErrHeaderMissing: X-Signature or X-Timestamp is not there. The text says which.
	ErrHeaderMissing = errors.New("webhook: header missing")

	// ErrHeaderRepeated: X-Signature or X-Timestamp is there more than once, so that two readers could see two values.
	ErrHeaderRepeated = errors.New("webhook: header given more than once")

	// ErrHeaderMalformed: X-Signature is not 64 lower-case hexadecimal digits, or X-Timestamp is in none of the known
	// forms (see [VerifierOptions.ParseTimestamp]).
	ErrHeaderMalformed = errors.New("webhook: header malformed")

	// ErrSignature: no secret gives this signature for this timestamp and body. The delivery is forged, or the secret is
	// wrong, or something changed the body on its way; [Diagnose] tries the known mistakes.
	ErrSignature = errors.New("webhook: signature does not match; Diagnose tries the known mistakes")

	// ErrTimestamp: the delivery is genuine, but its timestamp is further from the clock than
	// [VerifierOptions.Tolerance] allows. It is a replay, was held up, or one of the two clocks is wrong. The text says
	// how far it is off and how far it may be.
	ErrTimestamp = errors.New("webhook: genuine, but its timestamp is outside VerifierOptions.Tolerance")

	// ErrNoSecret: the Verifier is nil or was not made by [NewVerifier], whose error may have been overlooked. It has no
	// secret and refuses everything.
	ErrNoSecret = errors.New("webhook: Verifier has no secret: make it with NewVerifier and check its error")

	// ErrBodyConsumed: the body is empty, or is shorter than the request announced, because something read it before. The
	// error matches ErrSignature too.
	ErrBodyConsumed = errors.New("webhook: nothing, or not all, is left of the body: something read it before; " +
		"put the Handler or Middleware before whatever reads bodies, or give Verify the bytes that were received")

	// ErrTooLarge: the body is larger than [VerifierOptions.MaxBody], or than an [http.MaxBytesReader] before the handler
	// lets through. The text says which, and its limit in bytes.
	ErrTooLarge = errors.New("webhook: body too large")
)

// Each refusal that a stranger can cause is made once, so that it costs no memory.
var (
	errSignatureMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, SignatureHeader)
	errTimestampMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, TimestampHeader)
	errSignatureRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, SignatureHeader)
	errTimestampRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, TimestampHeader)
	errSignatureMalformed = fmt.Errorf("%w: %s is not 64 lower-case hexadecimal digits; Diagnose knows other forms", ErrHeaderMalformed, SignatureHeader)
	errTimestampMalformed = fmt.Errorf("%w: %s is neither 10-digit Unix seconds, nor 13-digit Unix milliseconds, nor RFC 3339 ending in Z; "+
		"if the service sends another form, read it with VerifierOptions.ParseTimestamp", ErrHeaderMalformed, TimestampHeader)
	errTimestampUnsafe = fmt.Errorf("%w: %s is none that VerifierOptions.ParseTimestamp is asked about: 1 to 64 printable ASCII characters "+
		"without opening brackets and braces", ErrHeaderMalformed, TimestampHeader)
	errTimestampRefused = fmt.Errorf("%w: %s was refused by VerifierOptions.ParseTimestamp, whose error is left out because it may quote what was sent",
		ErrHeaderMalformed, TimestampHeader)
	errSplitUnsafe  = fmt.Errorf("%w, as it must be where VerifierOptions.ParseTimestamp is set", ErrPayload)
	errBodyConsumed = fmt.Errorf("%w: %w", ErrSignature, ErrBodyConsumed)
)

const (
	ifMissing  = "; it is no delivery, or a proxy removed it, or the map was not built with http.Header.Set"
	ifRepeated = "; if it was a delivery, something on the way added one"
)
