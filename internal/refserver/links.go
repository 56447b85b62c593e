package refserver

import (
	"fmt"
	"io"
	"log/slog"
)

// Link is the URL of a page of one signer or of a form. Whoever has the URL can act, so it is a
// secret and is not printed. Its JSON contains the URL, for programs that sign.
type Link string

const redacted = "[redacted]"

// Format prints "[redacted]" for every verb.
func (l Link) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l Link) LogValue() slog.Value { return slog.StringValue(l.redact()) }

func (l Link) redact() string {
	if l == "" {
		return ""
	}
	return redacted
}
