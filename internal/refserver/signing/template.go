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
	PDF         File          `json:",omitzero"` // none: an empty page
	Fields      []Field       `json:",omitzero"` // what signers fill in; documents made from it have the same
	Archived    bool          `json:",omitzero"`
	ExpiresFor  time.Duration `json:",omitzero"` // how long after sending its documents expire; 0: never
	CreatedAt   time.Time     `json:",omitzero"`
	UpdatedAt   time.Time     `json:",omitzero"`
}

// Role is a place for a signer. With a signing order, roles sign in the order of their list. Receivers name it by
// Title, exactly. A send may leave a role without a receiver or give it several, who sign in any order among
// themselves, and one address may be several receivers. What the service does then is not documented.
type Role struct {
	Title  string `json:"title"`            // not empty, and not that of another role
	Colour string `json:"colour,omitempty"` // as the service writes it; may be empty
}

// Receiver is one person that a template or form is sent to.
type Receiver struct {
	Name       string
	Email      string
	RoleTitle  string // must equal a role of the template exactly; unused for forms
	RoleColour string // empty: the role's
	Subject    string // empty: that of Mail
	Message    string // empty: that of Mail
}

// SendParams are the inputs of sending a template or a form.
type SendParams struct {
	Receivers []Receiver
	Mail      Mail
	Variables []Variable
	PDF       []byte // replaces the template's; nil: the template's own
}
