package control

import (
	"time"

	"github.com/signforms/signforms-go/signformstest"
)

// Template is the input for a new template.
type Template struct {
	Key          string     `json:"key,omitempty" yaml:"key"` // in a seed: a name for it that webhooks of the seed can use
	Name         string     `json:"name" yaml:"name"`
	Roles        []Role     `json:"roles" yaml:"roles"`
	SigningOrder bool       `json:"signingOrder,omitempty" yaml:"signingOrder"` // roles sign in the order of Roles
	PDF          []byte     `json:"pdf,omitempty" yaml:"pdf"`                   // in base64; in a seed file the name of a file; default: an empty page
	Fields       []PDFField `json:"fields,omitempty" yaml:"fields"`             // what signers fill in
	Variables    []string   `json:"variables,omitempty" yaml:"variables"`       // in square brackets, as in [fee]
	AuthorEmail  string     `json:"authorEmail,omitempty" yaml:"authorEmail"`
	ExpiresFor   Duration   `json:"expiresFor,omitempty" yaml:"expiresFor"` // after sending
}

// PDFField is a place in a PDF that a signer fills in. X, Y, Width and Height are fractions of the visible page, measured from
// its top left corner.
type PDFField struct {
	Name     string  `json:"name" yaml:"name"`
	Role     string  `json:"role" yaml:"role"` // title of a role; in a document the signer's e-mail address
	Kind     string  `json:"kind" yaml:"kind"` // signature, initials, text, date or checkbox
	Required bool    `json:"required,omitempty" yaml:"required"`
	Page     int     `json:"page" yaml:"page"` // from 1
	X        float64 `json:"x" yaml:"x"`
	Y        float64 `json:"y" yaml:"y"`
	Width    float64 `json:"width" yaml:"width"`
	Height   float64 `json:"height" yaml:"height"`
}

func (f PDFField) public() signformstest.TemplateField {
	return signformstest.TemplateField{
		Name: f.Name, Role: f.Role, Kind: signformstest.FieldKind(f.Kind), Required: f.Required, Page: f.Page, X: f.X, Y: f.Y, Width: f.Width, Height: f.Height,
	}
}

func publicFields(fields []PDFField) (out []signformstest.TemplateField) {
	for _, f := range fields {
		out = append(out, f.public())
	}
	return out
}

// Role is a place for a signer in a template.
type Role struct {
	Title  string `json:"title" yaml:"title"`
	Colour string `json:"colour,omitempty" yaml:"colour"`
}

func (t Template) public() signformstest.Template {
	out := signformstest.Template{
		Name: t.Name, SigningOrder: t.SigningOrder, PDF: t.PDF, Fields: publicFields(t.Fields), Variables: t.Variables, AuthorEmail: t.AuthorEmail, ExpiresFor: time.Duration(t.ExpiresFor),
	}
	for _, r := range t.Roles {
		out.Roles = append(out.Roles, signformstest.Role(r))
	}
	return out
}

// Form is the input for a new form.
type Form struct {
	Key    string  `json:"key,omitempty" yaml:"key"` // as in a Template
	Title  string  `json:"title" yaml:"title"`
	Fields []Field `json:"fields" yaml:"fields"`
}

// Field is one question of a form.
type Field struct {
	Question string   `json:"question" yaml:"question"`
	Kind     string   `json:"kind,omitempty" yaml:"kind"`       // text, long_text, choice, date or checkbox; default text
	Choices  []string `json:"choices,omitempty" yaml:"choices"` // of a choice
	Required bool     `json:"required,omitempty" yaml:"required"`
}

func (f Form) public() signformstest.Form {
	out := signformstest.Form{Title: f.Title}
	for _, field := range f.Fields {
		out.Fields = append(out.Fields, signformstest.Field{
			Question: field.Question, Kind: signformstest.QuestionKind(field.Kind), Required: field.Required, Choices: field.Choices,
		})
	}
	return out
}

// Document is the input for a new PDF document.
type Document struct {
	Key          string     `json:"key,omitempty" yaml:"key"` // as in a Template
	Name         string     `json:"name" yaml:"name"`
	Signers      []Signer   `json:"signers" yaml:"signers"`
	SigningOrder bool       `json:"signingOrder,omitempty" yaml:"signingOrder"` // signers sign in the order of Signers
	PDF          []byte     `json:"pdf,omitempty" yaml:"pdf"`                   // as in a Template
	Fields       []PDFField `json:"fields,omitempty" yaml:"fields"`
	AuthorEmail  string     `json:"authorEmail,omitempty" yaml:"authorEmail"`
	ExpiresFor   Duration   `json:"expiresFor,omitempty" yaml:"expiresFor"` // from now
	Draft        bool       `json:"draft,omitempty" yaml:"draft"`           // not sent yet
}

// Signer is one person who has to sign.
type Signer struct {
	Name  string `json:"name,omitempty" yaml:"name"`
	Email string `json:"email" yaml:"email"`
}

func (d Document) public() signformstest.Document {
	out := signformstest.Document{
		Name: d.Name, SigningOrder: d.SigningOrder, PDF: d.PDF, Fields: publicFields(d.Fields), AuthorEmail: d.AuthorEmail, ExpiresFor: time.Duration(d.ExpiresFor), Draft: d.Draft,
	}
	for _, s := range d.Signers {
		out.Signers = append(out.Signers, signformstest.Signer{Name: s.Name, Email: s.Email})
	}
	return out
}

// Webhook is the input for a new webhook.
type Webhook struct {
	URL       string   `json:"url" yaml:"url"`
	Event     string   `json:"event" yaml:"event"`                   // new_template_response, new_signature_completed or new_form_response
	Documents []string `json:"documents,omitempty" yaml:"documents"` // ids, or in a seed keys; none: all
	Object    bool     `json:"object,omitempty" yaml:"object"`       // one JSON object instead of an array of one
}

func (w Webhook) public() signformstest.Webhook {
	return signformstest.Webhook{URL: w.URL, Event: signformstest.EventFamily(w.Event), Documents: w.Documents, Object: w.Object}
}

// Origin says where an act came from, for the audit trail. Both fields may be empty.
type Origin struct {
	IP        string `json:"ip,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
}

// Viewing is a signer who opens a document.
type Viewing struct {
	Signer string `json:"signer"` // e-mail address, or signerId where one address has several roles
	From   Origin `json:"from,omitzero"`
}

// Signature is what a signer enters.
type Signature struct {
	Signer string       `json:"signer"`
	Fields []FieldValue `json:"fields,omitempty"`
	From   Origin       `json:"from,omitzero"`
}

// FieldValue is one value that a signer fills in. In a document with fields, Name is the name of one of the signer's fields. In a
// document without fields, Name is empty, and Kind, Page and Label can be anything.
type FieldValue struct {
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Page  int    `json:"page,omitempty"` // from 1
	Label string `json:"label,omitempty"`
	Value string `json:"value,omitempty"`
	Image []byte `json:"image,omitempty"` // a PNG in base64, for a signature or initials
}

func (f FieldValue) public() signformstest.FieldValue {
	return signformstest.FieldValue{Name: f.Name, Kind: f.Kind, Page: f.Page, Label: f.Label, Value: f.Value, Image: f.Image}
}

// Refusal is the input of a signer who declines.
type Refusal struct {
	Signer string `json:"signer"`
	Reason string `json:"reason,omitempty"`
	From   Origin `json:"from,omitzero"`
}

// Submission is what a respondent enters into a form.
type Submission struct {
	RespondentEmail string            `json:"respondentEmail,omitempty"`
	Answers         map[string]string `json:"answers"` // by question
	From            Origin            `json:"from,omitzero"`
}

// Advance moves the clock.
type Advance struct {
	By Duration `json:"by"`
}

// Wait bounds how long a request may wait.
type Wait struct {
	Timeout Duration `json:"timeout,omitempty"` // default 30s, at most 10m
}

// Since selects the deliveries that are sent again: those of events since this time.
type Since struct {
	Since time.Time `json:"since,omitzero"`
}
