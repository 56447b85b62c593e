package refserver

import (
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TemplateState is the state of a template in the service.
type TemplateState struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Roles        []Role          `json:"roles"`
	SigningOrder bool            `json:"signingOrder,omitempty"`
	Fields       []TemplateField `json:"fields,omitempty"`
	Variables    []string        `json:"variables,omitempty"`
	AuthorEmail  string          `json:"authorEmail"`
	Archived     bool            `json:"archived,omitempty"`
	ExpiresFor   time.Duration   `json:"expiresFor,omitempty"` // time from sending until a document expires; 0: never
	CreatedAt    time.Time       `json:"createdAt"`
	UpdatedAt    time.Time       `json:"updatedAt"`        // last change by [Server.ChangeTemplate]
	HasPDF       bool            `json:"hasPdf,omitempty"` // it has a PDF of its own, which [Server.TemplatePDF] returns
	Documents    int             `json:"documents"`        // number of documents made from it
}

// DocumentState is the state of a document in the service: of a PDF document, or of a document made
// from a template.
type DocumentState struct {
	ID           string          `json:"id"`
	Type         Kind            `json:"type"`
	TemplateID   string          `json:"templateId,omitempty"` // set for a document made from a template
	Name         string          `json:"name"`
	AuthorEmail  string          `json:"authorEmail"`
	Status       Status          `json:"status"`
	SigningOrder bool            `json:"signingOrder,omitempty"`
	Archived     bool            `json:"archived,omitempty"`
	Signers      []SignerState   `json:"signers"`
	Fields       []TemplateField `json:"fields,omitempty"` // in a document made from a template, Role is the title of a role
	Values       []SignedValue   `json:"values,omitempty"` // in the order in which they were entered
	CreatedAt    time.Time       `json:"createdAt"`
	SentAt       time.Time       `json:"sentAt,omitzero"`      // zero: never sent
	CompletedAt  time.Time       `json:"completedAt,omitzero"` // zero: not completed
	ExpiresAt    time.Time       `json:"expiresAt,omitzero"`   // zero: never

	HasPDF   bool   `json:"hasPdf,omitempty"`   // it or its template has a PDF; otherwise its PDF is an empty page
	Finished bool   `json:"finished,omitempty"` // its finished file exists; otherwise the first request makes the file
	PDF      []byte `json:"pdf,omitempty"`      // set only in calls of [Options].Finish; otherwise use [Server.DocumentPDF]
}

// SignerState is the state of one signer of a document in the service.
type SignerState struct {
	ID         string       `json:"id"`
	Name       string       `json:"name,omitempty"`
	Email      string       `json:"email"`
	Role       string       `json:"role,omitempty"` // title of the role; empty in a PDF document
	Order      int          `json:"order"`          // counted from 1; signers with the same Order act in any order
	Status     SignerStatus `json:"status"`
	InTurn     bool         `json:"inTurn,omitempty"`   // the signing order permits the signer to act now
	Link       Link         `json:"link,omitempty"`     // string(Link) is the URL
	InvitedAt  time.Time    `json:"invitedAt,omitzero"` // zero: not invited yet; the same holds for the times below
	ViewedAt   time.Time    `json:"viewedAt,omitzero"`
	SignedAt   time.Time    `json:"signedAt,omitzero"`
	DeclinedAt time.Time    `json:"declinedAt,omitzero"`
	Reason     string       `json:"reason,omitempty"` // the reason for which the signer declined
	IP         string       `json:"ip,omitempty"`     // IP address of the last act; empty before the first act
}

// SignedValue is a value that a signer entered. Lists leave out its Image.
type SignedValue struct {
	SignerID string `json:"signerId"`
	FieldValue
}

// FormState is the state of a form in the service.
type FormState struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Fields    []Field   `json:"fields"`
	CreatedAt time.Time `json:"createdAt"`
	Responses int       `json:"responses"`
}

// ResponseState is the state of a form response in the service.
type ResponseState struct {
	ID              string    `json:"formResponseId"` // formResponseId, a UUID
	ObjectID        string    `json:"responseId"`     // responseId, 24 hexadecimal digits
	FormID          string    `json:"formId"`
	RespondentEmail string    `json:"respondentEmail,omitempty"` // empty: unknown
	Answers         []Answer  `json:"answers"`
	SubmittedAt     time.Time `json:"submittedAt"`
}

// Answer is the answer to one question.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// WebhookState is the state of a webhook in the service.
type WebhookState struct {
	ID string `json:"id"`
	Webhook
	Secret    string    `json:"secret"` // secret that signs its deliveries
	Disabled  bool      `json:"disabled"`
	Relay     string    `json:"relay,omitempty"` // the relay of [Server.SetRelay] to which it belongs; empty: none
	CreatedAt time.Time `json:"createdAt"`
}

// DocumentFilter selects documents. The zero value selects the newest 100 PDF documents.
type DocumentFilter struct {
	FromTemplates bool   // documents made from templates instead of PDF documents
	Status        Status // empty: any
	Query         string // part of the name, in any letter case
	Email         string // part of the address of a signer, in any letter case
	Offset        int    // how many to skip
	Limit         int    // how many to return at most; 0: 100
}

// FindDocuments returns the documents of the server's workspace that match, newest first, and the
// number of all matching documents.
func (s *Server) FindDocuments(f DocumentFilter) (page []DocumentState, total int) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	q := store.Query{
		Status: signing.Status(f.Status), Text: f.Query,
		Page: store.Page{Offset: int64(max(f.Offset, 0)), Limit: f.Limit},
	}
	if f.Email != "" { // no list is sorted by address
		q.Page = everything
	}
	var find store.Found[signing.Document]
	s.store.View(func(tx *store.Tx) error {
		if find = tx.Documents(q); f.FromTemplates {
			find = tx.FromTemplates(q)
		}
		return nil
	})
	found, total := find()
	if f.Email != "" {
		found = slices.DeleteFunc(found, func(d *signing.Document) bool { return !signs(d, strings.ToLower(f.Email)) })
		total = len(found)
		found = found[min(max(f.Offset, 0), total):]
		found = found[:min(f.Limit, len(found))]
	}
	for _, d := range found {
		page = append(page, s.publicDocument(*d))
	}
	return page, total
}

// signs reports whether a signer's address contains text, which must be in lower case.
func signs(d *signing.Document, text string) bool {
	return slices.ContainsFunc(d.Signers, func(s signing.Signer) bool { return strings.Contains(strings.ToLower(s.Email), text) })
}

// FindDocument returns the document with the id: a documentId, or the createdDocumentId of a
// document made from a template.
func (s *Server) FindDocument(id string) (d DocumentState, ok bool) {
	var record signing.Document
	if d, ok = find(s, (*store.Tx).Document, id, func(found signing.Document) DocumentState {
		record = found
		return s.publicDocument(found)
	}); ok {
		s.readImages(&d, record)
	}
	return d, ok
}

// find looks up one record.
func find[From, To any](s *Server, get func(*store.Tx, string) (From, error), id string, convert func(From) To) (out To, ok bool) {
	var found From
	err := s.store.View(func(tx *store.Tx) (err error) {
		found, err = get(tx, id)
		return err
	})
	if err == nil {
		out = convert(found)
	}
	return out, err == nil
}

// Templates returns the templates of the server's workspace, newest first.
func (s *Server) Templates() (all []TemplateState) {
	var found []*signing.Template
	var documents []int // numbers of documents made from each template
	s.store.View(func(tx *store.Tx) error {
		found, _ = tx.Templates(store.Query{Page: everything})()
		for _, t := range found {
			documents = append(documents, tx.CountRespondents(t.ID, ""))
		}
		return nil
	})
	for i, t := range found {
		all = append(all, publicTemplate(*t, documents[i]))
	}
	return all
}

// everything is the page that holds all records.
var everything = store.Page{Limit: 1 << 30}

// FindTemplate returns the template with the id.
func (s *Server) FindTemplate(id string) (t TemplateState, ok bool) {
	err := s.store.View(func(tx *store.Tx) error {
		found, err := tx.Template(id)
		t = publicTemplate(found, tx.CountRespondents(id, ""))
		return err
	})
	return t, err == nil
}

// Forms returns the forms of the server's workspace, newest first.
func (s *Server) Forms() (all []FormState) {
	var found []*signing.Form
	var responses []int // numbers of responses to each form
	s.store.View(func(tx *store.Tx) error {
		found, _ = tx.Forms(store.Query{Page: everything})()
		for _, f := range found {
			responses = append(responses, countResponses(tx, f.ID))
		}
		return nil
	})
	for i, f := range found {
		all = append(all, publicForm(*f, responses[i]))
	}
	return all
}

func countResponses(tx *store.Tx, formID string) int {
	_, total := tx.Responses(formID, store.Page{})
	return total
}

// FindForm returns the form with the id.
func (s *Server) FindForm(id string) (f FormState, ok bool) {
	err := s.store.View(func(tx *store.Tx) error {
		found, err := tx.Form(id)
		f = publicForm(found, countResponses(tx, id))
		return err
	})
	return f, err == nil
}

// Responses returns the responses to a form, newest first.
func (s *Server) Responses(formID string) (all []ResponseState) {
	var found []*signing.FormResponse
	s.store.View(func(tx *store.Tx) error {
		found, _ = tx.Responses(formID, everything)
		return nil
	})
	for _, r := range found {
		all = append(all, publicResponse(*r))
	}
	return all
}

// FindResponse returns the form response with the id, which is a formResponseId or a responseId.
func (s *Server) FindResponse(id string) (r ResponseState, ok bool) {
	return find(s, (*store.Tx).Response, id, publicResponse)
}

// Webhooks returns the webhooks of the server's workspace, oldest first.
func (s *Server) Webhooks() (all []WebhookState) {
	s.store.View(func(tx *store.Tx) error {
		for _, w := range tx.Webhooks() {
			all = append(all, publicWebhook(w))
		}
		return nil
	})
	return all
}

// SigningLink finds the document and the signer of a signing link. token is the last part of the
// link's path.
func (s *Server) SigningLink(token string) (d DocumentState, signerID string, ok bool) {
	var found signing.Document
	var signer int
	s.store.View(func(tx *store.Tx) error {
		found, signer, ok = tx.DocumentByToken(token)
		return nil
	})
	if ok {
		d, signerID = s.publicDocument(found), found.Signers[signer].ID
		s.readImages(&d, found)
	}
	return d, signerID, ok
}

// FormLink finds the form of a form link, and the address to which the link was sent. token is the
// last part of the link's path.
func (s *Server) FormLink(token string) (f FormState, email string, ok bool) {
	err := s.store.View(func(tx *store.Tx) error {
		link, ok := tx.FormLink(token)
		if !ok {
			return &store.Missing{What: "link"}
		}
		found, err := tx.Form(link.FormID)
		f, email = publicForm(found, countResponses(tx, link.FormID)), link.Email
		return err
	})
	return f, email, err == nil
}
