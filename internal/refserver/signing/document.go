package signing

import (
	"slices"
	"strings"
	"time"
)

// Kind is the source of a document: a PDF or a template.
type Kind string

// The kinds of documents.
const (
	KindPDF      Kind = "PDF"          // a single PDF; its id is a UUID
	KindTemplate Kind = "PDF_TEMPLATE" // made from a template for its receivers; its id has 24 hexadecimal digits
)

// Document is a PDF that was sent for signing or is a draft. A document made from a template is
// what the interface calls a respondent's document. Its ID is the createdDocumentId,
// respondentDocumentId or responseId. Its TemplateID is the documentId that void and reminder
// requests contain in addition to that id.
type Document struct {
	ID          string
	Kind        Kind          `json:",omitzero"`
	TemplateID  string        `json:",omitzero"` // only with KindTemplate
	OwnerID     string        `json:",omitzero"`
	Name        string        `json:",omitzero"`
	AuthorEmail string        `json:",omitzero"`
	Status      Status        `json:",omitzero"`
	Ordered     bool          `json:",omitzero"` // signers act in the order of Signer.Order
	Archived    bool          `json:",omitzero"`
	Signers     []Signer      `json:",omitzero"`
	Variables   []Variable    `json:",omitzero"`
	Fields      []Field       `json:",omitzero"` // fields that signers fill in; without fields, they may enter any values
	Values      []FieldValue  `json:",omitzero"` // values that signers filled in, in the order of input
	Mail        Mail          `json:",omitzero"` // subject and message for signers that have none of their own
	PDF         File          `json:",omitzero"` // without a file, the PDF is an empty page
	ExpiresFor  time.Duration `json:",omitzero"` // time from sending until the document expires; 0: never
	ExpiresAt   time.Time     `json:",omitzero"` // zero: does not expire
	CreatedAt   time.Time     `json:",omitzero"`
	UpdatedAt   time.Time     `json:",omitzero"`
	SentAt      time.Time     `json:",omitzero"` // zero: never sent
	CompletedAt time.Time     `json:",omitzero"` // zero: not completed

	Finished File `json:",omitzero"` // the finished file, after it was made
}

// Finish records the finished file.
func (d Document) Finish(file File, at time.Time) Change {
	d.Finished = file
	return d.noteFinish("the finished file was made", at)
}

// maxWhy is the maximum length of the reason why a file could not be made, in characters.
const maxWhy = 300

// FinishFailed records why the finished file could not be made.
func (d Document) FinishFailed(why string, at time.Time) Change {
	if letters := []rune(strings.ToValidUTF8(why, "\uFFFD")); len(letters) > maxWhy {
		why = string(letters[:maxWhy-1]) + "…"
	}
	return d.noteFinish("the finished file could not be made: "+why, at)
}

func (d Document) noteFinish(note string, at time.Time) Change {
	d = d.Clone()
	return Change{Document: &d, Audit: []AuditEntry{{
		RecordID: d.ID, At: instant(at), Action: ActionFinish, Actor: ActorService, From: d.Status, To: d.Status, Note: note,
	}}}
}

// Completed reports whether all signers have signed. A completed document has a finished file,
// which may still have to be made.
func (d Document) Completed() bool { return !d.CompletedAt.IsZero() }

// SourceID returns the id to which webhooks subscribe: the id of the document, or of the template
// from which it was made.
func (d Document) SourceID() string {
	if d.Kind == KindTemplate {
		return d.TemplateID
	}
	return d.ID
}

// AllSigned reports whether the document has signers and every one has signed.
func (d *Document) AllSigned() bool { return len(d.Signers) > 0 && d.pending() == 0 }

func (d *Document) pending() int {
	n := 0
	for i := range d.Signers {
		if d.Signers[i].SignedAt.IsZero() {
			n++
		}
	}
	return n
}

// InTurn reports whether the signing order permits the signer at index i to act now. The signer
// must not have signed. With a signing order, every signer with a lower Order must have signed.
// Signers with equal Order act in any order.
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

// SignerIndex finds a signer by id or by e-mail address. If one address has several roles,
// SignerIndex returns the first signer that has not signed, or else the first. It returns -1 if
// there is no such signer.
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

// Signer is a person who has to sign a document. The signer's status is derived from the times of
// the acts.
type Signer struct {
	ID         string
	Token      string    `json:",omitzero"` // secret part of the signing link; never logged
	Name       string    `json:",omitzero"`
	Email      string    `json:",omitzero"`
	RoleTitle  string    `json:",omitzero"` // only in documents made from a template
	RoleColour string    `json:",omitzero"`
	Order      int       `json:",omitzero"` // signingOrderNo, from 1
	Subject    string    `json:",omitzero"`
	Message    string    `json:",omitzero"`
	IP         string    `json:",omitzero"` // IP address of the last act; empty before the first act
	InvitedAt  time.Time `json:",omitzero"`
	ViewedAt   time.Time `json:",omitzero"`
	SignedAt   time.Time `json:",omitzero"`
	DeclinedAt time.Time `json:",omitzero"`
	Reason     string    `json:",omitzero"` // reason of the signer who declined
}

// SignerStatus is the status of a signer in the interface. It does not show whether the signer declined.
type SignerStatus string

// The statuses of a signer.
const (
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// Status derives the signer's status. A signer who declined keeps PENDING or VIEWED, because the
// interface has no other word.
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

// Mail is the subject and text of an invitation. For an empty part, the service's own text is used.
type Mail struct {
	Subject string `json:",omitzero"`
	Message string `json:",omitzero"`
}

// Variable is the value of one custom variable. Name includes its square brackets, as in [v1].
type Variable struct {
	Name  string `json:",omitzero"`
	Value string `json:",omitzero"`
}

// AuditEntry is one line of the audit trail of a document or a form. Entries are never changed. In
// the entries of a document, each From is equal to the To of the previous entry, and the last To is
// the document's status.
type AuditEntry struct {
	ID       int64     `json:"id"`       // number that the store assigns, ascending from 1 over all records
	RecordID string    `json:"recordId"` // id of the document or of the form
	At       time.Time `json:"at"`
	Action   Action    `json:"action"`
	Actor    string    `json:"actor"`          // the signer's id, or "author", "service" or "respondent"; for a signer, the entry is shown with the e-mail address
	From     Status    `json:"from,omitempty"` // empty for the first entry, and for forms
	To       Status    `json:"to,omitempty"`
	Note     string    `json:"note,omitempty"` // for example the reason of a decline, or the number of reminded signers; may be empty
	Origin             // origin of an act of a signer or respondent
}

// String describes the entry in one line without personal data.
func (e AuditEntry) String() string {
	line := e.At.Format(time.RFC3339) + " " + string(e.Action)
	switch {
	case e.From != e.To && e.From != "":
		line += ": " + string(e.From) + " to " + string(e.To)
	case e.To != "":
		line += ": " + string(e.To)
	}
	return line
}

// MessageKind is the reason why a message was sent.
type MessageKind string

// The kinds of messages.
const (
	MessageInvitation MessageKind = "invitation"
	MessageReminder   MessageKind = "reminder"
	MessageNotice     MessageKind = "notice" // the document was completed, declined, voided or has expired
)

// Message is mail that the service would have sent.
type Message struct {
	Seq        int64       `json:",omitzero"` // number that the store assigns, ascending
	Kind       MessageKind `json:",omitzero"`
	DocumentID string      `json:",omitzero"` // id of the document or of the form
	To         string      `json:",omitzero"`
	Subject    string      `json:",omitzero"`
	Body       string      `json:",omitzero"`
	Token      string      `json:",omitzero"` // token of the signing link or form link in the message; empty without a link
	At         time.Time   `json:",omitzero"`
}
