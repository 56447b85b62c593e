package refserver

// TemplateField is a place in the PDF of a [Template] or [Document] that a signer fills in when signing. The service's own
// fields are not documented.
type TemplateField struct {
	Name     string    `json:"name"`               // not empty, and not that of another field; in completed events it is the label of the field's key
	Role     string    `json:"role"`               // title of the role that fills it in; in a Document the signer's e-mail address
	Kind     FieldKind `json:"kind"`               // what goes into it
	Required bool      `json:"required,omitempty"` // nobody of the role can sign without it

	Page int `json:"page"` // from 1; without a PDF there is one page, and how many a PDF has is not checked

	// X and Y are the field's top left corner and Width and Height its size, as fractions of the visible page (cropped and
	// rotated, as a reader shows it), from the page's top left.
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// FieldKind says what goes into a [TemplateField].
type FieldKind string

// The kinds of fields. Completed events carry all but signatures and initials.
const (
	SignatureField FieldKind = "signature" // a name as text, or a picture
	InitialsField  FieldKind = "initials"  // the same, shorter
	TextField      FieldKind = "text"
	DateField      FieldKind = "date"     // as in "2006-01-02"
	CheckboxField  FieldKind = "checkbox" // "true" or "false"; a required one must be "true"
)

// FieldValue is what a signer filled in. Where the document has fields, Name is that of one of the signer's own, and Kind, Page
// and Label are the field's. Where it has none, Name is empty and the rest is free. Completed events carry the value under a
// key such as contact_field(page1)[Buyer].
type FieldValue struct {
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`  // "contact_field" is documented by the service; "text", "date" and "name" were seen
	Page  int    `json:"page,omitempty"`  // from 1
	Label string `json:"label,omitempty"` // usually the role's title
	Value string `json:"value,omitempty"` // at most MaxText characters
	Image []byte `json:"image,omitempty"` // a PNG of at most 1 MiB and 4,000,000 pixels, for initials or a signature, which is more than a dot
}

// QuestionKind says how a [Field] of a form is answered.
type QuestionKind string

// The kinds of questions; which of them the service has is not documented. Answers to all are text.
const (
	TextQuestion     QuestionKind = "text"      // one line; the default
	LongTextQuestion QuestionKind = "long_text" // any number of lines
	ChoiceQuestion   QuestionKind = "choice"    // one of Choices
	DateQuestion     QuestionKind = "date"      // as in "2006-01-02"
	CheckboxQuestion QuestionKind = "checkbox"  // "true" or "false"; a required one must be "true"
)

// Origin is where an act came from, for the audit trail.
type Origin struct {
	IP        string `json:"ip,omitempty"`        // at most MaxName characters
	UserAgent string `json:"userAgent,omitempty"` // at most 512 bytes are kept
}
