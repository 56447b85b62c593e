package signforms

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// DocumentRef identifies a document for Void and Remind. Get one from a record's Ref method, [PDFDocument] or
// [TemplateDocument]. It is comparable. To store one, write its text and read it back with [ParseDocumentRef].
type DocumentRef struct{ documentType, documentID, createdID string }

// PDFDocument returns the reference to a PDF document. Its id is a UUID.
func PDFDocument(documentID string) DocumentRef {
	return DocumentRef{documentType: string(TypePDF), documentID: documentID}
}

// TemplateDocument returns the reference to a document made from a template. The template's id is a UUID. The
// document's id is an ObjectId: TemplateSendResult.DocumentID or Respondent.ID.
func TemplateDocument(templateID, documentID string) DocumentRef {
	return DocumentRef{string(TypePDFTemplate), templateID, documentID}
}

// ParseDocumentRef parses the text that [DocumentRef.String] returns: PDF:<document id> or
// PDF_TEMPLATE:<template id>:<document id>. Its error matches ErrInvalid.
func ParseDocumentRef(text string) (DocumentRef, error) {
	var r DocumentRef
	kind, ids, _ := strings.Cut(text, ":")
	switch kind {
	case string(TypePDF):
		r = PDFDocument(ids)
	case string(TypePDFTemplate):
		template, created, _ := strings.Cut(ids, ":")
		r = TemplateDocument(template, created)
	default:
		var c checks
		c.add("DocumentRef", "must be PDF:<document id> or PDF_TEMPLATE:<template id>:<document id>")
		return DocumentRef{}, c.err(parseRef)
	}
	if err := r.request(parseRef).invalid(); err != nil {
		return DocumentRef{}, err
	}
	return r, nil
}

var parseRef = method{name: "parse document reference"}

// String returns the reference as text, such as PDF:0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11, and "" for the zero value.
func (r DocumentRef) String() string {
	switch r.documentType {
	case "":
		return ""
	case string(TypePDFTemplate):
		return r.documentType + ":" + r.documentID + ":" + r.createdID
	}
	return r.documentType + ":" + r.documentID
}

// MarshalText returns the text of String, so that a reference works in JSON, logs and flags. It returns an error for a
// reference that [ParseDocumentRef] would refuse, except the zero DocumentRef.
func (r DocumentRef) MarshalText() ([]byte, error) {
	if r == (DocumentRef{}) {
		return []byte{}, nil
	}
	return []byte(r.String()), r.request(parseRef).invalid()
}

// UnmarshalText is [ParseDocumentRef], and reads an empty text as the zero DocumentRef.
func (r *DocumentRef) UnmarshalText(text []byte) (err error) {
	*r = DocumentRef{}
	if len(text) > 0 {
		*r, err = ParseDocumentRef(string(text))
	}
	return err
}

func (r DocumentRef) request(m method) request {
	c := request{method: m, in: inputs{}}
	switch r.documentType {
	case string(TypePDF):
		c.uuid("documentID", r.documentID)
	case string(TypePDFTemplate):
		c.uuid("templateID", r.documentID)
		if r.createdID == "" {
			c.add("documentID", "must be given: of a template, only the documents made from it can be voided or reminded")
		} else {
			c.objectID("documentID", r.createdID)
		}
	default:
		c.add("DocumentRef", "must be made with PDFDocument, TemplateDocument or a record's Ref method")
	}
	c.in.set("documentId", r.documentID)
	c.in.set("documentType", r.documentType)
	c.in.set("responseId", r.createdID)
	return c
}

// DocumentStatus is the status of a document. Unknown values are kept as received.
type DocumentStatus string

// The statuses of documents. The text PENDING, for a document in progress, is not documented by the service.
const (
	StatusDraft    DocumentStatus = "DRAFT"
	StatusPending  DocumentStatus = "PENDING"
	StatusSigned   DocumentStatus = "SIGNED"
	StatusPaid     DocumentStatus = "PAID"
	StatusDeclined DocumentStatus = "DECLINED"
	StatusExpired  DocumentStatus = "EXPIRED"
	StatusDeleted  DocumentStatus = "DELETED"
	StatusVoid     DocumentStatus = "VOID" // also read from "voided", in any letter case
)

// documentStatuses are the known statuses of documents, in the order of their constants.
var documentStatuses = []DocumentStatus{
	StatusDraft, StatusPending, StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted, StatusVoid,
}

// CanVoid reports whether the service's description allows voiding in this status. It is true for VOID, where a repeat
// changes nothing, and for DRAFT and unknown statuses, where the service decides.
func (s DocumentStatus) CanVoid() bool {
	switch s {
	case StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted:
		return false
	}
	return true
}

// CanRemind reports whether the service's description allows reminding in this status. It is true for PAID, where
// nobody is pending and so nobody is reminded, and for DRAFT and unknown statuses, where the service decides.
func (s DocumentStatus) CanRemind() bool {
	switch s {
	case StatusSigned, StatusVoid, StatusExpired, StatusDeclined, StatusDeleted:
		return false
	}
	return true
}

func (s DocumentStatus) normal() DocumentStatus {
	if strings.EqualFold(string(s), "voided") {
		return StatusVoid
	}
	return s
}

// SignerStatus is the status of one signer. Unknown values are kept as received. DRAFT and the
// empty string were observed too. They have no constant in this package, because DRAFT is known
// only from webhook events.
type SignerStatus string

// The statuses of signers.
const (
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// SigningType distinguishes PDF documents from templates. Unknown values are kept as received.
type SigningType string

// The signing types of documents.
const (
	TypePDF         SigningType = "PDF"
	TypePDFTemplate SigningType = "PDF_TEMPLATE"

	typeForm SigningType = "FORM_TEMPLATE" // the type in a send
)

// SortOrder is the order of a list by time of creation. Documents created at the same time are assumed to be ordered by
// id (not documented by the service).
type SortOrder string

// The sort orders. The service's default is NewestFirst.
const (
	OldestFirst SortOrder = "asc"
	NewestFirst SortOrder = "desc"
)

// Signer is a person who signs. Documents, respondents and send results set different fields.
type Signer struct {
	// ID in a send result is assumed to equal the id in webhook events. Not documented by the service.
	ID             string       `json:"signerId"`
	Name           string       `json:"name"`
	Email          string       `json:"email"`
	Status         SignerStatus `json:"status"`
	RoleTitle      string       `json:"roleTitle"`
	IP             string       `json:"signerIp"`
	HasDeclined    bool         `json:"hasDeclined"`
	SigningOrderNo int          `json:"signingOrderNo"` // 1-based; 0 if there is no order
	// SentURL is the signer's link. Only send results have it.
	SentURL SigningLink `json:"sentUrl"`
}

// Role is a role of a template. The service does not document the content of a role.
type Role struct {
	Title string `json:"roleTitle"`
	Color string `json:"roleColour"`
}

func signerIDs(signers []Signer) (ids []string) {
	for i := range signers {
		if id := signers[i].ID; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

const redacted = "[redacted]"

// A SigningLink is the URL at which one signer signs. Anybody who has it can sign, so fmt, slog and
// encoding/json print it as "[redacted]". Use string(link) for the URL. In these cases the URL is
// printed, because no methods are called:
//
//   - verbs of fmt that do not fit, such as %p, %w, or %s for a map of pointers to structs (go vet
//     reports most)
//   - fmt, for a link in an unexported field
//   - encoding/json, for the key of a map
//   - encoding/gob
type SigningLink string

// Format prints "[redacted]" for every verb.
func (l SigningLink) Format(w fmt.State, _ rune) { io.WriteString(w, l.redact()) }

// LogValue returns "[redacted]".
func (l SigningLink) LogValue() slog.Value { return slog.StringValue(l.redact()) }

// MarshalText returns "[redacted]", so that a result logged as JSON does not contain the link.
func (l SigningLink) MarshalText() ([]byte, error) { return []byte(l.redact()), nil }

// UnmarshalText reads a link. A redacted link becomes empty.
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
