package signformstest

import "time"

// Template is a PDF with roles instead of people, to be sent with the client's Templates.Send.
type Template struct {
	Name         string        // not empty
	Roles        []Role        // at least one
	SigningOrder bool          // roles sign in the order of Roles; default: in any order
	Variables    []string      // names of the custom variables in square brackets, such as [v1]
	PDF          []byte        // default: an empty page
	ExpiresFor   time.Duration // time from sending until the document expires; default 0: never
}

// Role is a role that a signer of the document takes. Receivers name the role by its exact Title.
//
// A send may leave a role without a receiver, or give it several receivers, who sign in any order
// among themselves. One address may be several receivers. [Request].Notes reports each role that
// does not have exactly one receiver. The service does not document its behaviour in these cases.
type Role struct {
	Title  string // not empty, and different from all other titles
	Colour string // in the spelling of the service; may be empty
}

// Form is a list of questions, to be sent with the client's Forms.Send and answered with [Server.SubmitForm].
type Form struct {
	Title     string     // not empty
	Questions []Question // at least one
}

// Question is one question of a [Form].
type Question struct {
	Question string       // not empty, and different from all other questions
	Kind     QuestionKind // default TextQuestion
	Required bool         // a submission without an answer to it is refused
	Choices  []string     // the choices of a ChoiceQuestion
}

// QuestionKind is the kind of answer that a [Question] requires.
type QuestionKind string

// The kinds of questions. The service does not document which of them it has. All answers are text.
const (
	TextQuestion     QuestionKind = "text"      // one line; the default
	LongTextQuestion QuestionKind = "long_text" // any number of lines
	ChoiceQuestion   QuestionKind = "choice"    // one of Choices
	DateQuestion     QuestionKind = "date"      // a date such as "2006-01-02"
	CheckboxQuestion QuestionKind = "checkbox"  // "true" or "false"; a required one must be "true"
)

// Document is a PDF that was sent for signing.
type Document struct {
	Name         string        // not empty
	Signers      []Signer      // at least one, unless Draft
	SigningOrder bool          // signers sign in the order of Signers; default: in any order
	PDF          []byte        // default: an empty page
	ExpiresFor   time.Duration // time from now until the document expires; default 0: never
	Draft        bool          // not sent yet: nobody can sign it
}

// Signer is a person who has to sign a [Document].
type Signer struct {
	Name  string // may be empty
	Email string // only an address, without a name: "ann@example.com"
}

// EventFamily is a group of events to which a webhook subscribes. Each family also includes the
// viewed and signed events of its kind, which the service does not document. So the last signature
// of a document makes two deliveries: the first for the signature, and the second for the completed
// document.
type EventFamily string

// The families of events that a webhook can select, named as on the service's page. The service
// does not document the literals.
const (
	FamilyFormResponse       EventFamily = "new_form_response"
	FamilySignatureCompleted EventFamily = "new_signature_completed" // of PDF documents
	FamilyTemplateResponse   EventFamily = "new_template_response"   // of documents made from templates
)

// Webhook is an endpoint that gets the events of one family, for some or all documents.
type Webhook struct {
	URL       string      // URL to which deliveries are posted; absolute, http or https
	Event     EventFamily // one of the three families; in deliveries about a document made from a template, documentId is the template's id
	Documents []string    // ids of forms, PDF documents or templates, depending on Event; empty: all of them, including later ones
}

// AddTemplate adds a template and returns its id. An invalid template fails the test.
func (s *Server) AddTemplate(t Template) (id string) {
	s.t.Helper()
	return s.must("AddTemplate")(s.service.AddTemplate(t.internal()))
}

// AddForm adds a form and returns its id. An invalid form fails the test.
func (s *Server) AddForm(f Form) (id string) {
	s.t.Helper()
	return s.must("AddForm")(s.service.AddForm(f.internal()))
}

// AddDocument adds a PDF document and returns its id. Unless the document is a draft, AddDocument
// sends it to its signers. An invalid document fails the test.
func (s *Server) AddDocument(d Document) (id string) {
	s.t.Helper()
	return s.must("AddDocument")(s.service.AddDocument(d.internal()))
}

// AddWebhook adds a webhook and returns its id. It receives the events from now on. An invalid webhook fails the test.
func (s *Server) AddWebhook(w Webhook) (id string) {
	s.t.Helper()
	return s.must("AddWebhook")(s.service.AddWebhook(w.internal()))
}

// AddAPIKey adds another API key of the server's workspace and returns it. Each key has a reminder limit of its own.
func (s *Server) AddAPIKey() string {
	s.t.Helper()
	return s.must("AddAPIKey")(s.service.AddAPIKey())
}
