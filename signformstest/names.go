package signformstest

import "github.com/signforms/signforms-go/internal/refserver"

type (
	ActiveFault     = refserver.ActiveFault
	Actor           = refserver.Actor
	Answer          = refserver.Answer
	Attempt         = refserver.Attempt
	AuditEntry      = refserver.AuditEntry
	Contents        = refserver.Contents
	Counts          = refserver.Counts
	DateEnd         = refserver.DateEnd
	DateFormat      = refserver.DateFormat
	Delivery        = refserver.Delivery
	DeliveryFilter  = refserver.DeliveryFilter
	DeliveryStatus  = refserver.DeliveryStatus
	Document        = refserver.Document
	ErrorLayout     = refserver.ErrorLayout
	EventFamily     = refserver.EventFamily
	Field           = refserver.Field
	FieldKind       = refserver.FieldKind
	FieldValue      = refserver.FieldValue
	FinishedFile    = refserver.FinishedFile
	Form            = refserver.Form
	FormState       = refserver.FormState
	Happening       = refserver.Happening
	HappeningKind   = refserver.HappeningKind
	InvalidError    = refserver.InvalidError
	Keep            = refserver.Keep
	MessageFilter   = refserver.MessageFilter
	Network         = refserver.Network
	NoneForm        = refserver.NoneForm
	Origin          = refserver.Origin
	QuestionKind    = refserver.QuestionKind
	Record          = refserver.Record
	ReminderLimit   = refserver.ReminderLimit
	ResponseState   = refserver.ResponseState
	Role            = refserver.Role
	SignedValue     = refserver.SignedValue
	Signer          = refserver.Signer
	Storage         = refserver.Storage
	Submission      = refserver.Submission
	Template        = refserver.Template
	TemplateField   = refserver.TemplateField
	TemplateState   = refserver.TemplateState
	TimestampFormat = refserver.TimestampFormat
	UnknownStatus   = refserver.UnknownStatus
	Webhook         = refserver.Webhook
	WebhookFault    = refserver.WebhookFault
	WebhookState    = refserver.WebhookState
)

const (
	BlobKind             = refserver.BlobKind
	MaxName              = refserver.MaxName
	MaxReason            = refserver.MaxReason
	MaxText              = refserver.MaxText
	MaxURL               = refserver.MaxURL
	SignatureField       = refserver.SignatureField
	InitialsField        = refserver.InitialsField
	TextField            = refserver.TextField
	DateField            = refserver.DateField
	CheckboxField        = refserver.CheckboxField
	TextQuestion         = refserver.TextQuestion
	LongTextQuestion     = refserver.LongTextQuestion
	ChoiceQuestion       = refserver.ChoiceQuestion
	DateQuestion         = refserver.DateQuestion
	CheckboxQuestion     = refserver.CheckboxQuestion
	DeliveryWaiting      = refserver.DeliveryWaiting
	DeliveryPending      = refserver.DeliveryPending
	DeliverySending      = refserver.DeliverySending
	DeliveryDelivered    = refserver.DeliveryDelivered
	DeliveryDead         = refserver.DeliveryDead
	DeliveryCancelled    = refserver.DeliveryCancelled
	UnixSeconds          = refserver.UnixSeconds
	UnixMilliseconds     = refserver.UnixMilliseconds
	RFC3339              = refserver.RFC3339
	UnknownStatusRefused = refserver.UnknownStatusRefused
	UnknownStatusIgnored = refserver.UnknownStatusIgnored
	UnknownStatusEmpty   = refserver.UnknownStatusEmpty
	DateOrTime           = refserver.DateOrTime
	TimeOnly             = refserver.TimeOnly
	DateOnly             = refserver.DateOnly
	EndIncluded          = refserver.EndIncluded
	EndExcluded          = refserver.EndExcluded
	EndAtDayStart        = refserver.EndAtDayStart
	EndAtDayEnd          = refserver.EndAtDayEnd
	NoneIsEmpty          = refserver.NoneIsEmpty
	NoneIsMissing        = refserver.NoneIsMissing
	NoneIsNull           = refserver.NoneIsNull
	LayoutMessage        = refserver.LayoutMessage
	LayoutError          = refserver.LayoutError
	LayoutDataMessage    = refserver.LayoutDataMessage
	LayoutDataError      = refserver.LayoutDataError
	LayoutText           = refserver.LayoutText
	NoFile               = refserver.NoFile
	FileDue              = refserver.FileDue
	FileMade             = refserver.FileMade
	FileFailed           = refserver.FileFailed
	TemplateHappening    = refserver.TemplateHappening
	FormHappening        = refserver.FormHappening
	DocumentHappening    = refserver.DocumentHappening
	ResponseHappening    = refserver.ResponseHappening
	WebhookHappening     = refserver.WebhookHappening
	DeliveryHappening    = refserver.DeliveryHappening
	MessageHappening     = refserver.MessageHappening
	AuditHappening       = refserver.AuditHappening
	RequestHappening     = refserver.RequestHappening
	FaultHappening       = refserver.FaultHappening
	ClockHappening       = refserver.ClockHappening
	WorkspaceHappening   = refserver.WorkspaceHappening
	FormResponse         = refserver.FormResponse
	SignatureCompleted   = refserver.SignatureCompleted
	TemplateResponse     = refserver.TemplateResponse
)

var (
	ErrSaveUnknown   = refserver.ErrSaveUnknown
	ErrRefused       = refserver.ErrRefused
	ErrNotFound      = refserver.ErrNotFound
	ErrInvalid       = refserver.ErrInvalid
	ErrStorage       = refserver.ErrStorage
	ErrClosed        = refserver.ErrClosed
	CheckRecords     = refserver.CheckRecords
	DeliveryStatuses = refserver.DeliveryStatuses
	NewNetwork       = refserver.NewNetwork
)
