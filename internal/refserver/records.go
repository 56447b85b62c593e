package refserver

import "time"

// authorEmail is the author of records that name none.
const authorEmail = "author@example.com"

// Template is a PDF with roles instead of people, to be sent with the client's Templates.Send.
type Template struct {
	Name         string          `json:"name"`                   // not empty
	Roles        []Role          `json:"roles"`                  // at least one
	SigningOrder bool            `json:"signingOrder,omitempty"` // roles sign in the order of Roles; default: in any order
	PDF          []byte          `json:"pdf,omitempty"`          // default: an empty page
	Fields       []TemplateField `json:"fields,omitempty"`       // fields that signers fill in; default: no field is required
	Variables    []string        `json:"variables,omitempty"`    // names of the custom variables in square brackets, such as [v1]
	AuthorEmail  string          `json:"authorEmail,omitempty"`  // default "author@example.com"
	ExpiresFor   time.Duration   `json:"expiresFor,omitempty"`   // time from sending until the document expires; default 0: never
}

// Form is a list of questions, to be sent with the client's Forms.Send and answered with [Server.SubmitForm].
type Form struct {
	Title  string  `json:"title"`  // not empty
	Fields []Field `json:"fields"` // at least one
}

// Field is one question of a [Form].
type Field struct {
	Question string       `json:"question"`           // not empty, and different from all other questions
	Kind     QuestionKind `json:"kind,omitempty"`     // default TextQuestion
	Required bool         `json:"required,omitempty"` // a submission without an answer to it is refused
	Choices  []string     `json:"choices,omitempty"`  // the choices of a ChoiceQuestion
}

// Document is a PDF that was sent for signing.
type Document struct {
	Name         string          `json:"name"`                   // not empty
	Signers      []Signer        `json:"signers"`                // at least one, unless Draft
	SigningOrder bool            `json:"signingOrder,omitempty"` // signers sign in the order of Signers; default: in any order
	PDF          []byte          `json:"pdf,omitempty"`          // default: an empty page
	Fields       []TemplateField `json:"fields,omitempty"`       // fields that signers fill in; default: no field is required
	AuthorEmail  string          `json:"authorEmail,omitempty"`  // default "author@example.com"
	ExpiresFor   time.Duration   `json:"expiresFor,omitempty"`   // time from now until the document expires; default 0: never
	Draft        bool            `json:"draft,omitempty"`        // not sent yet: nobody can sign it
}

// Signer is a person who has to sign a [Document].
type Signer struct {
	Name  string `json:"name,omitempty"` // may be empty
	Email string `json:"email"`          // only an address, without a name: "ann@example.com"
}

// Webhook is an endpoint that gets the events of one family, for some or all documents.
type Webhook struct {
	URL       string      `json:"url"`                 // URL to which deliveries are posted; absolute, http or https, at most MaxURL characters
	Event     EventFamily `json:"event"`               // one of the three families; in deliveries about a document made from a template, documentId is the template's id
	Documents []string    `json:"documents,omitempty"` // ids of forms, PDF documents or templates, depending on Event; empty: all of them, including later ones
	Object    bool        `json:"object,omitempty"`    // deliver one JSON object instead of an array with one object
}
