package webhook

import (
	"crypto/fips140"
	"errors"
	"strings"
	"unicode"
)

// checkSecret returns the reason why a secret cannot be the one that the service shows, or nil.
func checkSecret(secret string) error {
	switch {
	case secret == "":
		return errors.New("is empty: check the variable or file that it comes from")
	case strings.Contains(secret, byteOrderMark):
		return errors.New("holds a byte order mark: save the file that it comes from without one, or copy the secret anew")
	case strings.ContainsFunc(secret, isInvisible):
		return errors.New("holds an invisible character, such as a zero-width space: copy the secret anew")
	case strings.TrimSpace(secret) != secret:
		return errors.New("begins or ends with white space, most likely a newline: trim it where it is read")
	}
	return checkSecretLength(len(secret))
}

// isInvisible reports whether r is a format character: byte order mark, zero-width space, joiners, direction marks.
func isInvisible(r rune) bool { return unicode.Is(unicode.Cf, r) }

// checkSecretLength refuses keys that crypto/hmac would panic on.
func checkSecretLength(n int) error {
	if n < 14 && fips140.Enforced() {
		return errors.New("has fewer than 14 bytes, too few for FIPS 140-only mode: have the service make a longer one")
	}
	return nil
}
