package signforms

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

const redacted = "[redacted]"

// secret keeps the API key out of prints. fmt calls no methods of unexported fields, but of a pointer inside them it prints
// only the address.
type secret struct{ value *string }

func (s secret) reveal() string { return *s.value }

// A SigningLink is the URL at which one signer signs. Whoever has it can sign, so fmt, slog and encoding/json print it as
// "[redacted]". Use string(link) for the URL. Where a verb does not fit the value around the link, such as %s for a map of
// pointers to structs, or the link itself, as %w and %p, fmt calls no methods and prints the URL. go vet reports most such verbs. Nor
// are methods called for a link in an unexported field (fmt), as the key of a map (encoding/json), and by encoding/gob.
type SigningLink string

// Format prints "[redacted]" for every verb.
func (l SigningLink) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l SigningLink) LogValue() slog.Value { return slog.StringValue(l.redact()) }

// MarshalText returns "[redacted]", so that a result logged as JSON does not contain the link.
func (l SigningLink) MarshalText() ([]byte, error) { return []byte(l.redact()), nil }

// UnmarshalText reads a link. A redacted one becomes empty.
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

// A RawAnswer is an answer as received, for what the typed fields leave out. Pass it to json.Unmarshal, which
// refuses the byte order mark that some services write first: bytes.TrimPrefix(raw, []byte("\ufeff")). It may contain personal
// data and signing links, so fmt, slog and json.Marshal print only its length. To embed it in other JSON, convert
// it to json.RawMessage.
type RawAnswer []byte

// Format prints the number of bytes for every verb.
func (a RawAnswer) Format(w fmt.State, _ rune) { io.WriteString(w, a.size()) }

// LogValue returns the number of bytes.
func (a RawAnswer) LogValue() slog.Value { return slog.StringValue(a.size()) }

// MarshalText returns the number of bytes.
func (a RawAnswer) MarshalText() ([]byte, error) { return []byte(a.size()), nil }

func (a RawAnswer) size() string { return fmt.Sprintf("[%d bytes]", len(a)) }

// A RawHeader is an answer's header as received. It may identify a session or contain a link, so fmt, slog and json.Marshal
// print only the number of its fields. Get reads a field; convert it to http.Header to read all.
type RawHeader http.Header

// Get returns the first value of a field, or "" when there is none. The name may be in any case.
func (h RawHeader) Get(name string) string { return http.Header(h).Get(name) }

// Format prints the number of fields for every verb.
func (h RawHeader) Format(w fmt.State, _ rune) { io.WriteString(w, h.size()) }

// LogValue returns the number of fields.
func (h RawHeader) LogValue() slog.Value { return slog.StringValue(h.size()) }

// MarshalText returns the number of fields.
func (h RawHeader) MarshalText() ([]byte, error) { return []byte(h.size()), nil }

func (h RawHeader) size() string { return fmt.Sprintf("[%d header fields]", len(h)) }
