package signing

import (
	"slices"
	"time"
)

// Kind tells what a document was made from.
type Kind string

// The kinds of documents.
const (
	KindPDF      Kind = "PDF"          // a single PDF; its id is a UUID
	KindTemplate Kind = "PDF_TEMPLATE" // made from a template for its receivers; its id has 24 hexadecimal digits
)

// Document is a PDF that is or was out for signing. A document made from a template is what the interface calls a
// respondent's document: its ID is the createdDocumentId, respondentDocumentId or responseId, and TemplateID is the
// documentId that void and reminder requests name beside it.
type Document struct {
	ID          string
	Kind        Kind
	WorkspaceID string
	TemplateID  string // only with KindTemplate
	OwnerID     string
	Name        string
	AuthorEmail string
	Status      Status
	Ordered     bool // signers act in the order of Signer.Order
	Archived    bool
	Signers     []Signer
	Variables   []Variable
	Fields      []Field       // what signers fill in; none: they may enter anything
	Values      []FieldValue  // what they filled in, in that order
	Mail        Mail          // subject and message for signers that have none of their own
	PDF         []byte        // nil: an empty page
	ExpiresFor  time.Duration // how long after sending it expires; 0: never
	ExpiresAt   time.Time     // zero: does not expire
	CreatedAt   time.Time
	UpdatedAt   time.Time
	SentAt      time.Time // zero: never sent
	CompletedAt time.Time // zero: not completed
}

// SourceID is the id that webhooks subscribe to: of the document, or of the template that it was made from.
func (d Document) SourceID() string {
	if d.Kind == KindTemplate {
		return d.TemplateID
	}
	return d.ID
}

// AllSigned reports whether the document has signers and every one has signed.
func (d Document) AllSigned() bool { return len(d.Signers) > 0 && d.pending() == 0 }

func (d Document) pending() int {
	n := 0
	for i := range d.Signers {
		if d.Signers[i].SignedAt.IsZero() {
			n++
		}
	}
	return n
}

// InTurn reports whether the signer at index i may act now, as far as the signing order goes: it has not signed, and with a
// signing order nobody with a lower Order is still to sign. Signers with equal Order act in any order.
func (d Document) InTurn(i int) bool {
	if !d.Signers[i].SignedAt.IsZero() {
		return false
	}
	if !d.Ordered {
		return true
	}
	for _, s := range d.Signers {
		if s.SignedAt.IsZero() && s.Order < d.Signers[i].Order {
			return false
		}
	}
	return true
}

// SignerIndex finds a signer by id, or by e-mail address: with one address in several roles the first that has not signed,
// else the first. It returns -1 when there is none.
func (d Document) SignerIndex(idOrEmail string) int {
	if i := slices.IndexFunc(d.Signers, func(s Signer) bool { return s.ID == idOrEmail }); i >= 0 {
		return i
	}
	i := slices.IndexFunc(d.Signers, func(s Signer) bool { return s.Email == idOrEmail && s.SignedAt.IsZero() })
	if i < 0 {
		i = slices.IndexFunc(d.Signers, func(s Signer) bool { return s.Email == idOrEmail })
	}
	return i
}

// Signer is one person who has to sign a document. Its status follows from what happened and when.
type Signer struct {
	ID         string
	Token      string // the secret part of the signing link; never logged
	Name       string
	Email      string
	RoleTitle  string // only of documents made from a template
	RoleColour string
	Order      int // signingOrderNo, from 1
	Subject    string
	Message    string
	IP         string // of the last act; empty before
	InvitedAt  time.Time
	ViewedAt   time.Time
	SignedAt   time.Time
	DeclinedAt time.Time
	Reason     string // given when declining
}

// SignerStatus is what the interface tells about a signer. Whether the signer declined is not part of it.
type SignerStatus string

// The statuses of a signer.
const (
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// Status derives the signer's status. A signer who declined keeps PENDING or VIEWED: the interface knows no other word.
func (s Signer) Status() SignerStatus {
	switch {
	case !s.SignedAt.IsZero():
		return SignerSigned
	case !s.ViewedAt.IsZero():
		return SignerViewed
	}
	return SignerPending
}

// HasDeclined reports whether the signer declined to sign.
func (s Signer) HasDeclined() bool { return !s.DeclinedAt.IsZero() }

// Mail is the subject and text of an invitation; empty parts fall back to the service's own.
type Mail struct {
	Subject string
	Message string
}

// Variable is the value of one custom variable. Name includes its square brackets, as in [v1].
type Variable struct {
	Name  string
	Value string
}

// AuditEntry is one line of a record's audit trail. Entries are only ever added. From and To of a document's entries chain:
// the last To is the document's status.
type AuditEntry struct {
	Seq      int64  // given by the store, ascending over all records
	RecordID string // the document or the form
	At       time.Time
	Action   Action
	Actor    string // signer id, or "author", "service" or "respondent"
	From     Status // empty for the first entry, and for forms
	To       Status
	Note     string // a reason, a count; may be empty
	Origin          // of a signer's or respondent's act
}

// MessageKind tells why a message was sent.
type MessageKind string

// The kinds of messages.
const (
	MessageInvitation MessageKind = "invitation"
	MessageReminder   MessageKind = "reminder"
	MessageNotice     MessageKind = "notice" // completed, declined, voided, expired
)

// Message is mail that the service would have sent.
type Message struct {
	Seq        int64 // given by the store, ascending
	Kind       MessageKind
	DocumentID string // the document, or the form
	To         string
	Subject    string
	Body       string
	Token      string // of the signing or form link in it; empty without one
	At         time.Time
}
