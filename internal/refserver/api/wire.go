package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// The JSON that the service writes, field by field. Spelling errors are those of the service.

// timeText writes a time in milliseconds. The time package is fast only for RFC 3339, and lists
// contain many times.
func timeText(t time.Time) string {
	b, ms := t.UTC().AppendFormat(make([]byte, 0, 24), time.RFC3339), t.Nanosecond()/1e6
	return string(append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'))
}

type errorBody struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

type documentsBody struct {
	Message        string          `json:"message"`
	Documents      []documentBody  `json:"documents"`
	DocumentsCount int             `json:"documentsCount"`
	FormCount      int             `json:"formCount"`
	Pagination     *paginationBody `json:"pagination,omitempty"`
}

type paginationBody struct {
	CurrentPage    int   `json:"currentPage"`
	TotalPages     int   `json:"totalPages"`
	TotalDocuments *int  `json:"totalDocuments,omitempty"`
	TotalResponses *int  `json:"totalResponses,omitempty"`
	HasNext        *bool `json:"hasNextPage,omitempty"`
	HasPrevious    *bool `json:"hasPreviousPage,omitempty"`
}

type documentBody struct {
	DocumentID     string `json:"documentId"`
	DocumentName   string `json:"documentName"`
	DocumentURL    string `json:"documentUrl"`
	FinishedPDFURL string `json:"finishedPdfUrl,omitempty"`
	AuthorEmail    string `json:"authorEmail"`
	Status         string `json:"status"`
	SigningType    string `json:"signingType"`
	IsSigningOrder bool   `json:"isSigningOrder"`
	IsArchived     bool   `json:"isArchived"`
	IsAllSigned    bool   `json:"isAllSigned"`

	Signers []signerBody `json:"signers,omitempty"` // only of a PDF

	Roles                  []roleBody            `json:"roles,omitempty"` // only of a template; the same holds for the next three
	TemplateRespondents    *[]respondentOverview `json:"templateRespondents,omitempty"`
	TotalRespondants       *int                  `json:"totalRespondants,omitempty"`
	TotalSignedRespondants *int                  `json:"totalSignedRespondants,omitempty"`

	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// signerBody is a signer of either kind. A signer of a PDF has signerIp; a signer of a template has
// roleTitle and signerId.
type signerBody struct {
	RoleTitle      *string `json:"roleTitle,omitempty"`
	Email          string  `json:"email"`
	Name           string  `json:"name"`
	Status         string  `json:"status"`
	SignerID       string  `json:"signerId,omitempty"`
	SignerIP       *string `json:"signerIp,omitempty"`
	HasDeclined    bool    `json:"hasDeclined"`
	SigningOrderNo int     `json:"signingOrderNo"`
}

func signerBodies(d *signing.Document) []signerBody {
	out := make([]signerBody, len(d.Signers))
	for i := range d.Signers {
		s := &d.Signers[i]
		out[i] = signerBody{
			Email: s.Email, Name: s.Name, Status: string(s.Status()), HasDeclined: s.HasDeclined(), SigningOrderNo: s.Order,
		}
		if d.SentAt.IsZero() {
			out[i].Status = "DRAFT" // observed in live responses; the exact condition is not documented
		}
		if d.Kind == signing.KindTemplate {
			out[i].RoleTitle, out[i].SignerID = &s.RoleTitle, s.ID
		} else {
			out[i].SignerIP = &s.IP
		}
	}
	return out
}

type roleBody struct {
	RoleTitle  string `json:"roleTitle"`
	RoleColour string `json:"roleColour"`
}

type respondentOverview struct {
	RespondentDocumentID string       `json:"respondentDocumentId"`
	Status               string       `json:"status"`
	CreatedAt            string       `json:"createdAt"`
	Signers              []signerBody `json:"signers"`
}

type actBody struct {
	Message       string `json:"message"`
	DocumentID    string `json:"documentId"`
	Status        string `json:"status"`
	RemindersSent *int   `json:"remindersSent,omitempty"`
}

type messageBody struct {
	Message string `json:"message"`
}

type sentBody struct {
	Message               string           `json:"message"`
	TemplateID            string           `json:"templateId"`
	CreatedDocumentID     string           `json:"createdDocumentId"`
	CreatedDocumentStatus string           `json:"createdDocumentStatus"`
	Signers               []sentSignerBody `json:"signers"`
}

type sentSignerBody struct {
	SignerID  string `json:"signerId"`
	Email     string `json:"email"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	RoleTitle string `json:"roleTitle"`
	SentURL   string `json:"sentUrl"`
}

type respondentsBody struct {
	Respondents []respondentBody `json:"respondents"`
	Pagination  paginationBody   `json:"pagination"`
}

type respondentBody struct {
	RespondentDocumentID string        `json:"respondentDocumentId"`
	TemplateID           string        `json:"templateId"`
	OwnerID              string        `json:"ownerId"`
	Status               string        `json:"status"`
	CreatedAt            string        `json:"createdAt"`
	PDFLink              string        `json:"pdfLink"`
	FinishedPDFURL       string        `json:"finishedPdfUrl,omitempty"`
	Signers              []signerBody  `json:"signers"`
	History              []historyBody `json:"history"`
}

// historyBody is one act of a signer. The service does not document the content of an entry.
type historyBody struct {
	Action    string `json:"action"`
	Email     string `json:"email"`
	CreatedAt string `json:"createdAt"`
}

type responsesBody struct {
	Responses  []responseBody `json:"responses"`
	Pagination paginationBody `json:"pagination"`
}

type responseBody struct {
	ResponseID      string       `json:"responseId"`
	FormResponseID  string       `json:"formResponseId"`
	FormID          string       `json:"formId"`
	SubmittedAt     string       `json:"submittedAt"`
	RespondentEmail string       `json:"respondentEmail"`
	FinishedPDFURL  string       `json:"finishedPdfUrl"`
	Answers         []answerBody `json:"answers"`
}

type answerBody struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// written collects the bytes written to it. Package json writes a value in one call.
type written []byte

func (w *written) Write(b []byte) (int, error) {
	*w = append(*w, b...)
	return len(b), nil
}

// marshal prints JSON without the escapes of <, > and &, which only HTML needs.
func marshal(v any) ([]byte, error) {
	var out written
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out, []byte("\n")), err
}
