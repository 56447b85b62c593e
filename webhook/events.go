package webhook

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// EventType is the value of an event's webhookEvent field. Values that this package does not know are kept as
// they came, in an [UnknownEvent].
type EventType string

// The event types that the service documents, each with the struct that carries it.
const (
	TypeFormResponse       EventType = "new_form_response"                       // *FormResponse
	TypeSignatureViewed    EventType = "new_signature_pdf_individual_viewed"     // *SignatureViewed
	TypeSignatureSigned    EventType = "new_signature_pdf_individual_signed"     // *SignatureSigned
	TypeSignatureCompleted EventType = "new_signature_pdf_completed"             // *SignatureCompleted
	TypeTemplateViewed     EventType = "new_template_response_individual_viewed" // *TemplateViewed
	TypeTemplateSigned     EventType = "new_template_response_individual_signed" // *TemplateSigned
	TypeTemplateResponse   EventType = "new_template_response"                   // *TemplateResponse
)

// Event is one element of a delivery: *[FormResponse], *[SignatureViewed], *[SignatureSigned], *[SignatureCompleted],
// *[TemplateViewed], *[TemplateSigned], *[TemplateResponse] or *[UnknownEvent]. Use a type switch, or let a [Handler]
// call a function for each. No other package can implement it.
//
// Store or publish an event as its Raw, which [Parse] reads again. [encoding/json] prints the Go names of the fields. The
// field Type, which every event has, is then the event's type; it is empty in an event made by hand.
//
// The strings of the events of one payload refer to one copy of it. To keep a few of them for long, use
// [strings.Clone]. Events contain personal data; do not log them whole.
type Event interface {
	// EventType returns the type that the payload names, or else the inferred one. It is empty for an UnknownEvent without
	// either.
	EventType() EventType

	// Inferred reports whether webhookEvent was missing or unreadable and the type was inferred from fields that only it
	// has. Where such fields are missing, or those of two types are there, the event is an UnknownEvent.
	Inferred() bool

	// SubjectID returns the id of what the event is about: formResponseId for a form response, else documentId, which in
	// events of a template is the template's. For an UnknownEvent it is either of them, or empty. Many events share one
	// subject; the service sends no id of the event itself.
	SubjectID() string

	// SignerIDs returns the ids of Signers, and that of ViewedBy or SignedBy if it is not among them. In events of a
	// template they tell which document the event is about: SignerIDs of the client's SendResult and Respondent are
	// assumed to return the same (not documented by the service). It is nil where there are no signers, as in a
	// FormResponse.
	SignerIDs() []string

	// FieldErrors returns the fields whose values could not be read, in the payload's order; they are zero in the event.
	// Of a list it has those of the first element that has any. These are no errors: a number or boolean in place of a
	// string, which is kept as its JSON; "1" or 1.0 for 1; "true" for true; and "", which counts as missing. It is nil for
	// most events and for an UnknownEvent. Do not change it.
	FieldErrors() []*FieldError

	// Raw returns a new copy of the event's JSON as it was authenticated, including fields that this package does not
	// know. It is nil for an event that was not decoded from a payload.
	Raw() json.RawMessage

	// source returns the same JSON without a copy.
	source() string
}

// FormResponse (new_form_response): a respondent has submitted a form.
type FormResponse struct {
	meta
	FormID          string
	FormResponseID  string
	FormTitle       string
	FinishedPDFURL  string // finishedPdfUrl, or documentUrl in older deliveries
	RespondentEmail string
	Answers         []FormAnswer // response, in the form's order
}

// SignatureViewed (new_signature_pdf_individual_viewed): a signer has opened a PDF document.
type SignatureViewed struct {
	meta
	Document
	Signers  []Signer
	ViewedBy ViewedBy
}

// SignatureSigned (new_signature_pdf_individual_signed): a signer has signed a PDF document; others may still have to.
type SignatureSigned struct {
	meta
	Document
	IsSigningOrder bool // signers sign one after the other, by SigningOrderNo
	Signers        []Signer
	SignedBy       SignedBy
}

// SignatureCompleted (new_signature_pdf_completed): the last signer of a PDF document has signed.
type SignatureCompleted struct {
	meta
	Document
	FinishedPDFURL string // the signed document
	Signers        []Signer
	Fields         []Field // what signers filled in, in document order
}

// TemplateViewed (new_template_response_individual_viewed): a signer has opened a document made from a template. Its
// DocumentID is the template's, which is not documented by the service. SignerIDs tells which document it is.
type TemplateViewed struct {
	meta
	Document
	Signers  []Signer
	ViewedBy ViewedBy
}

// TemplateSigned (new_template_response_individual_signed): a signer has signed a document made from a template. For
// DocumentID see [TemplateViewed].
type TemplateSigned struct {
	meta
	Document
	IsSigningOrder bool // signers sign one after the other, by SigningOrderNo
	Signers        []Signer
	SignedBy       SignedBy
}

// TemplateResponse (new_template_response): the last signer of a document made from a template has signed. For
// DocumentID see [TemplateViewed].
type TemplateResponse struct {
	meta
	Document
	FinishedPDFURL string // the signed document
	Signers        []Signer
	Fields         []Field // what signers filled in, in document order
}

// UnknownEvent is an element that no other type fits. [Event.Raw] returns all of it. Err is nil when this package does
// not know its type. Otherwise it could not be decoded: it is not an object, or it names no type and none can be
// inferred. Err is a *[FieldError] when webhookEvent is there and is not a string. DocumentID, FormResponseID and
// SignerIDs have the ids of the element that are under the keys of the known types.
type UnknownEvent struct {
	meta
	Type           EventType // as the payload names it; empty when Err is not nil
	Err            error
	DocumentID     string
	FormResponseID string
	signerIDs      []string
}

// Document has the fields that all events about documents share. Fields that were missing, null or unreadable are
// empty.
type Document struct {
	DocumentName string
	// DocumentID is a UUID: of the PDF document or, in events of a template, of the template (not documented by the
	// service).
	DocumentID  string
	DocumentURL string
	AuthorEmail string
}

// Signer is one signer of a document. Events about PDF documents and about templates fill different fields. Fields that
// were missing, null or unreadable are zero.
type Signer struct {
	Email          string
	Name           string
	Status         SignerStatus
	IP             string // PDF documents
	RoleTitle      string // templates
	ID             string // templates
	HasDeclined    bool
	SigningOrderNo int // place in the signing order, in signed events; 0 when the delivery gives none
}

// ViewedBy is the signer who opened the document. The form of the time is not documented by the service: RFC 3339 and
// Unix seconds or milliseconds are read, in UTC whatever the zone, and a time without a zone or a date as UTC. It is
// zero when it is missing or unreadable ([Event.FieldErrors]).
type ViewedBy struct {
	Signer
	ViewedAt time.Time
}

// SignedBy is the signer who signed the document. The time is as in [ViewedBy].
type SignedBy struct {
	Signer
	SignedAt time.Time
}

// SignerStatus is how far a signer has come. Values not listed here are kept as they came.
type SignerStatus string

// The signer statuses that were seen; not documented by the service.
const (
	SignerDraft   SignerStatus = "DRAFT"
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// FormAnswer is one question of a form and what the respondent answered.
type FormAnswer struct {
	ID       string
	Question string
	Answer   string // its JSON text where the service sends something other than a string; that it may is not documented
}

// Field is one value that a signer filled in, from a key such as contact_field(page1)[Buyer]. Only the kind
// contact_field is documented by the service; text, date and name were seen, any other is taken too.
type Field struct {
	Kind  string // contact_field
	Page  int    // from 1 as far as seen; 0 is taken too
	Label string // a role title or a signer's name; any text, brackets included
	Value string // its JSON text where the service sends something other than a string
	Key   string // the key as a whole
}

// meta is what every decoded event keeps of its payload. It has most of the methods of Event.
type meta struct {
	raw   string
	notes *notes // nil for most events

	// Type is the result of EventType for an event that was decoded from a payload, so that encoding/json prints it.
	Type EventType
}

type notes struct {
	inferred bool
	misfits  []*FieldError
}

var inferredOnly = notes{inferred: true} // never changed

// Inferred reports whether webhookEvent was missing or unreadable and the type was inferred from the fields.
func (m *meta) Inferred() bool { return m.notes != nil && m.notes.inferred }

// FieldErrors returns the fields whose values could not be read, which are zero. See [Event].
func (m *meta) FieldErrors() []*FieldError {
	if m.notes == nil {
		return nil
	}
	return m.notes.misfits
}

// SignerIDs returns nil: this event has no signers.
func (e *FormResponse) SignerIDs() []string { return nil }

// SignerIDs returns the ids of signers, viewedBy and signedBy of the element, where they can be read.
func (e *UnknownEvent) SignerIDs() []string { return slices.Clone(e.signerIDs) }

func (m *meta) source() string { return m.raw }

// Raw returns a new copy of the event's JSON as it was authenticated, including fields that this type does not have. It
// is nil for an event that was not decoded from a payload.
func (m *meta) Raw() json.RawMessage {
	if m.raw == "" {
		return nil
	}
	return json.RawMessage(m.raw)
}

// SubjectID returns DocumentID, the id of what the event is about.
func (d *Document) SubjectID() string { return d.DocumentID }

// SubjectID returns FormResponseID, the id of what the event is about.
func (e *FormResponse) SubjectID() string { return e.FormResponseID }

// SubjectID returns FormResponseID, or else DocumentID.
func (e *UnknownEvent) SubjectID() string { return cmp.Or(e.FormResponseID, e.DocumentID) }

// SignerIDs returns the ids of Signers and ViewedBy. See [Event].
func (e *SignatureViewed) SignerIDs() []string { return signerIDs(e.Signers, e.ViewedBy.ID) }

// SignerIDs returns the ids of Signers and SignedBy. See [Event].
func (e *SignatureSigned) SignerIDs() []string { return signerIDs(e.Signers, e.SignedBy.ID) }

// SignerIDs returns the ids of Signers. See [Event].
func (e *SignatureCompleted) SignerIDs() []string { return signerIDs(e.Signers) }

// SignerIDs returns the ids of Signers and ViewedBy. See [Event].
func (e *TemplateViewed) SignerIDs() []string { return signerIDs(e.Signers, e.ViewedBy.ID) }

// SignerIDs returns the ids of Signers and SignedBy. See [Event].
func (e *TemplateSigned) SignerIDs() []string { return signerIDs(e.Signers, e.SignedBy.ID) }

// SignerIDs returns the ids of Signers. See [Event].
func (e *TemplateResponse) SignerIDs() []string { return signerIDs(e.Signers) }

func signerIDs(signers []Signer, actors ...string) (ids []string) {
	for i := range signers {
		if id := signers[i].ID; id != "" {
			ids = append(ids, id)
		}
	}
	for _, actor := range actors {
		if actor != "" && !slices.Contains(ids, actor) {
			ids = append(ids, actor)
		}
	}
	return ids
}

// EventType returns [TypeFormResponse].
func (e *FormResponse) EventType() EventType { return TypeFormResponse }

// EventType returns [TypeSignatureViewed].
func (e *SignatureViewed) EventType() EventType { return TypeSignatureViewed }

// EventType returns [TypeSignatureSigned].
func (e *SignatureSigned) EventType() EventType { return TypeSignatureSigned }

// EventType returns [TypeSignatureCompleted].
func (e *SignatureCompleted) EventType() EventType { return TypeSignatureCompleted }

// EventType returns [TypeTemplateViewed].
func (e *TemplateViewed) EventType() EventType { return TypeTemplateViewed }

// EventType returns [TypeTemplateSigned].
func (e *TemplateSigned) EventType() EventType { return TypeTemplateSigned }

// EventType returns [TypeTemplateResponse].
func (e *TemplateResponse) EventType() EventType { return TypeTemplateResponse }

// EventType returns Type.
func (e *UnknownEvent) EventType() EventType { return e.Type }
