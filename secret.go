package signforms

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
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
// it as "[redacted]"; string(link) is the address itself. Under a verb that does not fit what surrounds it, such as %s for a
// pointer to a struct within a map, fmt calls no methods and prints all there is: go vet reports most of these.
type SigningLink string

// Format prints "[redacted]" for every verb.
func (l SigningLink) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l SigningLink) LogValue() slog.Value { return slog.StringValue(l.redact()) }

// MarshalText returns "[redacted]", so that a result that is logged as JSON does not hold the link.
func (l SigningLink) MarshalText() ([]byte, error) { return []byte(l.redact()), nil }

// UnmarshalText reads a link; one that MarshalText has redacted is read as none.
func (l *SigningLink) UnmarshalText(text []byte) error {
	*l = SigningLink(text)
	if string(text) == redacted {
		*l = ""
	}
	return nil
}

func (l SigningLink) redact() string {
	if l == "" {
		return ""
	}
	return redacted
}

// A RawAnswer is an answer's bytes as they came, for what the typed fields leave out: pass it to json.Unmarshal. It may
// hold personal data and signing links, so fmt, slog and json.Marshal print only how many bytes it has; to embed it in
// other JSON, convert it to a json.RawMessage.
type RawAnswer []byte

// Format prints the number of bytes for every verb.
func (a RawAnswer) Format(w fmt.State, _ rune) { io.WriteString(w, a.size()) }

// LogValue returns the number of bytes.
func (a RawAnswer) LogValue() slog.Value { return slog.StringValue(a.size()) }

// MarshalText returns the number of bytes.
func (a RawAnswer) MarshalText() ([]byte, error) { return []byte(a.size()), nil }

func (a RawAnswer) size() string { return fmt.Sprintf("[%d bytes]", len(a)) }

// A RawHeader is an answer's header as it came. It may hold what identifies a session or a link, so fmt, slog and json.Marshal
// print only how many fields it has. Read a field with Get, or convert it to an http.Header for all of them.
type RawHeader http.Header

// Get returns the first value of a field, whatever the case of its name; empty when there is none.
func (h RawHeader) Get(name string) string { return http.Header(h).Get(name) }

// Format prints the number of fields for every verb.
func (h RawHeader) Format(w fmt.State, _ rune) { io.WriteString(w, h.size()) }

// LogValue returns the number of fields.
func (h RawHeader) LogValue() slog.Value { return slog.StringValue(h.size()) }

// MarshalText returns the number of fields.
func (h RawHeader) MarshalText() ([]byte, error) { return []byte(h.size()), nil }

func (h RawHeader) size() string { return fmt.Sprintf("[%d header fields]", len(h)) }
