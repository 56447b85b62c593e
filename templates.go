package signforms

import (
	"context"
	"encoding/base64"
	"iter"
	"strings"
)

// TemplatesService lists and sends templates. It is Client.Templates. [RespondentsService] has the documents that a send
// creates.
type TemplatesService struct{ c *caller }

// List returns page p.Page of the templates. To read every page, range over All. An answer, shortened:
//
//	{"documents": [{"documentId": "65afe90c-6eab-4089-8a6f-5b870943305f", "documentName": "Engagement letter", "signingType": "PDF_TEMPLATE",
//	  "roles": [{"roleTitle": "Client"}], "createdAt": "2026-11-16T09:00:00.125Z"}],
//	 "documentsCount": 1, "pagination": {"currentPage": 1, "totalPages": 1, "totalDocuments": 1}}
func (s *TemplatesService) List(ctx context.Context, p DocumentListParams) (*Page[Document], error) {
	return s.c.listDocuments(ctx, listTemplates, TypePDFTemplate, p)
}

// All yields every template that matches. It works like [DocumentsService.All].
func (s *TemplatesService) All(ctx context.Context, p DocumentListParams) iter.Seq2[*Document, error] {
	return s.c.allDocuments(ctx, listTemplates, TypePDFTemplate, p)
}

// Get returns one template with its roles, or ErrNotFound when the service has none with this id.
func (s *TemplatesService) Get(ctx context.Context, templateID string) (*Document, error) {
	return s.c.getDocument(ctx, getTemplate, TypePDFTemplate, "templateID", templateID)
}

// TemplateSendParams are the inputs of sending a template.
type TemplateSendParams struct {
	TemplateID string     // UUID, required
	Receivers  []Receiver // 1 to 100
	Mail       Mail
	Variables  []Variable
	// PDF is a file that replaces the template's own; empty keeps that. Its bytes grow by a third in the request, which
	// may have up to 10 MiB. That limit is not documented by the service.
	PDF []byte
}

// TemplateSendResult is the document that a send created. Its JSON has everything but Raw and the signing links, so you can
// store it and use its Ref later.
type TemplateSendResult struct {
	Message    string         `json:"message"`
	TemplateID string         `json:"templateId"` // the id that was sent when the answer has no UUID
	DocumentID string         `json:"createdDocumentId"`
	Status     DocumentStatus `json:"createdDocumentStatus"`
	// Signers contain the signing links. The links print as "[redacted]" and are empty when read back from JSON.
	Signers []Signer `json:"signers"`
	// Raw is the answer as received. It contains the signing links, so keep it out of logs.
	Raw RawResponse `json:"-"`
}

// Ref returns the reference for Void and Remind.
func (r *TemplateSendResult) Ref() DocumentRef { return TemplateDocument(r.TemplateID, r.DocumentID) }

// SignerIDs returns the ids of Signers, without empty ones. The template events of webhook have a method of the same
// name: an event that shares an id is about this document. Not documented by the service.
func (r *TemplateSendResult) SignerIDs() []string { return signerIDs(r.Signers) }

// missing wants an id: a service that made no document may write null, false, 0 or zeros as text. The service documents
// ObjectIds; a UUID is taken too.
func (r *TemplateSendResult) missing(*run) string {
	id := r.DocumentID
	switch {
	case id == "":
		return "it lacks createdDocumentId"
	case !isObjectID(id) && !isUUID(id) || strings.Trim(id, "0-") == "":
		return "its createdDocumentId is not an id"
	}
	return ""
}

// Validate returns what Send returns for wrong inputs, without a request: an [*Error] that matches ErrInvalid, whose
// Fields are all of them. What is right for the SDK may still be wrong for the service.
func (p TemplateSendParams) Validate() error {
	var c checks
	c.uuid("TemplateID", p.TemplateID)
	p.body().check(&c)
	return c.err(sendTemplate)
}

func (p TemplateSendParams) body() sendBody {
	return sendBody{SigningType: TypePDFTemplate, DocumentID: p.TemplateID, Receivers: p.Receivers, Mail: p.Mail, Variables: p.Variables}
}

// Send creates a document from a template and mails it to the receivers. The request is repeated only when the service
// provably did not accept it. ErrOutcomeUnknown means that it may have been sent: look with
// [RespondentsService.FindSent] before you send again. An answer, shortened:
//
//	{"message": "Document sent successfully", "templateId": "65afe90c-6eab-4089-8a6f-5b870943305f", "createdDocumentId": "6afac610c07043658fde1996",
//	 "createdDocumentStatus": "PENDING", "signers": [{"signerId": "9656bc85-46e1-40d9-828b-81cb4e134d01", "email": "ann@example.com", "name": "Ann",
//	  "status": "PENDING", "roleTitle": "Client", "sentUrl": "https://sign.example.com/s/…"}]}
func (s *TemplatesService) Send(ctx context.Context, p TemplateSendParams) (*TemplateSendResult, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	body := p.body()
	if len(p.PDF) > 0 {
		body.PDFData = "data:application/pdf;base64," + base64.StdEncoding.EncodeToString(p.PDF)
	}
	var res TemplateSendResult
	run, err := s.c.perform(ctx, body.request(sendTemplate), &res)
	if err != nil {
		return nil, err
	}
	res.Raw = run.last.Body
	res.TemplateID = templateID(res.TemplateID, p.TemplateID)
	res.Status = res.Status.normal()
	return &res, nil
}
