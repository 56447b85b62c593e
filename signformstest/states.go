package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// DocumentState is the state of a document in the service: of a PDF document, or of a document made
// from a template.
type DocumentState struct {
	ID          string
	Type        signforms.SigningType
	TemplateID  string // set for a document made from a template
	Name        string
	Status      signforms.DocumentStatus
	Signers     []SignerState
	CompletedAt time.Time // zero: not completed
}

// SignerState is the state of one signer of a document in the service.
type SignerState struct {
	ID         string
	Name       string
	Email      string
	Role       string // title of the role; empty in a PDF document
	Status     signforms.SignerStatus
	Link       signforms.SigningLink // string(Link) is the URL
	SignedAt   time.Time             // zero: not signed
	DeclinedAt time.Time
	Reason     string // the reason for which the signer declined
}

// Document returns the document with the id, which is a documentId, or the createdDocumentId of a
// document made from a template. An unknown id fails the test.
func (s *Server) Document(id string) DocumentState {
	s.t.Helper()
	d, ok := s.service.FindDocument(id)
	if !ok {
		s.t.Fatalf("signformstest: Document: there is no document %.64q", id)
	}
	return publicDocument(d)
}

// Documents returns all PDF documents, and then all documents made from templates, each newest
// first.
func (s *Server) Documents() []DocumentState {
	var all []DocumentState
	for _, made := range []bool{false, true} {
		found, _ := s.service.FindDocuments(refserver.DocumentFilter{FromTemplates: made, Limit: 1 << 30})
		all = append(all, convertAll(found, publicDocument)...)
	}
	return all
}
