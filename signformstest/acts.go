package signformstest

import (
	"fmt"
	"io"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Actor is a signer of one document, who can view, sign or decline it. An act that the service
// refuses changes nothing and returns an error. Check the error; otherwise the test continues with
// a document in an unexpected state.
type Actor struct {
	server   *Server
	document string
	actor    refserver.Actor
}

// Format prints the document's id for every verb.
func (a Actor) Format(w fmt.State, _ rune) { io.WriteString(w, "signformstest.Actor("+a.document+")") }

// Signer returns a signer of a document. documentID is the documentId of a PDF document, or the
// createdDocumentId of a document made from a template. emailOrID is the signer's e-mail address.
// If one address has several roles, use the signerId.
func (s *Server) Signer(documentID, emailOrID string) Actor {
	return Actor{server: s, document: documentID, actor: s.service.Signer(documentID, emailOrID)}
}

// View opens the document. A second View changes nothing and causes no event.
func (a Actor) View() error { return a.server.acted(a.document, a.actor.View()) }

// Sign signs the document and fills in the values. The last signature completes the document, which
// causes a second event.
func (a Actor) Sign(values ...FieldValue) error {
	return a.server.acted(a.document, a.actor.Sign(convertAll(values, FieldValue.internal)...))
}

// Decline refuses to sign, which ends the document. The reason may be empty. The service sends no
// event for a declined document. It also sends none for a void, expired or deleted one.
func (a Actor) Decline(reason string) error {
	return a.server.acted(a.document, a.actor.Decline(reason))
}

// FieldValue is a value that a signer filled in. Completed events contain it under a key such as
// contact_field(page1)[Buyer].
type FieldValue struct {
	Kind  string // "contact_field" is documented by the service; "text", "date" and "name" were observed
	Page  int    // from 1
	Label string // usually the role's title
	Value string
}

// Void cancels a document, as the client's Documents.Void does. The document must be a draft or in
// progress. Voiding a void document changes nothing.
func (s *Server) Void(documentID string) error {
	return s.acted(documentID, s.service.Void(documentID))
}

// Pay records the payment of a document, which must be SIGNED.
func (s *Server) Pay(documentID string) error { return s.acted(documentID, s.service.Pay(documentID)) }

// Expire expires a document now. The document must be in progress.
func (s *Server) Expire(documentID string) error {
	return s.acted(documentID, s.service.Expire(documentID))
}

// Delete deletes a document. The document must be a draft or in progress. It stays in lists, with
// the status DELETED.
func (s *Server) Delete(documentID string) error {
	return s.acted(documentID, s.service.Delete(documentID))
}

// Archive archives a document, unless it is deleted. The status of the document does not change.
func (s *Server) Archive(documentID string) error {
	return s.acted(documentID, s.service.Archive(documentID))
}

// Submission is what a respondent enters into a form.
type Submission struct {
	RespondentEmail string            // may be empty
	Answers         map[string]string // answers by question
}

// SubmitForm submits a form and returns the formResponseId of the new response. It returns an error
// in these cases:
//
//   - The form does not exist.
//   - A required answer is missing.
//   - An answer does not have the kind of its question.
//   - An answer belongs to no question of the form.
func (s *Server) SubmitForm(formID string, answers Submission) (formResponseID string, err error) {
	id, err := s.service.SubmitForm(formID, answers.internal())
	return id, s.acted(formID, err)
}

// TestWebhook does the same as the "Test Webhook" button of the service. It sends one array to this
// webhook only. The array has a sample event for each tracked document, or for an invented document
// if the webhook tracks everything. The delivery is signed and logged like any other, and its body
// is the same each time. TestWebhook returns the delivery's id. An unknown webhook fails the test.
func (s *Server) TestWebhook(webhookID string) (deliveryID string) {
	s.t.Helper()
	return s.must("TestWebhook")(s.service.TestWebhook(webhookID))
}

// Resend makes a delivery due now, whatever its status, with the same body and a new timestamp and
// signature. If the attempt fails again, the schedule of the delivery continues where it was; a
// dead delivery stays dead. An unknown delivery, or one that is being sent, is an error.
func (s *Server) Resend(deliveryID string) error { return asSDK(s.service.Resend(deliveryID)) }

// RotateWebhookSecret gives a webhook another secret and returns it. All later attempts are signed
// with the new secret, including repeats of earlier deliveries.
func (s *Server) RotateWebhookSecret(webhookID string) (secret string, err error) {
	secret, err = s.service.RotateWebhookSecret(webhookID)
	return secret, asSDK(err)
}
