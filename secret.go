package signforms

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// secret holds the API key behind a pointer: fmt does not call the methods of unexported fields, but prints no more than
// an address for what they point at.
type secret struct{ value *string }

func (s secret) reveal() string               { return *s.value }
func (s secret) Format(w fmt.State, _ rune)   { io.WriteString(w, redacted) }
func (s secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// A SigningLink is the address at which one signer signs. Whoever holds it can sign, so fmt, slog and encoding/json print
// it as "[redacted]"; string(link) is the address itself.
type SigningLink string

// Format prints "[redacted]" for every verb.
func (l SigningLink) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l SigningLink) LogValue() slog.Value { return slog.StringValue(l.redact()) }

// MarshalText returns "[redacted]", so that a result that is logged as JSON does not hold the link.
func (l SigningLink) MarshalText() ([]byte, error) { return []byte(l.redact()), nil }

func (l SigningLink) redact() string {
	if l == "" {
		return ""
	}
	return redacted
}
