package refserver

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// What the packages below call these things. The wire's spelling is theirs too.
type (
	Operation    = api.Operation
	Route        = api.Route
	Place        = api.Place
	Status       = signing.Status
	Kind         = signing.Kind
	SignerStatus = signing.SignerStatus
)

// The statuses of a document that programs show.
const (
	StatusPending  = signing.StatusPending
	StatusSigned   = signing.StatusSigned
	StatusPaid     = signing.StatusPaid
	StatusDeclined = signing.StatusDeclined
	StatusVoid     = signing.StatusVoid
)

// Statuses returns all statuses of a document, in the order of the interface description.
func Statuses() []Status { return signing.Statuses[:] }

// The kinds of documents.
const (
	KindPDF      = signing.KindPDF
	KindTemplate = signing.KindTemplate
)

// The operations of the service.
const (
	ListDocuments   = api.ListDocuments
	VoidDocument    = api.VoidDocument
	SendReminder    = api.SendReminder
	Send            = api.Send
	ListRespondents = api.ListRespondents
	ListResponses   = api.ListResponses
)

// Operations returns the six operations of the service.
func Operations() []Operation {
	return []Operation{ListDocuments, VoidDocument, SendReminder, Send, ListRespondents, ListResponses}
}

// Link is the URL of a page of one signer or of a form: whoever has it can act. It is a secret and is not printed.
type Link string

const redacted = "[redacted]"

// Format prints "[redacted]" for every verb.
func (l Link) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l Link) LogValue() slog.Value { return slog.StringValue(l.redact()) }

// MarshalText returns "[redacted]", so that a record logged as JSON does not contain the link.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.redact()), nil }

func (l Link) redact() string {
	if l == "" {
		return ""
	}
	return redacted
}
