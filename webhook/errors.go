package webhook

import (
	"errors"
	"fmt"
)

// The reasons why a delivery is refused; distinguish them with [errors.Is]. Each may be logged: no error of this package
// contains a secret, a computed signature or a part of the body. Do not tell the sender which one it was, because that
// helps only those who forge.
var (
	// ErrHeaderMissing: X-Signature or X-Timestamp is missing. The text says which.
	ErrHeaderMissing = errors.New("webhook: header missing")

	// ErrHeaderRepeated: X-Signature or X-Timestamp occurs more than once, so that two readers could see two values.
	ErrHeaderRepeated = errors.New("webhook: header given more than once")

	// ErrHeaderMalformed: X-Signature is not 64 lower-case hexadecimal digits, or X-Timestamp has none of the known forms
	// (see [VerifierOptions.ParseTimestamp]).
	ErrHeaderMalformed = errors.New("webhook: header malformed")

	// ErrSignature: no secret gives this signature for this timestamp and body. The delivery is forged, the secret is
	// wrong, or something changed the body on its way. [Diagnose] tries the known mistakes.
	ErrSignature = errors.New("webhook: signature does not match; Diagnose tries the known mistakes")

	// ErrTimestamp: the delivery is genuine, but its timestamp is further from the clock than
	// [VerifierOptions.Tolerance] allows. It is a replay or was delayed, or one of the two clocks is wrong. The text gives
	// the difference and the tolerance.
	ErrTimestamp = errors.New("webhook: genuine, but its timestamp is outside VerifierOptions.Tolerance")

	// ErrNoSecret: the Verifier is nil or was not made by [NewVerifier]. It has no secret and refuses everything.
	ErrNoSecret = errors.New("webhook: Verifier has no secret: make it with NewVerifier and check its error")

	// ErrBodyConsumed: the body is empty, or is shorter than the request announced, because something read it before. The
	// error matches ErrSignature too.
	ErrBodyConsumed = errors.New("webhook: nothing, or not all, is left of the body: something read it before; " +
		"put the Handler or Middleware before whatever reads bodies, or give Verify the bytes that were received")

	// ErrTooLarge: the body is larger than [VerifierOptions.MaxBody], or than an [http.MaxBytesReader] before the handler
	// allows. The text says which, and gives the limit in bytes.
	ErrTooLarge = errors.New("webhook: body too large")
)

// The errors that unauthenticated requests can cause are made once, so that they cost no memory.
var (
	errSignatureMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, SignatureHeader)
	errTimestampMissing   = fmt.Errorf("%w: %s"+ifMissing, ErrHeaderMissing, TimestampHeader)
	errSignatureRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, SignatureHeader)
	errTimestampRepeated  = fmt.Errorf("%w: %s"+ifRepeated, ErrHeaderRepeated, TimestampHeader)
	errSignatureMalformed = fmt.Errorf("%w: %s is not 64 lower-case hexadecimal digits; Diagnose knows other forms", ErrHeaderMalformed, SignatureHeader)
	errTimestampMalformed = fmt.Errorf("%w: %s is neither 10-digit Unix seconds, nor 13-digit Unix milliseconds, nor RFC 3339 ending in Z; "+
		"if the service sends another form, read it with VerifierOptions.ParseTimestamp", ErrHeaderMalformed, TimestampHeader)
	errTimestampUnsafe = fmt.Errorf("%w: %s is not 1 to 64 printable ASCII characters without opening brackets and braces, "+
		"so that VerifierOptions.ParseTimestamp is not called", ErrHeaderMalformed, TimestampHeader)
	errTimestampRefused = fmt.Errorf("%w: %s was refused by VerifierOptions.ParseTimestamp; its error is omitted because it may quote what was sent",
		ErrHeaderMalformed, TimestampHeader)
	errSplitUnsafe  = fmt.Errorf("%w, which VerifierOptions.ParseTimestamp requires", ErrPayload)
	errBodyConsumed = fmt.Errorf("%w: %w", ErrSignature, ErrBodyConsumed)
)

const (
	ifMissing  = "; the request is not a delivery, a proxy removed the header, or the map was not built with http.Header.Add"
	ifRepeated = "; if the request is a delivery, something on the way added one"
)
