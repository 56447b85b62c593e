package signforms

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

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

// Receiver is a person who gets a template or form by mail.
type Receiver struct {
	Name  string `json:"name"`  // required
	Email string `json:"email"` // required, with an @
	// RoleTitle must match a role of the template exactly. It is required for templates and not used for forms.
	RoleTitle string `json:"roleTitle,omitempty"`
	RoleColor string `json:"roleColour,omitempty"`
	// Subject and Message replace those of Mail for this receiver. Empty means those of Mail.
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"`
}

// Mail is the subject and text for receivers without their own. The service fills in what is empty.
type Mail struct {
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"`
}

// Variable is a value to put into a template or form.
type Variable struct {
	Name  string `json:"varName"`  // required, with its square brackets: [v1]
	Value string `json:"varValue"` // may be empty
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

// sendBody is the request body for templates and forms.
type sendBody struct {
	SigningType SigningType `json:"signingType"`
	DocumentID  string      `json:"documentId"`
	Receivers   []Receiver  `json:"receiversList"`
	Mail        Mail        `json:"mailData,omitzero"`
	Variables   []Variable  `json:"customVariables,omitempty"`
	PDFData     string      `json:"pdfData,omitempty"`
}

func (b sendBody) request(m method) request {
	in := inputs{}
	in.set("documentId", b.DocumentID)
	in.set("signingType", string(b.SigningType))
	return request{method: m, in: in, body: b}
}

func (b sendBody) check(c *checks) {
	if len(b.Receivers) < 1 || len(b.Receivers) > 100 {
		c.add("Receivers", "must hold 1 to 100 receivers")
	}
	for i, r := range b.Receivers {
		field := fmt.Sprintf("Receivers[%d].", i)
		c.required(field+"Name", r.Name)
		c.email(field+"Email", r.Email)
		if b.SigningType == TypePDFTemplate {
			c.required(field+"RoleTitle", r.RoleTitle)
		} else {
			c.text(field+"RoleTitle", r.RoleTitle)
		}
		c.text(field+"RoleColor", r.RoleColor)
		c.text(field+"Subject", r.Subject)
		c.text(field+"Message", r.Message)
	}
	c.text("Mail.Subject", b.Mail.Subject)
	c.text("Mail.Message", b.Mail.Message)
	for i, v := range b.Variables {
		if len(v.Name) < 3 || !strings.HasPrefix(v.Name, "[") || !strings.HasSuffix(v.Name, "]") {
			c.add(fmt.Sprintf("Variables[%d].Name", i), "must be in square brackets: [name]")
		}
		c.text(fmt.Sprintf("Variables[%d].Name", i), v.Name)
		c.text(fmt.Sprintf("Variables[%d].Value", i), v.Value)
	}
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
// [TemplatesService.SentCandidates] before you send again. An answer, shortened:
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

// SentCandidates looks for the document of a send whose outcome is unknown. It reads all respondents of p.TemplateID
// and returns those that may be this send (see [TemplateSendParams.MayMatch]). known reports the documents that you have
// recorded for other sends; these are left out. A nil known reports none. An error means that nothing was found out.
//
//   - No candidate: the template was not sent, if you called SentCandidates at least Options.AttemptTimeout and one
//     minute after Send had returned; by default that is 90 seconds. Until then the request may still arrive. Measure
//     the time with a monotonic clock, as time.Since does. After a restart of the program, start counting again.
//   - One candidate: it is this send, if it shows the addresses of your receivers in full and nobody else sent the
//     template to them. Otherwise let a person decide.
//   - Several candidates: let a person decide. Do not send again.
//
// SentCandidates misses a document that the service does not list, as it may do with deleted ones, that is in another
// workspace, or in which a signer's address was changed. Another send of the same template to the same people is a
// candidate too, however old. So send a template to the same receivers only once the last such send's outcome is known.
//
// The service may mask the addresses of signers. A mask that reads like an address, such as axx@example.com, counts as
// somebody else's: then no candidate proves nothing. With any other mask, all documents of the template are candidates,
// except those that known reports: resolve one doubtful send of a template before you begin the next.
func (s *TemplatesService) SentCandidates(ctx context.Context, p TemplateSendParams, known func(documentID string) bool) ([]Respondent, error) {
	var found []Respondent
	for r, err := range s.AllRespondents(ctx, RespondentListParams{TemplateID: p.TemplateID}) {
		if err != nil {
			return nil, err
		}
		if p.MayMatch(r) && (known == nil || !known(r.ID)) {
			found = append(found, *r)
		}
	}
	return found, nil
}

// MayMatch reports whether r may be the document of this send. It is the test of [TemplatesService.SentCandidates]: one
// walk over a template's respondents can serve many sends. It is false only if r names another template, or the address
// of every signer was read and a receiver's is not among them. Addresses are compared ignoring case and blanks at their
// ends. Further signers, such as a template's own, do not matter. What cannot be read or compared may be this send: no
// record, no signers, or an address with a name, two dots in a row, no dot in its domain, or characters that no address
// has, as most masks have. A mask that reads like an address counts as somebody else's. Times are not compared.
func (p TemplateSendParams) MayMatch(r *Respondent) bool {
	if r == nil {
		return true
	}
	if isUUID(r.TemplateID) && !strings.EqualFold(r.TemplateID, p.TemplateID) {
		return false
	}
	unread := slices.ContainsFunc(r.Signers, func(s Signer) bool { return !plainAddress(s.Email) })
	if len(r.Signers) == 0 || unread {
		return true
	}
	return !slices.ContainsFunc(p.Receivers, func(to Receiver) bool {
		return plainAddress(to.Email) && !slices.ContainsFunc(r.Signers, func(s Signer) bool {
			return strings.EqualFold(strings.TrimSpace(s.Email), strings.TrimSpace(to.Email))
		})
	})
}

var addressText = regexp.MustCompile(`^[\w!#$+/=?^{|}~'-]+(\.[\w!#$+/=?^{|}~'-]+)*@[\w-]+(\.[\w-]+)+$`)

// plainAddress reports whether an address can be compared as text: it is no mask, and has no name.
func plainAddress(email string) bool {
	email = strings.ToLower(strings.TrimSpace(email))
	return addressText.MatchString(email) && !strings.Contains(email, "xn--")
}

// templateID keeps the id that was asked for where the answer's is not a UUID, and so of no use for a DocumentRef.
func templateID(answered, asked string) string {
	if isUUID(answered) || asked == "" {
		return answered
	}
	return asked
}

// Respondent is a document made from a template, with its signers. Fields that the answer lacks are zero.
type Respondent struct {
	ID             string            `json:"respondentDocumentId"`
	TemplateID     string            `json:"templateId"` // set even where the answer lacks it or has no UUID there
	OwnerID        string            `json:"ownerId"`
	Status         DocumentStatus    `json:"status"`
	CreatedAt      time.Time         `json:"createdAt"`
	PDFLink        string            `json:"pdfLink"`
	FinishedPDFURL string            `json:"finishedPdfUrl"`
	Signers        []Signer          `json:"signers"`
	History        []json.RawMessage `json:"history"` // what an entry contains is not documented by the service
}

// Ref returns the reference for Void and Remind.
func (r *Respondent) Ref() DocumentRef { return TemplateDocument(r.TemplateID, r.ID) }

// SignerIDs returns the ids of Signers, without empty ones. See [TemplateSendResult.SignerIDs].
func (r *Respondent) SignerIDs() []string { return signerIDs(r.Signers) }

// RespondentListParams selects the documents made from a template.
type RespondentListParams struct {
	TemplateID string // UUID, required
	Page       int    // 1-based; 0 means 1; AllRespondents ignores it
	Limit      int    // page size; default 100 for AllRespondents, assumed to be 10 for Respondents; no maximum is documented
}

type wireRespondents struct {
	wirePage
	Respondents []Respondent `json:"respondents" fill:"list"`
}

func (w *wireRespondents) missing(r *run) string {
	return w.missingList("respondents", w.Respondents != nil, r)
}

// Respondents returns page p.Page of the documents made from a template. An answer, shortened:
//
//	{"respondents": [{"respondentDocumentId": "6afac610c07043658fde1996", "templateId": "65afe90c-6eab-4089-8a6f-5b870943305f", "status": "PENDING",
//	  "createdAt": "2026-11-16T09:00:00.125Z", "signers": [{"signerId": "9656bc85-46e1-40d9-828b-81cb4e134d01", "email": "ann@example.com",
//	   "roleTitle": "Client", "status": "VIEWED"}]}],
//	 "pagination": {"currentPage": 1, "totalPages": 1}}
//
// A record is not held against p: a service that ignores the filter answers with documents of other templates, which
// their TemplateID shows. A record without one gets p.TemplateID.
func (s *TemplatesService) Respondents(ctx context.Context, p RespondentListParams) (*Page[Respondent], error) {
	var c checks
	c.uuid("TemplateID", p.TemplateID)
	c.page(p.Page, p.Limit, 0)
	if err := c.err(listRespondents); err != nil {
		return nil, err
	}
	in := inputs{}
	in.set("templateId", p.TemplateID)
	in.set("page", p.Page)
	in.set("limit", p.Limit)
	return s.respondents(ctx, request{method: listRespondents, in: in}, p)
}

func (s *TemplatesService) respondents(ctx context.Context, req request, p RespondentListParams) (*Page[Respondent], error) {
	var answer wireRespondents
	run, err := s.c.perform(ctx, req, &answer)
	if err != nil {
		return nil, err
	}
	for i := range answer.Respondents {
		r := &answer.Respondents[i]
		r.Status = r.Status.normal()
		r.TemplateID = templateID(r.TemplateID, p.TemplateID)
	}
	return newPage(answer.Respondents, p.Page, answer.wirePage, run), nil
}

// AllRespondents yields every document made from a template. It works like [DocumentsService.All].
func (s *TemplatesService) AllRespondents(ctx context.Context, p RespondentListParams) iter.Seq2[*Respondent, error] {
	return list[Respondent]{
		limit: cmp.Or(p.Limit, allLimit),
		id:    func(r *Respondent) string { return r.ID },
		at:    func(r *Respondent) time.Time { return r.CreatedAt },
		fetch: func(ctx context.Context, r paging.Request) (*Page[Respondent], error) {
			p := p
			p.Page, p.Limit = r.Page, r.Limit
			return s.Respondents(ctx, p)
		},
	}.all(ctx)
}

// Respondent returns one document made from a template, or ErrNotFound when the service has none with this id. The id
// is TemplateSendResult.DocumentID. The answer is a list, as for Respondents.
func (s *TemplatesService) Respondent(ctx context.Context, documentID string) (*Respondent, error) {
	var c checks
	c.objectID("documentID", documentID)
	if err := c.err(getRespondent); err != nil {
		return nil, err
	}
	req := request{method: getRespondent, in: inputs{"respondentDocumentId": documentID}}
	page, err := s.respondents(ctx, req, RespondentListParams{})
	if err != nil {
		return nil, err
	}
	return page.only(documentID, func(r *Respondent) string { return r.ID })
}
