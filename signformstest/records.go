package signformstest

import (
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// authorEmail is the author of records that name none.
const authorEmail = "author@example.com"

// Template is a PDF with roles instead of people, to be sent with the client's Templates.Send.
type Template struct {
	Name         string          // not empty
	Roles        []Role          // at least one
	SigningOrder bool            // roles sign in the order of Roles; default: in any
	PDF          []byte          // default: an empty page
	Fields       []TemplateField // what signers fill in; default: nothing that is asked for
	Variables    []string        // names of its custom variables in square brackets, as in [v1]
	AuthorEmail  string          // default "author@example.com"
	ExpiresFor   time.Duration   // how long after sending its documents expire; default 0: never
}

// Role is a place for a signer. Receivers name it by Title, exactly. A send may leave a role without a receiver or give it
// several, who sign in any order among themselves, and one address may be several receivers; [Request].Notes tells when a role has
// not just one. What the service does then is not documented; [Profile].StrictRoles refuses it.
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
	Question string       // not empty, and not that of another field
	Kind     QuestionKind // default TextQuestion
	Required bool         // a submission without an answer to it is refused
	Choices  []string     // of a ChoiceQuestion
}

// Document is a PDF that is out for signing.
type Document struct {
	Name         string          // not empty
	Signers      []Signer        // at least one, unless Draft
	SigningOrder bool            // signers sign in the order of Signers; default: in any
	PDF          []byte          // default: an empty page
	Fields       []TemplateField // what signers fill in; default: nothing that is asked for
	AuthorEmail  string          // default "author@example.com"
	ExpiresFor   time.Duration   // how long from now until it expires; default 0: never
	Draft        bool            // not sent yet: nobody can sign it
}

// Signer is one person who has to sign a [Document].
type Signer struct {
	Name  string // may be empty
	Email string // an address alone, without a name: "ann@example.com"
}

// AddTemplate adds a template and returns its id. A template that cannot be fails the test.
func (s *Server) AddTemplate(t Template) string {
	s.t.Helper()
	for i, r := range t.Roles {
		s.require(r.Title != "", "AddTemplate: Roles[%d].Title is empty", i)
		for _, earlier := range t.Roles[:i] {
			s.require(earlier.Title != r.Title, "AddTemplate: two Roles have the Title %q: each needs its own", r.Title)
		}
	}
	for i, v := range t.Variables {
		s.require(len(v) > 2 && strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]"), "AddTemplate: Variables[%d] is %q: it must be in square brackets, as in [v1]", i, v)
	}
	s.require(t.Name != "", "AddTemplate: Name is empty")
	s.require(len(t.Roles) > 0, "AddTemplate: Roles is empty: a template needs one")
	s.require(t.ExpiresFor >= 0, "AddTemplate: ExpiresFor is %v: it must be positive, or 0 for never", t.ExpiresFor)
	record := internalTemplate(t)
	err := record.Check()
	s.require(err == nil, "AddTemplate: %v", err)
	record.ID, record.WorkspaceID = s.ids.UUID(), s.WorkspaceID
	s.store.Update(func(tx *store.Tx) error {
		record.CreatedAt, record.UpdatedAt = tx.Now, tx.Now
		w, _ := tx.Workspace(s.WorkspaceID)
		record.OwnerID = w.OwnerID
		tx.PutTemplate(record)
		return nil
	})
	return record.ID
}

// AddForm adds a form and returns its id. A form that cannot be fails the test.
func (s *Server) AddForm(f Form) string {
	s.t.Helper()
	s.require(f.Title != "", "AddForm: Title is empty")
	s.require(len(f.Fields) > 0, "AddForm: Fields is empty: a form needs one")
	record := internalForm(f)
	err := record.Check()
	s.require(err == nil, "AddForm: %v", err)
	record.ID, record.WorkspaceID = s.ids.UUID(), s.WorkspaceID
	s.store.Update(func(tx *store.Tx) error {
		record.CreatedAt = tx.Now
		tx.PutForm(record)
		return nil
	})
	return record.ID
}

// AddDocument adds a PDF document, sends it to its signers unless it is a draft, and returns its id. A document that
// cannot be fails the test.
func (s *Server) AddDocument(d Document) string {
	s.t.Helper()
	s.require(d.Name != "", "AddDocument: Name is empty")
	s.require(d.ExpiresFor >= 0, "AddDocument: ExpiresFor is %v: it must be positive, or 0 for never", d.ExpiresFor)
	id, err := s.addDocument(internalDocument(d), d.Draft)
	s.require(err == nil, "AddDocument: %v", err)
	return id
}

// addDocument adds a PDF document to the workspace and sends it unless draft.
func (s *Server) addDocument(d signing.Document, draft bool) (string, error) {
	d.Kind, d.WorkspaceID = signing.KindPDF, s.WorkspaceID
	err := s.store.Update(func(tx *store.Tx) error {
		w, err := tx.Workspace(s.WorkspaceID)
		if err != nil {
			return err
		}
		d.OwnerID = w.OwnerID
		c, err := signing.Create(d, s.ids, tx.Now)
		if err != nil {
			return err
		}
		tx.Apply(c)
		d.ID = c.Document.ID
		if draft {
			return nil
		}
		if c, err = c.Document.Send(tx.Now); err != nil {
			return err
		}
		tx.Apply(c)
		return nil
	})
	return d.ID, err
}

// AddAPIKey adds another API key of the server's workspace and returns it. Each key has a reminder limit of its own.
func (s *Server) AddAPIKey() string {
	key := s.ids.Token()
	s.store.Update(func(tx *store.Tx) error {
		tx.PutKey(key, s.WorkspaceID)
		return nil
	})
	return key
}

// AddWorkspace adds another, empty workspace and returns its id and an API key of it, to which nothing of the server's
// own workspace exists.
func (s *Server) AddWorkspace() (workspaceID, apiKey string) {
	w := store.Workspace{ID: s.ids.UUID(), OwnerID: s.ids.UUID()}
	apiKey = s.ids.Token()
	s.addWorkspace(w, apiKey)
	return w.ID, apiKey
}

func (s *Server) addWorkspace(w store.Workspace, apiKey string) {
	s.store.Update(func(tx *store.Tx) error {
		tx.PutWorkspace(w)
		tx.PutKey(apiKey, w.ID)
		return nil
	})
}
