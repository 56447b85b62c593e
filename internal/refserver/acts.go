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

// Actor is a signer of one document, ready to act. An act that the service refuses changes nothing and returns an
// error. Check it, or the test goes on with a document in another state than it expects.
type Actor struct {
	server   *Server
	document string
	signer   string
	from     Origin
}

// Signer returns a signer of a document: of a PDF document by its documentId, of one made from a template by its
// createdDocumentId. The signer is named by e-mail address, or by signerId where one address has several roles.
func (s *Server) Signer(documentID, emailOrID string) Actor {
	return Actor{server: s, document: documentID, signer: emailOrID, from: Origin{IP: signerIP}}
}

// From returns the signer with another origin than the default, IP 192.0.2.1. Audit entries and events show it.
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

// Sign signs the document, filling in the fields. The last signature completes it. It is an error when a required field
// of the signer is missing, or when a value names none of the signer's fields or is not of the field's kind.
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

// Decline refuses to sign, which ends the document. The reason may be empty, and has at most [MaxReason] characters.
func (a Actor) Decline(reason string) error {
	return a.server.act(a.document, func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.Decline(a.signer, reason, a.from, at)
	})
}

// Pay records the payment of a document, which must be SIGNED.
func (s *Server) Pay(documentID string) error { return s.act(documentID, signing.Document.Pay) }

// Expire expires a document now. It must be in progress.
func (s *Server) Expire(documentID string) error { return s.act(documentID, signing.Document.Expire) }

// Delete deletes a document, which must be a draft or in progress. It stays listed, as DELETED.
func (s *Server) Delete(documentID string) error { return s.act(documentID, signing.Document.Delete) }

// Archive archives a document, unless it is deleted. Its status stays as it is.
func (s *Server) Archive(documentID string) error { return s.act(documentID, signing.Document.Archive) }

// FieldValue is what a signer filled in. Where the document has fields, Name is that of one of the signer's own, and
// Kind, Page and Label are the field's. Where it has none, Name is empty and the rest is free. Completed events carry
// the value under a key such as contact_field(page1)[Buyer].
type FieldValue struct {
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`  // "contact_field" is documented by the service; "text", "date" and "name" were seen
	Page  int    `json:"page,omitempty"`  // from 1
	Label string `json:"label,omitempty"` // usually the role's title
	Value string `json:"value,omitempty"` // at most MaxText characters
	Image []byte `json:"image,omitempty"` // a PNG of at most 1 MiB and 4,000,000 pixels, for initials or a signature, which is more than a dot
}

// Submission is what a respondent enters into a form.
type Submission struct {
	RespondentEmail string            `json:"respondentEmail,omitempty"` // may be empty
	Answers         map[string]string `json:"answers"`                   // by question; each at most MaxText characters
	From            Origin            `json:"from,omitzero"`             // default IP 192.0.2.1
}

// SubmitForm submits a form and returns the formResponseId of the new response. It is an error when there is no such
// form, when an answer is missing that the form requires, when one is not of the question's kind, or when one is to a
// question that the form does not ask.
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

// byField turns answers by question into answers by field, in the form's order.
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

// act runs a command on a document of either kind, at the service's time.
func (s *Server) act(documentID string, command signing.Command) error {
	_, err := s.store.Act(documentID, command)
	return err
}
