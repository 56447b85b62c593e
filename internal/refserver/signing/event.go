package signing

import (
	"slices"
	"time"
)

// EventType is the webhookEvent of a delivery.
type EventType string

// The seven event types.
const (
	EventFormResponse       EventType = "new_form_response"
	EventSignatureViewed    EventType = "new_signature_pdf_individual_viewed"
	EventSignatureSigned    EventType = "new_signature_pdf_individual_signed"
	EventSignatureCompleted EventType = "new_signature_pdf_completed"
	EventTemplateViewed     EventType = "new_template_response_individual_viewed"
	EventTemplateSigned     EventType = "new_template_response_individual_signed"
	EventTemplateResponse   EventType = "new_template_response"
)

// EventTypes lists them.
var EventTypes = [...]EventType{
	EventFormResponse, EventSignatureViewed, EventSignatureSigned, EventSignatureCompleted, EventTemplateViewed, EventTemplateSigned,
	EventTemplateResponse,
}

// EventFamily is a group of events to which a webhook subscribes.
type EventFamily string

// The three families that a webhook can select. The service does not document their names, nor that
// the viewed and signed events belong to a family.
const (
	FamilyFormResponse EventFamily = "new_form_response"
	FamilySignature    EventFamily = "new_signature_completed"
	FamilyTemplate     EventFamily = "new_template_response"
)

// Family returns the family that covers the event type.
func (t EventType) Family() EventFamily {
	switch t {
	case EventFormResponse:
		return FamilyFormResponse
	case EventTemplateViewed, EventTemplateSigned, EventTemplateResponse:
		return FamilyTemplate
	}
	return FamilySignature
}

// Event is an event with all data that its deliveries contain. The body of a delivery is made from
// the event once, when the delivery is enqueued. Each attempt sends this body.
type Event struct {
	Type     EventType     `json:",omitzero"`
	At       time.Time     `json:",omitzero"`
	SourceID string        `json:",omitzero"` // id of the document, template or form by which webhooks select events
	Document *Document     `json:",omitzero"` // the document after the act; nil for a form response
	Signer   int           `json:",omitzero"` // index in Document.Signers of the signer who viewed or signed; -1 for other events
	Form     *Form         `json:",omitzero"` // only for a form response
	Response *FormResponse `json:",omitzero"` // only for a form response
}

// Stub returns an event of the same type about the same records, without their content.
func (e Event) Stub() Event {
	if e.Document != nil {
		e.Document = &Document{ID: e.Document.ID}
	}
	if e.Response != nil {
		e.Response = &FormResponse{ID: e.Response.ID, ObjectID: e.Response.ObjectID}
	}
	e.Form = nil
	return e
}

// Change is the result of a command. Commit all of it or nothing.
type Change struct {
	Document *Document     // the document after the change; nil for forms
	Response *FormResponse // a new form response; nil otherwise
	Audit    []AuditEntry  // empty: nothing has changed, so there is nothing to commit
	Events   []Event       // events to deliver, in this order
	Messages []Message
}

// Changed reports whether there is anything to commit. For example, voiding a void document changes
// nothing.
func (c Change) Changed() bool { return len(c.Audit) > 0 }

// Clone returns a copy of d. Its signers may be changed, and field values may be appended to it,
// without changing d.
func (d Document) Clone() Document {
	d.Signers = slices.Clone(d.Signers)
	d.Values = slices.Clip(d.Values)
	return d
}
