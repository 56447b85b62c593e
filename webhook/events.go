package webhook

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// EventType is the value of an event's webhookEvent field. An event with a value that this package
// does not know becomes an [UnknownEvent], which keeps the value unchanged.
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

// Event is one element of a delivery: *[FormResponse], *[SignatureViewed], *[SignatureSigned],
// *[SignatureCompleted], *[TemplateViewed], *[TemplateSigned], *[TemplateResponse] or
// *[UnknownEvent]. Use a type switch, or let a [Handler] call the function for each type. No other
// package can implement Event.
//
// To store or publish an event, use its Raw, which [Parse] reads again. [encoding/json] prints the
// Go names of the fields instead, with the event's type in the field Type. Type is empty in an
// event that was not decoded from a payload.
//
// The strings of all events of a payload refer to one copy of the payload. To keep a few strings
// for a long time, use [strings.Clone], so that the copy can be freed. Events contain personal
// data; do not log them whole.
type Event interface {
	// EventType returns the type that the payload names, or else the inferred type. It is empty for
	// an UnknownEvent with neither.
	EventType() EventType

	// Inferred reports whether webhookEvent was missing or unreadable, and the type was inferred
	// from fields that only this type has. If there are no such fields, or fields of two types, the
	// event is an UnknownEvent.
	Inferred() bool

	// SubjectID returns the id of the subject of the event: formResponseId for a form response,
	// else documentId. In events of a template, documentId is the id of the template. For an
	// UnknownEvent, SubjectID is either id, or empty. Many events share one subject; the service
	// sends no id of the event itself.
	SubjectID() string

	// SignerIDs returns the ids of Signers, and the id of ViewedBy or SignedBy if Signers does not
	// contain it. In events of a template, these ids identify the document of the event: SignerIDs
	// of the client's SendResult and Respondent are assumed to return the same ids (not documented
	// by the service). SignerIDs is nil if the event has no signers, as a FormResponse.
	SignerIDs() []string

	// FieldErrors returns the fields whose values could not be read, in the order of the payload.
	// These fields are zero in the event. For a list, FieldErrors has only the errors of the first
	// element with an error. FieldErrors is nil for most events, and for an UnknownEvent. Do not
	// change it.
	//
	// These values are not errors:
	//
	//   - a number or boolean in place of a string, which is kept as its JSON
	//   - "1" or 1.0 in place of 1
	//   - "true" in place of true
	//   - "", which counts as missing
	FieldErrors() []*FieldError

	// Raw returns a new copy of the event's JSON as it was authenticated, including fields that this package does not
	// know. It is nil for an event that was not decoded from a payload.
	Raw() json.RawMessage

	// source returns the JSON of Raw without copying it.
	source() string
}

// FormResponse is the event new_form_response: a respondent has submitted a form.
type FormResponse struct {
	meta
	FormID          string
	FormResponseID  string
	FormTitle       string
	FinishedPDFURL  string // from finishedPdfUrl, or from documentUrl in older deliveries
	RespondentEmail string
	Answers         []FormAnswer // from response, in the order of the form
}

// SignatureViewed is the event new_signature_pdf_individual_viewed: a signer has opened a PDF
// document.
type SignatureViewed struct {
	meta
	Document
	Signers  []Signer
	ViewedBy ViewedBy
}

// SignatureSigned is the event new_signature_pdf_individual_signed: a signer has signed a PDF
// document. Other signers may still have to sign.
type SignatureSigned struct {
	meta
	Document
	IsSigningOrder bool // signers sign one after the other, in the order of SigningOrderNo
	Signers        []Signer
	SignedBy       SignedBy
}

// SignatureCompleted is the event new_signature_pdf_completed: the last signer of a PDF document
// has signed.
type SignatureCompleted struct {
	meta
	Document
	FinishedPDFURL string // URL of the signed document
	Signers        []Signer
	Fields         []Field // values that signers filled in, in document order
}

// TemplateViewed is the event new_template_response_individual_viewed: a signer has opened a
// document made from a template. DocumentID is the id of the template, not of the document (not
// documented by the service). SignerIDs identifies the document.
type TemplateViewed struct {
	meta
	Document
	Signers  []Signer
	ViewedBy ViewedBy
}

// TemplateSigned is the event new_template_response_individual_signed: a signer has signed a
// document made from a template. For DocumentID, see [TemplateViewed].
type TemplateSigned struct {
	meta
	Document
	IsSigningOrder bool // signers sign one after the other, in the order of SigningOrderNo
	Signers        []Signer
	SignedBy       SignedBy
}

// TemplateResponse is the event new_template_response: the last signer of a document made from a
// template has signed. For DocumentID, see [TemplateViewed].
type TemplateResponse struct {
	meta
	Document
	FinishedPDFURL string // URL of the signed document
	Signers        []Signer
	Fields         []Field // values that signers filled in, in document order
}

// UnknownEvent is an array element that no other event type fits. [Event.Raw] returns the whole
// element.
//
// If Err is nil, the element has a type that this package does not know. Otherwise the element
// could not be decoded: it is not an object, or it names no type and no type can be inferred. Err
// is a *[FieldError] if webhookEvent is present and is not a string.
//
// DocumentID, FormResponseID and SignerIDs have the ids that the element has under the keys of the
// known types.
type UnknownEvent struct {
	meta
	Type           EventType // the type that the payload names; empty if Err is not nil
	Err            error
	DocumentID     string
	FormResponseID string
	signerIDs      []string
}

// Document has the fields that all events about documents share. A field that is missing, null or
// unreadable is empty.
type Document struct {
	DocumentName string
	// a UUID: of the PDF document or, in events of a template, of the template (not documented by
	// the service)
	DocumentID  string
	DocumentURL string
	AuthorEmail string
}

// Signer is one signer of a document. Events about PDF documents and events about templates fill
// different fields. A field that is missing, null or unreadable is zero.
type Signer struct {
	Email          string
	Name           string
	Status         SignerStatus
	IP             string // only of PDF documents
	RoleTitle      string // only of templates
	ID             string // only of templates
	HasDeclined    bool
	SigningOrderNo int // position in the signing order, in signed events; 0 if the delivery has none
}

// ViewedBy is the signer who opened the document, and the time. The service does not document the
// form of the time. RFC 3339, Unix seconds and Unix milliseconds are read, and the result is in UTC
// whatever the zone. A date, or a time without a zone, is read as UTC. The time is zero if it is
// missing or unreadable (see [Event.FieldErrors]).
type ViewedBy struct {
	Signer
	ViewedAt time.Time
}

// SignedBy is the signer who signed the document, and the time. The time is read as in [ViewedBy].
type SignedBy struct {
	Signer
	SignedAt time.Time
}

// SignerStatus is the progress of one signer. A value that is not listed here is kept unchanged.
type SignerStatus string

// The signer statuses that were observed. The service does not document them.
const (
	SignerDraft   SignerStatus = "DRAFT"
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// FormAnswer is one question of a form with the answer of the respondent.
type FormAnswer struct {
	ID       string
	Question string
	Answer   string // JSON text if the service sends another type than a string, which is not documented
}

// Field is one value that a signer filled in. Its name comes from a key such as
// contact_field(page1)[Buyer]. The service documents only the kind contact_field. The kinds text,
// date and name were observed, and any other kind is accepted too.
type Field struct {
	Kind  string // such as contact_field
	Page  int    // from 1 in all observed events; 0 is accepted too
	Label string // a role title or a signer's name; any text, brackets included
	Value string // JSON text if the service sends another type than a string
	Key   string // the whole key
}

// meta has the data that every decoded event keeps of its payload. It has most of the methods of
// Event.
type meta struct {
	raw   string
	notes *notes // nil for most events

	// Type is the result of EventType for an event that was decoded from a payload. It is a field
	// so that encoding/json prints it.
	Type EventType
}

type notes struct {
	inferred bool
	misfits  []*FieldError
}

var inferredOnly = notes{inferred: true} // never changed

// Inferred reports whether webhookEvent was missing or unreadable and the type was inferred from the fields.
func (m *meta) Inferred() bool { return m.notes != nil && m.notes.inferred }

// FieldErrors returns the fields whose values could not be read. These fields are zero. See
// [Event].
func (m *meta) FieldErrors() []*FieldError {
	if m.notes == nil {
		return nil
	}
	return m.notes.misfits
}

// SignerIDs returns nil, because this event has no signers.
func (e *FormResponse) SignerIDs() []string { return nil }

// SignerIDs returns the ids under signers, viewedBy and signedBy of the element, if they can be
// read.
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

// SubjectID returns DocumentID, the id of the subject.
func (d *Document) SubjectID() string { return d.DocumentID }

// SubjectID returns FormResponseID, the id of the subject.
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
