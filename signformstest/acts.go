package signformstest

import (
	"fmt"
	"io"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Actor is a signer of one document, ready to act. An act that the service refuses changes nothing and returns an
// error. Check it, or the test goes on with a document in another state than it expects.
type Actor struct {
	server   *Server
	document string
	actor    refserver.Actor
}

// Format prints the document's id for every verb.
func (a Actor) Format(w fmt.State, _ rune) { io.WriteString(w, "signformstest.Actor("+a.document+")") }

// Signer returns a signer of a document: of a PDF document by its documentId, of one made from a template by its
// createdDocumentId. The signer is named by e-mail address, or by signerId where one address has several roles.
func (s *Server) Signer(documentID, emailOrID string) Actor {
	return Actor{server: s, document: documentID, actor: s.service.Signer(documentID, emailOrID)}
}

// View opens the document. A second View changes nothing and causes no event.
func (a Actor) View() error { return a.server.acted(a.document, a.actor.View()) }

// Sign signs the document, filling in the values on the way. The last signature completes it: that is a second event.
func (a Actor) Sign(values ...FieldValue) error {
	return a.server.acted(a.document, a.actor.Sign(convertAll(values, FieldValue.internal)...))
}

// Decline refuses to sign, which ends the document. The reason may be empty. The service has no event for it, nor for
// what is void, expired or deleted.
func (a Actor) Decline(reason string) error {
	return a.server.acted(a.document, a.actor.Decline(reason))
}

// FieldValue is what a signer filled in. Completed events carry it under a key such as contact_field(page1)[Buyer].
type FieldValue struct {
	Kind  string // "contact_field" is documented by the service; "text", "date" and "name" were seen
	Page  int    // from 1
	Label string // usually the role's title
	Value string
}

// Void cancels a document, which must be a draft or in progress, as the client's Documents.Void does. Voiding a void
// document changes nothing.
func (s *Server) Void(documentID string) error {
	return s.acted(documentID, s.service.Void(documentID))
}

// Pay records the payment of a document, which must be SIGNED.
func (s *Server) Pay(documentID string) error { return s.acted(documentID, s.service.Pay(documentID)) }

// Expire expires a document now. It must be in progress.
func (s *Server) Expire(documentID string) error {
	return s.acted(documentID, s.service.Expire(documentID))
}

// Delete deletes a document, which must be a draft or in progress. It stays listed, as DELETED.
func (s *Server) Delete(documentID string) error {
	return s.acted(documentID, s.service.Delete(documentID))
}

// Archive archives a document, unless it is deleted. Its status stays as it is.
func (s *Server) Archive(documentID string) error {
	return s.acted(documentID, s.service.Archive(documentID))
}

// Submission is what a respondent enters into a form.
type Submission struct {
	RespondentEmail string            // may be empty
	Answers         map[string]string // by question
}

// SubmitForm submits a form and returns the formResponseId of the new response. It is an error when there is no such
// form, when an answer is missing that the form requires, when one is not of the question's kind, or when one is to a
// question that the form does not ask.
func (s *Server) SubmitForm(formID string, answers Submission) (formResponseID string, err error) {
	id, err := s.service.SubmitForm(formID, answers.internal())
	return id, s.acted(formID, err)
}

// TestWebhook does what the "Test Webhook" button does. It sends to this webhook alone one array with a sample event
// for each tracked document, or for a made-up one when it tracks everything. The delivery is signed and logged like any
// other, and its body is the same each time. It returns the delivery's id. An unknown webhook fails the test.
func (s *Server) TestWebhook(webhookID string) (deliveryID string) {
	s.t.Helper()
	return s.must("TestWebhook")(s.service.TestWebhook(webhookID))
}

// Resend makes a delivery due now, whatever its status, with the same body and a new timestamp and signature. If it
// fails again, its schedule goes on where it was; a dead one stays dead. An unknown one, or one under way, is an error.
func (s *Server) Resend(deliveryID string) error { return asSDK(s.service.Resend(deliveryID)) }

// RotateWebhookSecret gives a webhook another secret and returns it. Later attempts are signed with it, repeats too.
func (s *Server) RotateWebhookSecret(webhookID string) (secret string, err error) {
	secret, err = s.service.RotateWebhookSecret(webhookID)
	return secret, asSDK(err)
}
