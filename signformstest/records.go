package signformstest

import "time"

// Template is a PDF with roles instead of people, to be sent with the client's Templates.Send.
type Template struct {
	Name         string        // not empty
	Roles        []Role        // at least one
	SigningOrder bool          // roles sign in the order of Roles; default: in any
	Variables    []string      // names of its custom variables in square brackets, as in [v1]
	PDF          []byte        // default: an empty page
	ExpiresFor   time.Duration // how long after sending its documents expire; default 0: never
}

// Role is a place for a signer. Receivers name it by Title, exactly. A send may leave a role without a receiver or give
// it several, who sign in any order among themselves, and one address may be several receivers; [Request].Notes tells
// when a role does not have exactly one. What the service does then is not documented.
type Role struct {
	Title  string // not empty, and not that of another role
	Colour string // as the service writes it; may be empty
}

// Form is a list of questions, to be sent with the client's Forms.Send and answered with [Server.SubmitForm].
type Form struct {
	Title     string     // not empty
	Questions []Question // at least one
}

// Question is one question of a [Form].
type Question struct {
	Question string       // not empty, and not that of another one
	Kind     QuestionKind // default TextQuestion
	Required bool         // a submission without an answer to it is refused
	Choices  []string     // of a ChoiceQuestion
}

// QuestionKind says how a [Question] is answered.
type QuestionKind string

// The kinds of questions; which of them the service has is not documented. Answers to all are text.
const (
	TextQuestion     QuestionKind = "text"      // one line; the default
	LongTextQuestion QuestionKind = "long_text" // any number of lines
	ChoiceQuestion   QuestionKind = "choice"    // one of Choices
	DateQuestion     QuestionKind = "date"      // as in "2006-01-02"
	CheckboxQuestion QuestionKind = "checkbox"  // "true" or "false"; a required one must be "true"
)

// Document is a PDF that is out for signing.
type Document struct {
	Name         string        // not empty
	Signers      []Signer      // at least one, unless Draft
	SigningOrder bool          // signers sign in the order of Signers; default: in any
	PDF          []byte        // default: an empty page
	ExpiresFor   time.Duration // how long from now until it expires; default 0: never
	Draft        bool          // not sent yet: nobody can sign it
}

// Signer is one person who has to sign a [Document].
type Signer struct {
	Name  string // may be empty
	Email string // an address alone, without a name: "ann@example.com"
}

// EventFamily is what a webhook subscribes to. Each covers the viewed and signed events of its kind too; the service
// does not document that. So a document's last signature makes two deliveries: that somebody signed, then that all did.
type EventFamily string

// The families of events that a webhook can select, as the service's page calls them. The literals are not documented
// by the service.
const (
	FamilyFormResponse       EventFamily = "new_form_response"
	FamilySignatureCompleted EventFamily = "new_signature_completed" // of PDF documents
	FamilyTemplateResponse   EventFamily = "new_template_response"   // of documents made from templates
)

// Webhook is an endpoint that gets one family of events of some documents.
type Webhook struct {
	URL       string      // absolute, http or https; where deliveries are posted to
	Event     EventFamily // one of the three families; deliveries about a template's document have the template's id as documentId
	Documents []string    // ids of forms, PDF documents or templates, depending on Event; none: all of them, later ones too
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

// AddDocument adds a PDF document, sends it to its signers unless it is a draft, and returns its id. An invalid
// document fails the test.
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
