package refserver

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// signerIP is the address of people who act through the Go methods.
const signerIP = "192.0.2.1"

// Actor is a signer of one document, who can view, sign or decline it. An act that the service
// refuses changes nothing and returns an error. Check the error; otherwise the test continues with
// a document in an unexpected state.
type Actor struct {
	server   *Server
	document string
	signer   string
	from     Origin
}

// Signer returns a signer of a document. documentID is the documentId of a PDF document, or the
// createdDocumentId of a document made from a template. emailOrID is the signer's e-mail address.
// If one address has several roles, use the signerId.
func (s *Server) Signer(documentID, emailOrID string) Actor {
	return Actor{server: s, document: documentID, signer: emailOrID, from: Origin{IP: signerIP}}
}

// From returns the signer with another origin than the default, which is the IP address 192.0.2.1.
// Audit entries and events contain the origin.
func (a Actor) From(o Origin) Actor {
	a.from = o
	return a
}

// View opens the document. A second View changes nothing and causes no event.
func (a Actor) View() error {
	return a.server.act(a.document, func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.View(a.signer, a.from, at)
	})
}

// Sign signs the document and fills in the fields. The last signature completes the document. Sign
// returns an error in these cases:
//
//   - A required field of the signer is missing.
//   - A value names none of the signer's fields.
//   - A value does not have the kind of its field.
func (a Actor) Sign(fields ...FieldValue) error {
	if check := a.server.options.CheckValues; check != nil && len(fields) > 0 {
		if d, ok := a.server.FindDocument(a.document); ok {
			d.Values = nil
			for _, v := range fields {
				d.Values = append(d.Values, SignedValue{SignerID: a.signer, FieldValue: v})
			}
			if err := check(d); err != nil {
				return err
			}
		}
	}
	p := signing.SignParams{From: a.from, Values: convertAll(fields, internalFieldValue)}
	return a.server.act(a.document, func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.Sign(a.signer, p, at)
	})
}

// Decline refuses to sign, which ends the document. The reason may be empty, and may have at most
// [MaxReason] characters.
func (a Actor) Decline(reason string) error {
	return a.server.act(a.document, func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.Decline(a.signer, reason, a.from, at)
	})
}

// Pay records the payment of a document, which must be SIGNED.
func (s *Server) Pay(documentID string) error { return s.act(documentID, signing.Document.Pay) }

// Expire expires a document now. The document must be in progress.
func (s *Server) Expire(documentID string) error { return s.act(documentID, signing.Document.Expire) }

// Delete deletes a document. The document must be a draft or in progress. It stays in lists, with
// the status DELETED.
func (s *Server) Delete(documentID string) error { return s.act(documentID, signing.Document.Delete) }

// Archive archives a document, unless it is deleted. The status of the document does not change.
func (s *Server) Archive(documentID string) error { return s.act(documentID, signing.Document.Archive) }

// FieldValue is a value that a signer filled in. If the document has fields, Name is the name of
// one of the signer's own fields, and Kind, Page and Label are those of the field. If the document
// has no fields, Name is empty and Kind, Page and Label are free. Completed events contain the
// value under a key such as contact_field(page1)[Buyer].
type FieldValue struct {
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`  // "contact_field" is documented by the service; "text", "date" and "name" were observed
	Page  int    `json:"page,omitempty"`  // from 1
	Label string `json:"label,omitempty"` // usually the role's title
	Value string `json:"value,omitempty"` // at most MaxText characters
	Image []byte `json:"image,omitempty"` // a PNG of at most 1 MiB and 4,000,000 pixels, for initials or a signature; a signature must be more than a dot
}

// Submission is what a respondent enters into a form.
type Submission struct {
	RespondentEmail string            `json:"respondentEmail,omitempty"` // may be empty
	Answers         map[string]string `json:"answers"`                   // answers by question; each has at most MaxText characters
	From            Origin            `json:"from,omitzero"`             // origin of the submission; default IP 192.0.2.1
}

// SubmitForm submits a form and returns the formResponseId of the new response. It returns an error
// in these cases:
//
//   - The form does not exist.
//   - A required answer is missing.
//   - An answer does not have the kind of its question.
//   - An answer belongs to no question of the form.
func (s *Server) SubmitForm(formID string, answers Submission) (formResponseID string, err error) {
	var c signing.Change
	err = s.store.Update(func(tx *store.Tx) error {
		form, err := tx.Form(formID)
		if err != nil {
			return err
		}
		p := signing.SubmitParams{RespondentEmail: answers.RespondentEmail, From: answers.From}
		if p.From == (Origin{}) {
			p.From.IP = signerIP
		}
		if p.Answers, err = byField(form, answers.Answers); err != nil {
			return err
		}
		if c, err = form.Submit(p, s.ids, tx.Now); err != nil {
			return err
		}
		tx.Apply(c)
		return nil
	})
	if err != nil {
		return "", err
	}
	return c.Response.ID, nil
}

// byField converts answers by question to answers by field, in the order of the form.
func byField(form signing.Form, answers map[string]string) ([]signing.FormAnswer, error) {
	var out []signing.FormAnswer
	var asked []string
	for _, f := range form.Fields {
		asked = append(asked, f.Question)
		if a, ok := answers[f.Question]; ok {
			out = append(out, signing.FormAnswer{FieldID: f.ID, Answer: a})
		}
	}
	for _, q := range slices.Sorted(maps.Keys(answers)) {
		if !slices.Contains(asked, q) {
			return nil, &signing.Invalid{Field: "answers", Problem: fmt.Sprintf("the form does not ask %.64q; it asks %s", q, signing.Quoted(asked))}
		}
	}
	return out, nil
}

// act runs a command on a document of either kind, at the time of the service's clock.
func (s *Server) act(documentID string, command signing.Command) error {
	_, err := s.store.Act(documentID, command)
	return err
}
