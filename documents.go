package signforms

import (
	"context"
	"iter"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// DocumentsService lists, voids and reminds documents. It is Client.Documents. Its lists contain only PDF documents:
// [RespondentsService] has the documents made from templates. Void and Remind accept the Ref of both.
type DocumentsService struct{ c *caller }

// Document is a PDF document. A field is zero if the response lacks it or has a value of another
// type. Page.Raw contains the fields that this type does not have. The service does not document
// most fields: several clients agree on them, or their authors observed them.
type Document struct {
	ID             string         `json:"documentId"`
	Name           string         `json:"documentName"`
	URL            string         `json:"documentUrl"`
	FinishedPDFURL string         `json:"finishedPdfUrl"`
	AuthorEmail    string         `json:"authorEmail"`
	Status         DocumentStatus `json:"status"`
	SigningType    SigningType    `json:"signingType"`
	IsSigningOrder bool           `json:"isSigningOrder"`
	IsArchived     bool           `json:"isArchived"`
	IsAllSigned    bool           `json:"isAllSigned"`
	Signers        []Signer       `json:"signers"`
	CreatedAt      time.Time      `json:"createdAt"`
	UpdatedAt      time.Time      `json:"updatedAt"`
}

// Ref returns the reference for Void and Remind. It is the zero DocumentRef, which they refuse, if the record is a
// template: a service that ignores documentType may list templates as documents.
func (d *Document) Ref() DocumentRef {
	if d.SigningType == TypePDFTemplate {
		return DocumentRef{}
	}
	return PDFDocument(d.ID)
}

// DocumentListParams filters a list of documents. The zero value lists all of them, newest first.
type DocumentListParams struct {
	Status     DocumentStatus // unknown values are sent too
	DocumentID string         // a UUID; the list then has only this document
	// DateFrom and DateTo limit the time of creation, with millisecond precision. Both ends are
	// assumed to be included. The service does not document whether the ends are included, nor the
	// format on the wire. If the service reads a limit differently, it may leave documents out, and
	// All cannot notice that.
	DateFrom, DateTo time.Time
	// Archived selects archived documents (true) or the others (false). nil selects both, which is
	// not documented by the service.
	Archived  *bool
	SortOrder SortOrder // default: NewestFirst
	// Page is 1-based; 0 means 1. All ignores it.
	Page int
	// Limit is the page size, 1 to 100. Default: 100 for All; for List the service's own default, which is assumed to be
	// 10 (not documented by the service).
	Limit int
	// Query is text that the document's name must contain.
	Query string
}

// List returns page p.Page of the PDF documents. To read every page, range over All. An answer, shortened:
//
//	{"documents": [{"documentId": "602c2631-2d49-4647-a609-75331ebb0338", "documentName": "Lease", "status": "PENDING", "signingType": "PDF",
//	  "createdAt": "2026-11-18T10:15:30.125Z", "signers": [{"name": "Ann", "email": "ann@example.com", "status": "SIGNED"}]}],
//	 "documentsCount": 1, "pagination": {"currentPage": 1, "totalPages": 1, "totalDocuments": 1}}
func (s *DocumentsService) List(ctx context.Context, p DocumentListParams) (*Page[Document], error) {
	return s.page(ctx, TemplateListParams{
		TemplateID: p.DocumentID, DateFrom: p.DateFrom, DateTo: p.DateTo, Archived: p.Archived, SortOrder: p.SortOrder,
		Page: p.Page, Limit: p.Limit, Query: p.Query,
	}.request(listDocuments, TypePDF, "DocumentID", p.Status))
}

// All yields every PDF document that matches, each once. It fetches pages of at most p.Limit documents (or 16, if that
// is more), by default 100. At the first error All yields that error, with a nil *Document, and stops. The error matches
// [ErrIncomplete] if All cannot tell whether documents are missing, and another sentinel, such as [ErrUnavailable], if a
// request failed. "Whole lists" in the package documentation says what a list costs.
// Documents that were created or changed meanwhile may or may not be among those yielded.
func (s *DocumentsService) All(ctx context.Context, p DocumentListParams) iter.Seq2[*Document, error] {
	return list[Document]{p.Limit, (*Document).key, func(ctx context.Context, r paging.Request) (*Page[Document], error) {
		p := p
		p.Page, p.Limit = r.Page, r.Limit
		return s.List(ctx, p)
	}}.all(ctx)
}

func (d *Document) key() (id string, created time.Time) { return d.ID, d.CreatedAt }

// Get returns one PDF document, or ErrNotFound if the service has no PDF document with this id. For
// a document made from a template, use [RespondentsService.Get]. The response is a list, as for
// List.
func (s *DocumentsService) Get(ctx context.Context, documentID string) (*Document, error) {
	page, err := s.page(ctx, requestOfOne(getDocument, TypePDF, "documentID", documentID))
	return only(page, err, documentID, func(d *Document) string { return d.ID })
}

// VoidResult is the result of Void.
type VoidResult struct {
	Message string `json:"message"`
	// AlreadyVoided is true if the message contains "already" directly before or after "void" or
	// "voided". An earlier attempt of the same call may have voided the document.
	AlreadyVoided bool `json:"-"`
	// RequestID is the x-request-id of the call, and StatusCode the HTTP status of its response, as in [Error].
	RequestID  string `json:"requestId"`
	StatusCode int    `json:"statusCode"`
	// Raw is the response as received.
	Raw RawResponse `json:"-"`
}

// Void voids a document. Voiding a void document succeeds too.
//
//   - ErrRefused: the document's status does not allow it; see [DocumentStatus.CanVoid]. A 200
//     response whose body reports such a status also returns ErrRefused.
//   - ErrUnavailable: the body of a 200 may report a failure ("not" in its message, or the status
//     PENDING). Void first repeats the request, which is harmless.
//
// The service documents only the HTTP status of a response such as this one:
//
//	{"message": "Document voided successfully", "documentId": "602c2631-2d49-4647-a609-75331ebb0338", "status": "VOID"}
func (s *DocumentsService) Void(ctx context.Context, ref DocumentRef) (*VoidResult, error) {
	var answer wireAction
	req := ref.request(voidDocument)
	req.repeatSuccess = voidInDoubt
	resp, err := s.c.perform(ctx, req, func(r *response) error {
		return r.readAction(&answer, ruleVoid)
	})
	if err != nil {
		return nil, err
	}
	return &VoidResult{Message: answer.message(), AlreadyVoided: answer.alreadyVoid(), RequestID: resp.id, StatusCode: resp.outcome.Status, Raw: resp.outcome.Body}, nil
}

func (s *DocumentsService) page(ctx context.Context, req request) (*Page[Document], error) {
	var answer struct {
		wirePage
		Documents []Document `json:"documents"`
	}
	page, err := pageOf(ctx, s.c, req, &answer, &answer.wirePage, "documents", &answer.Documents)
	for i := range answer.Documents {
		d := &answer.Documents[i]
		d.Status = d.Status.normal()
	}
	return page, err
}
