package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// DocumentState is a document as the service has it: a PDF document, or one that was made from a template.
type DocumentState struct {
	ID          string
	Type        signforms.SigningType
	TemplateID  string // of a document made from a template
	Name        string
	Status      signforms.DocumentStatus
	Signers     []SignerState
	CompletedAt time.Time // zero: not completed
}

// SignerState is one signer of a document as the service has it.
type SignerState struct {
	ID         string
	Name       string
	Email      string
	Role       string // title of the role; empty in a PDF document
	Status     signforms.SignerStatus
	Link       signforms.SigningLink // string(Link) is the URL
	SignedAt   time.Time             // zero: not signed
	DeclinedAt time.Time
	Reason     string // for which the signer declined
}

// Document returns the document with the id: a documentId, or the createdDocumentId of one made from a template. An
// unknown id fails the test.
func (s *Server) Document(id string) DocumentState {
	s.t.Helper()
	d, ok := s.service.FindDocument(id)
	if !ok {
		s.t.Fatalf("signformstest: Document: there is no document %.64q", id)
	}
	return publicDocument(d)
}

// Documents returns all documents, newest first: PDF documents, then those made from templates.
func (s *Server) Documents() []DocumentState {
	var all []DocumentState
	for _, made := range []bool{false, true} {
		found, _ := s.service.FindDocuments(refserver.DocumentFilter{FromTemplates: made, Limit: 1 << 30})
		all = append(all, convertAll(found, publicDocument)...)
	}
	return all
}
