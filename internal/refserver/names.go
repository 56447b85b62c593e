package refserver

import (
	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The names of these types in the packages below, which also define the spelling on the wire.
type (
	Operation = api.Operation
	Route     = api.Route
	Place     = api.Place
	Request   = api.Record

	Profile         = api.Profile
	ErrorLayout     = api.ErrorLayout
	TimestampFormat = api.TimestampFormat

	Status        = signing.Status
	Kind          = signing.Kind
	SignerStatus  = signing.SignerStatus
	Role          = signing.Role
	TemplateField = signing.Field
	FieldKind     = signing.FieldKind
	QuestionKind  = signing.QuestionKind
	Origin        = signing.Origin
	EventFamily   = signing.EventFamily
	AuditEntry    = signing.AuditEntry

	DeliveryStatus = store.DeliveryStatus
	Attempt        = store.Attempt
)

// The statuses of a document that programs display.
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

// The types and constants of [Profile].
const (
	LayoutMessage     = api.LayoutMessage
	LayoutError       = api.LayoutError
	LayoutDataMessage = api.LayoutDataMessage
	LayoutDataError   = api.LayoutDataError

	UnixSeconds      = api.UnixSeconds
	UnixMilliseconds = api.UnixMilliseconds
	RFC3339          = api.RFC3339
)

// The kinds of fields and questions.
const (
	SignatureField = signing.FieldSignature
	InitialsField  = signing.FieldInitials
	TextField      = signing.FieldText
	DateField      = signing.FieldDate
	CheckboxField  = signing.FieldCheckbox

	TextQuestion     = signing.QuestionText
	LongTextQuestion = signing.QuestionLongText
	ChoiceQuestion   = signing.QuestionChoice
	DateQuestion     = signing.QuestionDate
	CheckboxQuestion = signing.QuestionCheckbox
)

// The families of events that a webhook can select.
const (
	FormResponse       = signing.FamilyFormResponse
	SignatureCompleted = signing.FamilySignature
	TemplateResponse   = signing.FamilyTemplate
)

// The statuses of a delivery.
const (
	DeliveryPending   = store.DeliveryPending
	DeliverySending   = store.DeliverySending
	DeliveryDelivered = store.DeliveryDelivered
	DeliveryDead      = store.DeliveryDead
	DeliveryCancelled = store.DeliveryCancelled
)

// DeliveryStatuses returns all statuses of a delivery, in the order in which a delivery can have
// them.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliverySending, DeliveryDelivered, DeliveryDead, DeliveryCancelled}
}
