package signforms

import (
	"context"
	"encoding/base64"
	"iter"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// TemplatesService lists and sends templates. It is Client.Templates. [RespondentsService] has the documents that a send
// creates.
type TemplatesService struct{ c *caller }

// Template is a document with roles. A send makes a document from it for the people who take the
// roles. A field is zero if the response lacks it or has a value of another type. Page.Raw contains
// the fields that this type does not have.
type Template struct {
	ID          string `json:"documentId"`
	Name        string `json:"documentName"`
	URL         string `json:"documentUrl"`
	AuthorEmail string `json:"authorEmail"`
	IsArchived  bool   `json:"isArchived"`
	Roles       []Role `json:"roles"`
	// Respondents are documents made from the template. The service may leave out some of their fields (not documented);
	// [RespondentsService.Get] returns the whole record.
	Respondents []Respondent `json:"templateRespondents"`
	// The service spells these two keys totalRespondants and totalSignedRespondants.
	TotalRespondents       int       `json:"totalRespondants"`
	TotalSignedRespondents int       `json:"totalSignedRespondants"`
	CreatedAt              time.Time `json:"createdAt"`
	UpdatedAt              time.Time `json:"updatedAt"`
}

// TemplateListParams filters a list of templates. The zero value lists all of them, newest first. Its fields work like
// those of [DocumentListParams].
type TemplateListParams struct {
	TemplateID       string // a UUID; the list then has only this template
	DateFrom, DateTo time.Time
	Archived         *bool
	SortOrder        SortOrder
	Page, Limit      int
	Query            string
}

// request returns the request of a list of templates or documents. idField is the caller's name of TemplateID.
func (p TemplateListParams) request(m method, t SigningType, idField string, status DocumentStatus) request {
	c := request{method: m, in: inputs{}}
	if p.TemplateID != "" {
		c.uuid(idField, p.TemplateID)
	}
	if !p.DateFrom.IsZero() && !p.DateTo.IsZero() && p.DateFrom.After(p.DateTo) {
		c.add("DateFrom", "must not be after the end of the period")
	}
	if p.SortOrder != "" && p.SortOrder != OldestFirst && p.SortOrder != NewestFirst {
		c.add("SortOrder", "must be OldestFirst or NewestFirst")
	}
	c.text("Status", string(status))
	c.text("Query", p.Query)
	c.page(p.Page, p.Limit, 100)
	in := c.in
	in.set("documentType", string(t))
	in.set("status", string(status))
	in.set("documentId", p.TemplateID)
	in.setTime("dateFrom", p.DateFrom)
	in.setTime("dateTo", p.DateTo)
	if p.Archived != nil {
		in["archive"] = *p.Archived
	}
	in.set("sortOrder", string(p.SortOrder))
	in.set("query", p.Query)
	return c
}

// requestOfOne returns the request of a list that has only the document or template with an id.
func requestOfOne(m method, t SigningType, field, id string) request {
	c := request{method: m, in: inputs{"documentType": string(t), "documentId": id}}
	c.uuid(field, id)
	return c
}

// List returns page p.Page of the templates. To read every page, range over All. A response, shortened:
//
//	{"documents": [{"documentId": "65afe90c-6eab-4089-8a6f-5b870943305f", "documentName": "Engagement letter", "signingType": "PDF_TEMPLATE",
//	  "roles": [{"roleTitle": "Client"}], "createdAt": "2026-11-16T09:00:00.125Z"}],
//	 "documentsCount": 1, "pagination": {"currentPage": 1, "totalPages": 1, "totalDocuments": 1}}
func (s *TemplatesService) List(ctx context.Context, p TemplateListParams) (*Page[Template], error) {
	return s.page(ctx, p.request(listTemplates, TypePDFTemplate, "TemplateID", ""))
}

// All yields every template that matches. It works like [DocumentsService.All].
func (s *TemplatesService) All(ctx context.Context, p TemplateListParams) iter.Seq2[*Template, error] {
	return list[Template]{p.Limit, (*Template).key, func(ctx context.Context, r paging.Request) (*Page[Template], error) {
		p := p
		p.Page, p.Limit = r.Page, r.Limit
		return s.List(ctx, p)
	}}.all(ctx)
}

func (t *Template) key() (id string, created time.Time) { return t.ID, t.CreatedAt }

// Get returns one template with its roles, or ErrNotFound if the service has no template with this
// id.
func (s *TemplatesService) Get(ctx context.Context, templateID string) (*Template, error) {
	page, err := s.page(ctx, requestOfOne(getTemplate, TypePDFTemplate, "templateID", templateID))
	return only(page, err, templateID, func(t *Template) string { return t.ID })
}

func (s *TemplatesService) page(ctx context.Context, req request) (*Page[Template], error) {
	var answer struct {
		wirePage
		Templates []Template `json:"documents"`
	}
	page, err := pageOf(ctx, s.c, req, &answer, &answer.wirePage, "documents", &answer.Templates)
	for i := range answer.Templates {
		t := &answer.Templates[i]
		for j := range t.Respondents {
			t.Respondents[j].normalise(t.ID)
		}
	}
	return page, err
}

// TemplateSendParams are the inputs of sending a template.
type TemplateSendParams struct {
	TemplateID string     // UUID, required
	Receivers  []Receiver // 1 to 100
	Mail       Mail
	Variables  []Variable
	// PDF is a file that replaces the template's own PDF. If it is empty, the template's PDF is
	// used. The bytes grow by a third in the request, which may have up to 10 MiB. The service does
	// not document the limit.
	PDF []byte
}

// TemplateSendResult is the document that a send created. If [TemplatesService.Send] returns a nil
// error, DocumentID is the id of an existing document. The JSON of a result has everything except
// Raw and the signing links, so you can store it and use its Ref later.
type TemplateSendResult struct {
	Message    string         `json:"message"`
	TemplateID string         `json:"templateId"` // the requested id if the response has no UUID
	DocumentID string         `json:"createdDocumentId"`
	Status     DocumentStatus `json:"createdDocumentStatus"`
	// Signers contain the signing links. The links print as "[redacted]" and are empty when read back from JSON.
	Signers []Signer `json:"signers"`
	// RequestID is the x-request-id of the call, and StatusCode the HTTP status of its response, as in [Error].
	RequestID  string `json:"requestId"`
	StatusCode int    `json:"statusCode"`
	// Raw is the response as received. It contains the signing links, so keep it out of logs.
	Raw RawResponse `json:"-"`
}

// Ref returns the reference for Void and Remind.
func (r *TemplateSendResult) Ref() DocumentRef { return TemplateDocument(r.TemplateID, r.DocumentID) }

// SignerIDs returns the ids of Signers, without empty ones. The template events of webhook have a method of the same
// name: an event that shares an id is about this document. Not documented by the service.
func (r *TemplateSendResult) SignerIDs() []string { return signerIDs(r.Signers) }

// missing reports why the response has no usable id. null, false, 0 and an all-zero id mean that no document was created.
// The service documents ObjectIds; a UUID is accepted too.
func (r *TemplateSendResult) missing() string {
	id := r.DocumentID
	switch {
	case id == "":
		return "it lacks createdDocumentId"
	case !isObjectID(id) && !isUUID(id) || strings.Trim(id, "0-") == "":
		return "its createdDocumentId is not an id"
	}
	return ""
}

// Validate returns the error that Send returns for invalid inputs, without a request. It is an
// [*Error] that matches ErrInvalid and lists all invalid inputs in Fields. The service may still
// refuse inputs that Validate accepts.
func (p TemplateSendParams) Validate() error {
	return p.body().request().invalid()
}

func (p TemplateSendParams) body() sendBody {
	return sendBody{SigningType: TypePDFTemplate, DocumentID: p.TemplateID, Receivers: p.Receivers, Mail: p.Mail, Variables: p.Variables}
}

// Send creates a document from a template and mails it to the receivers. The request is repeated
// only when the service provably did not accept it. ErrOutcomeUnknown means that the document may
// have been sent: check with [RespondentsService.FindSent] before you send again. A response,
// shortened:
//
//	{"message": "Document sent successfully", "templateId": "65afe90c-6eab-4089-8a6f-5b870943305f", "createdDocumentId": "6afac610c07043658fde1996",
//	 "createdDocumentStatus": "PENDING", "signers": [{"signerId": "9656bc85-46e1-40d9-828b-81cb4e134d01", "email": "ann@example.com", "name": "Ann",
//	  "status": "PENDING", "roleTitle": "Client", "sentUrl": "https://sign.example.com/s/…"}]}
func (s *TemplatesService) Send(ctx context.Context, p TemplateSendParams) (*TemplateSendResult, error) {
	body := p.body()
	if len(p.PDF) > 0 {
		body.PDFData = "data:application/pdf;base64," + base64.StdEncoding.EncodeToString(p.PDF)
	}
	var res TemplateSendResult
	resp, err := s.c.perform(ctx, body.request(), func(r *response) error { return r.readSend(&res) })
	if err != nil {
		return nil, err
	}
	res.RequestID, res.StatusCode, res.Raw = resp.id, resp.outcome.Status, resp.outcome.Body
	res.TemplateID = templateID(res.TemplateID, p.TemplateID)
	res.Status = res.Status.normal()
	return &res, nil
}
