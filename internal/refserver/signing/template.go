package signing

import "time"

// Template is a PDF with roles instead of people. It is listed among the documents of type PDF_TEMPLATE.
type Template struct {
	ID          string        // UUID
	OwnerID     string        `json:",omitzero"`
	Name        string        `json:",omitzero"`
	AuthorEmail string        `json:",omitzero"`
	Roles       []Role        `json:",omitzero"`
	Ordered     bool          `json:",omitzero"` // documents made from it have the signing order of the roles
	Variables   []string      `json:",omitzero"` // names of its custom variables, with their square brackets
	PDF         File          `json:",omitzero"` // without a file, the PDF is an empty page
	Fields      []Field       `json:",omitzero"` // fields that signers fill in; documents made from the template have the same fields
	Archived    bool          `json:",omitzero"`
	ExpiresFor  time.Duration `json:",omitzero"` // time from sending until a document expires; 0: never
	CreatedAt   time.Time     `json:",omitzero"`
	UpdatedAt   time.Time     `json:",omitzero"`
}

// Role is a role that a signer of the document takes. With a signing order, roles sign in the order
// of their list. Receivers name the role by its exact Title. A send may leave a role without a
// receiver, or give it several receivers, who sign in any order among themselves. One address may
// be several receivers. The service does not document its behaviour in these cases.
type Role struct {
	Title  string `json:"title"`            // not empty, and different from all other titles
	Colour string `json:"colour,omitempty"` // in the spelling of the service; may be empty
}

// Receiver is a person to whom a template or form is sent.
type Receiver struct {
	Name       string
	Email      string
	RoleTitle  string // exact title of a role of the template; not used for forms
	RoleColour string // empty: the colour of the role
	Subject    string // empty: the subject of Mail
	Message    string // empty: the message of Mail
}

// SendParams are the inputs of sending a template or a form.
type SendParams struct {
	Receivers []Receiver
	Mail      Mail
	Variables []Variable
	PDF       []byte // replaces the template's PDF; nil: the template's PDF is used
}
