package signformstest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Request is one API request that was answered, or that the service tried to answer.
type Request struct {
	ID           int64               `json:"id"`                  // from 1, ascending over all requests since the start
	At           time.Time           `json:"at"`                  // when it arrived, by the service's clock
	Operation    signforms.Operation `json:"operation,omitempty"` // empty: the path is not one of the service's
	Method       string              `json:"method"`
	Path         string              `json:"path"`                  // at most 1,000 bytes of it, as of RequestID
	WorkspaceID  string              `json:"workspaceId,omitempty"` // that the API key acts for; empty: not authenticated
	RequestID    string              `json:"requestId,omitempty"`   // x-request-id as sent
	Header       http.Header         `json:"header"`                // without the API key and other secrets
	Query        url.Values          `json:"query"`                 // as much of it as could be read, without secrets
	RawQuery     string              `json:"rawQuery,omitempty"`    // as sent, without secrets, if a part of it could not be read; empty: all of it is in Query
	Body         []byte              `json:"body,omitempty"`        // the first 64 KiB; of a request that was refused before, what came until the answer
	BodySize     int64               `json:"bodySize,omitempty"`    // of the whole body in bytes: as announced, otherwise as far as it was read
	Cut          bool                `json:"cut,omitempty"`         // Header, Query, RawQuery, Body, AnswerHeader and Answer were dropped since, to bound the log
	Missing      []string            `json:"missing,omitempty"`     // required inputs that were not there
	Notes        []string            `json:"notes,omitempty"`       // what was ignored and why, what was taken in another spelling than the published one, and other hints
	Rule         string              `json:"rule,omitempty"`        // that refused it: "path", "method", "api key", "workspace", "limit", "size", "media type", "input", "exists", "status" or "storage"; empty: none
	StatusCode   int                 `json:"status"`                // of the answer; 0: none was written
	Code         string              `json:"code,omitempty"`        // of an error answer
	Message      string              `json:"message,omitempty"`     // of an error answer
	Counted      bool                `json:"counted,omitempty"`     // a reminder that counts towards the limit
	AnswerHeader http.Header         `json:"answerHeader,omitempty"`
	Answer       []byte              `json:"answer,omitempty"`     // the first 4 KiB of the answer's body, which may hold signing links
	AnswerLost   bool                `json:"answerLost,omitempty"` // the work may be done, but the client did not get the answer

	line string
}

// String describes the request in one line. Of what the client sent it has the method, the beginning of the path, and names of
// inputs and variables, but no ids and values.
func (r Request) String() string { return r.line }

// Message is mail that the service would have sent.
type Message struct {
	ID         int64                 `json:"id"`         // from 1, ascending over all messages
	Kind       string                `json:"kind"`       // "invitation", "reminder" or "notice"
	DocumentID string                `json:"documentId"` // the document, or the form
	To         string                `json:"to"`
	Subject    string                `json:"subject"`
	Body       string                `json:"body"`
	Link       signforms.SigningLink `json:"link,omitempty"` // string(Link) opens the document or form, and signs the document with POST; empty in notices
	At         time.Time             `json:"at"`             // by the service's clock
}

// String describes the message in one line without its link, which is a secret, and without personal data.
func (m Message) String() string {
	return fmt.Sprintf("%s %s about %s", m.At.Format(time.RFC3339), m.Kind, m.DocumentID)
}

// DocumentState is a document as the service has it: a PDF document, or one that was made from a template.
type DocumentState struct {
	ID           string                   `json:"id"`
	Type         signforms.SigningType    `json:"type"`
	TemplateID   string                   `json:"templateId,omitempty"` // of a document made from a template
	Name         string                   `json:"name"`
	AuthorEmail  string                   `json:"authorEmail"`
	Status       signforms.DocumentStatus `json:"status"`
	SigningOrder bool                     `json:"signingOrder,omitempty"`
	Archived     bool                     `json:"archived,omitempty"`
	Signers      []SignerState            `json:"signers"`
	Fields       []TemplateField          `json:"fields,omitempty"` // in a document made from a template, Role is the title of a role
	Values       []SignedValue            `json:"values,omitempty"` // in the order in which they were entered
	CreatedAt    time.Time                `json:"createdAt"`
	SentAt       time.Time                `json:"sentAt,omitzero"`      // zero: never sent
	CompletedAt  time.Time                `json:"completedAt,omitzero"` // zero: not completed
	ExpiresAt    time.Time                `json:"expiresAt,omitzero"`   // zero: never

	HasPDF bool `json:"hasPdf,omitempty"` // of its own, or its template's; else its PDF is an empty page
}

// SignerState is one signer of a document as the service has it.
type SignerState struct {
	ID         string                 `json:"id"`
	Name       string                 `json:"name,omitempty"`
	Email      string                 `json:"email"`
	Role       string                 `json:"role,omitempty"` // title of the role; empty in a PDF document
	Order      int                    `json:"order"`          // from 1; signers with the same act in any order
	Status     signforms.SignerStatus `json:"status"`
	InTurn     bool                   `json:"inTurn,omitempty"`   // may act now as far as the signing order goes
	Link       signforms.SigningLink  `json:"link,omitempty"`     // string(Link) is the URL
	InvitedAt  time.Time              `json:"invitedAt,omitzero"` // zero: not invited yet; as the others
	ViewedAt   time.Time              `json:"viewedAt,omitzero"`
	SignedAt   time.Time              `json:"signedAt,omitzero"`
	DeclinedAt time.Time              `json:"declinedAt,omitzero"`
	Reason     string                 `json:"reason,omitempty"` // for which the signer declined
	IP         string                 `json:"ip,omitempty"`     // of the last act; empty before
}

// Fault makes API requests go wrong on purpose. Operation and DocumentID select requests, Nth, Times and Probability say which of
// these it happens to, and the other fields say what happens:
//
//	srv.Fail(signformstest.Fault{Status: 503})                                               // every request is refused
//	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, AfterWork: true}) // every send works, and its answer is lost
//	srv.Fail(signformstest.Fault{DocumentID: lease, Nth: 2, Status: 500})                    // the second request about the lease fails
//	srv.Fail(signformstest.Fault{Times: 3, Status: 429, RetryAfter: "1"})                    // the next three requests are too many
//
// A request that is refused for its path, its method, its key, its body or the reminder limit matches no fault. The faults that match
// a request are asked in the order in which they were set. Each counts the request, until one happens to it: those after it do not
// count it. What happens can be combined. With Latency alone, the request is answered as usual. A fault of which a part can never
// happen is refused, such as Cut in an answer without a body. A happening is counted when the client can notice it. Cut beyond the
// end of an answer is not counted as one, but keeps the request from later faults, as the work is done by then.
type Fault struct {
	Operation   signforms.Operation `json:"operation,omitempty"`   // as in signforms.OpSend; empty: any
	DocumentID  string              `json:"documentId,omitempty"`  // a documentId, templateId, formId, createdDocumentId or responseId that the request carries, of a record or not; empty: any
	Nth         int                 `json:"nth,omitempty"`         // number of the match, from 1, on which it happens, and with Times on later ones too; 0: from the first on
	Times       int                 `json:"times,omitempty"`       // happens this often at most; 0: no limit
	Probability float64             `json:"probability,omitempty"` // of happening on each of those, 0 to 1, from Options.Seed; 0: certain, as is 1

	AfterWork   bool          `json:"afterWork,omitempty"`   // do the work first, so that its answer gets lost or is wrong
	Latency     time.Duration `json:"latency,omitempty"`     // wait this long, by the wall clock; with AfterWork after the work; 0: not at all
	Reset       bool          `json:"reset,omitempty"`       // reset the connection instead of answering; net/http repeats a GET then if the connection was used before
	Status      int           `json:"status,omitempty"`      // answer with this status, 200 to 599, and do no work unless AfterWork is set; 0: that of the work, or 200 with Body
	Body        string        `json:"body,omitempty"`        // answer with this body, and do no work unless AfterWork is set; empty: that of the work, or with Status none
	ContentType string        `json:"contentType,omitempty"` // of the answer; default application/json
	RetryAfter  string        `json:"retryAfter,omitempty"`  // Retry-After header of the answer, any text without control characters; empty: none, or the service's own
	Cut         int           `json:"cut,omitempty"`         // break the connection after this many bytes of the answer's body; 0, or no fewer than it has: not at all
	Drip        time.Duration `json:"drip,omitempty"`        // wait this long between any two bytes of the answer's body; 0: not at all
	Unknown     bool          `json:"unknown,omitempty"`     // put statuses that no client knows into the answer, and a new field into each object
	WrongTypes  bool          `json:"wrongTypes,omitempty"`  // swap strings with numbers and booleans in the answer
}

// DocumentFilter selects documents. The zero value selects the newest 100 PDF documents.
type DocumentFilter struct {
	FromTemplates bool                     // documents made from templates instead of PDF documents
	Status        signforms.DocumentStatus // empty: any
	Query         string                   // part of the name, in any case
	Email         string                   // part of the address of a signer, in any case
	Offset        int                      // how many to skip
	Limit         int                      // how many to return at most; 0: 100
}

// RequestFilter selects API requests. Zero fields select everything.
type RequestFilter struct {
	ID         int64 // 0: any
	Operation  signforms.Operation
	StatusCode int       // of the answer
	Misses     bool      // only those that were refused, or that have Notes
	Since      time.Time // arrived then or later
	Offset     int       // how many to skip
	Limit      int       // how many to return at most; 0: 100
}

// Fail makes API requests go wrong from now on. The function that it returns takes the fault back, and does nothing once the server
// is closed. An invalid fault fails the test.
func (s *Server) Fail(f Fault) (remove func()) {
	s.t.Helper()
	return s.Server.Fail(f.internal())
}

// Requests returns the newest API requests, in the order in which they were answered.
func (s *Server) Requests() []Request { return convertAll(s.Server.Requests(), publicRequest) }

// Messages returns the newest mail, oldest first.
func (s *Server) Messages() []Message { return convertAll(s.Server.Messages(), publicMessage) }

// FindDocument returns the document with the id: a documentId, or the createdDocumentId of one made from a template.
func (s *Server) FindDocument(id string) (DocumentState, bool) {
	d, ok := s.Server.FindDocument(id)
	return publicDocument(d), ok
}

// FindDocuments returns the documents of the server's workspace that match, newest first, and how many match in all.
func (s *Server) FindDocuments(f DocumentFilter) (page []DocumentState, total int) {
	found, total := s.Server.FindDocuments(refserver.DocumentFilter{
		FromTemplates: f.FromTemplates, Status: refserver.Status(f.Status), Query: f.Query, Email: f.Email, Offset: f.Offset, Limit: f.Limit,
	})
	return convertAll(found, publicDocument), total
}
