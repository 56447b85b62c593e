package signformstest

import (
	"fmt"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Template is a PDF with roles instead of people, to be sent with the client's Templates.Send.
type Template struct {
	Name         string        // not empty
	Roles        []Role        // at least one
	SigningOrder bool          // roles sign in the order of Roles; default: in any
	Variables    []string      // names of its custom variables in square brackets, as in [v1]
	AuthorEmail  string        // default "author@example.com"
	ExpiresFor   time.Duration // how long after sending its documents expire; default 0: never
}

// Role is a place for a signer. Receivers name it by Title, exactly.
type Role struct {
	Title  string // not empty, and not that of another role
	Colour string // as the service writes it; may be empty
}

// Form is a list of questions, to be sent with the client's Forms.Send and answered with [Server.SubmitForm].
type Form struct {
	Title  string  // not empty
	Fields []Field // at least one
}

// Field is one question of a [Form].
type Field struct {
	Question string // not empty, and not that of another field
	Required bool   // a submission without an answer to it is refused
}

// Document is a PDF that is out for signing.
type Document struct {
	Name         string        // not empty
	Signers      []Signer      // at least one, unless Draft
	SigningOrder bool          // signers sign in the order of Signers; default: in any
	AuthorEmail  string        // default "author@example.com"
	ExpiresFor   time.Duration // how long from now until it expires; default 0: never
	Draft        bool          // not sent yet: nobody can sign it
}

// Signer is one person who has to sign a [Document].
type Signer struct {
	Name  string // may be empty
	Email string // an address alone, without a name: "ann@example.com"
}

// EventFamily is what a webhook subscribes to. Each covers the viewed and signed events of its kind too; that it does
// is not documented by the service.
type EventFamily string

// The families of events that a webhook can select. The literals are not documented by the service.
const (
	FormResponse       EventFamily = "new_form_response"
	SignatureCompleted EventFamily = "new_signature_completed"
	TemplateResponse   EventFamily = "new_template_response"
)

// Webhook is an endpoint that gets one family of events of some documents.
type Webhook struct {
	URL       string      // absolute, http or https; where deliveries are posted to
	Event     EventFamily // one of the three families; its deliveries about a template's document have the template's id as documentId
	Documents []string    // ids of forms, PDF documents or templates, as Event asks for; none: all of them, later ones too
	Object    bool        // deliver one JSON object instead of an array of one
}

// AddTemplate adds a template and returns its id. A template that cannot be fails the test.
func (s *Server) AddTemplate(t Template) string {
	s.t.Helper()
	var roles []signing.Role
	for i, r := range t.Roles {
		s.require(r.Title != "", "AddTemplate: Roles[%d].Title is empty", i)
		for _, earlier := range roles {
			s.require(earlier.Title != r.Title, "AddTemplate: two Roles have the Title %q: each needs its own", r.Title)
		}
		roles = append(roles, signing.Role(r))
	}
	for i, v := range t.Variables {
		s.require(len(v) > 2 && strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]"), "AddTemplate: Variables[%d] is %q: it must be in square brackets, as in [v1]", i, v)
	}
	s.require(t.Name != "", "AddTemplate: Name is empty")
	s.require(len(roles) > 0, "AddTemplate: Roles is empty: a template needs one")
	s.require(t.ExpiresFor >= 0, "AddTemplate: ExpiresFor is %v: it must be positive, or 0 for never", t.ExpiresFor)
	return s.ref.AddTemplate(signing.Template{
		Name: t.Name, AuthorEmail: authorOr(t.AuthorEmail), Roles: roles, Ordered: t.SigningOrder, Variables: t.Variables, ExpiresFor: t.ExpiresFor,
	})
}

// AddForm adds a form and returns its id. A form that cannot be fails the test.
func (s *Server) AddForm(f Form) string {
	s.t.Helper()
	var fields []signing.FormField
	for i, field := range f.Fields {
		s.require(field.Question != "", "AddForm: Fields[%d].Question is empty", i)
		for _, earlier := range fields {
			s.require(earlier.Question != field.Question, "AddForm: two Fields have the Question %q: each needs its own", field.Question)
		}
		fields = append(fields, signing.FormField{ID: fmt.Sprintf("q%d", i+1), Question: field.Question, Required: field.Required})
	}
	s.require(f.Title != "", "AddForm: Title is empty")
	s.require(len(fields) > 0, "AddForm: Fields is empty: a form needs one")
	return s.ref.AddForm(signing.Form{Title: f.Title, Fields: fields})
}

// AddDocument adds a PDF document, sends it to its signers unless it is a draft, and returns its id. A document that
// cannot be fails the test.
func (s *Server) AddDocument(d Document) string {
	s.t.Helper()
	s.require(d.Name != "", "AddDocument: Name is empty")
	s.require(d.ExpiresFor >= 0, "AddDocument: ExpiresFor is %v: it must be positive, or 0 for never", d.ExpiresFor)
	record := signing.Document{Name: d.Name, AuthorEmail: authorOr(d.AuthorEmail), Ordered: d.SigningOrder, ExpiresFor: d.ExpiresFor}
	for _, signer := range d.Signers {
		record.Signers = append(record.Signers, signing.Signer{Name: signer.Name, Email: signer.Email})
	}
	id, err := s.ref.AddDocument(record, d.Draft)
	s.require(err == nil, "AddDocument: %v", err)
	return id
}

// AddWebhook adds a webhook and returns its id. It gets what happens from now on. A webhook that cannot be fails the
// test.
func (s *Server) AddWebhook(w Webhook) string {
	s.t.Helper()
	id, err := s.ref.AddWebhook(store.Webhook{URL: w.URL, Family: signing.EventFamily(w.Event), Sources: w.Documents, Bare: w.Object})
	s.require(err == nil, "AddWebhook: %v", err)
	return id
}

// AddAPIKey adds another API key of the server's workspace and returns it. Each key has a reminder limit of its own.
func (s *Server) AddAPIKey() string { return s.ref.AddKey(s.WorkspaceID) }

// AddWorkspace adds another, empty workspace and returns its id and an API key of it, to which nothing of the server's
// own workspace exists.
func (s *Server) AddWorkspace() (workspaceID, apiKey string) {
	id := s.ref.AddWorkspace()
	return id, s.ref.AddKey(id)
}

func authorOr(email string) string {
	if email == "" {
		return refserver.AuthorEmail
	}
	return email
}
