package refserver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// AuthorEmail is the author of records that name none.
const AuthorEmail = "author@example.com"

// SignerIP is the address from which signers act that do not come through their signing link.
const SignerIP = "192.0.2.1"

// AddTemplate adds a template to the workspace and returns its id.
func (s *Server) AddTemplate(t signing.Template) string {
	t.ID, t.WorkspaceID = s.ids.UUID(), s.WorkspaceID
	s.store.Update(func(tx *store.Tx) error {
		t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
		w, _ := tx.Workspace(s.WorkspaceID)
		t.OwnerID = w.OwnerID
		tx.PutTemplate(t)
		return nil
	})
	return t.ID
}

// AddForm adds a form to the workspace and returns its id. Its fields get ids, q1 and on, unless they have some.
func (s *Server) AddForm(f signing.Form) string {
	f.ID, f.WorkspaceID = s.ids.UUID(), s.WorkspaceID
	s.store.Update(func(tx *store.Tx) error {
		f.CreatedAt = tx.Now
		tx.PutForm(f)
		return nil
	})
	return f.ID
}

// AddDocument adds a PDF document to the workspace, sends it unless draft, and returns its id.
func (s *Server) AddDocument(d signing.Document, draft bool) (string, error) {
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

// Act runs a command on a document of either kind, at the service's time.
func (s *Server) Act(documentID string, command signing.Command) error {
	_, err := s.store.Act(documentID, command)
	if err != nil {
		s.refuse(documentID, err)
	}
	return s.explain(err)
}

// explain adds to the error for a record that does not exist what its id is of instead.
func (s *Server) explain(err error) error {
	missing, ok := errors.AsType[*store.Missing](err)
	if !ok {
		return err
	}
	kind := ""
	s.store.View(func(tx *store.Tx) error {
		kind = tx.KindOf(s.WorkspaceID, missing.ID)
		return nil
	})
	switch {
	case kind == "":
		return err
	case kind == "template" && missing.What == "document":
		return fmt.Errorf("%w: it is a template's, and sending it makes documents: name one by its createdDocumentId", err)
	}
	return fmt.Errorf("%w: it is the id of a %s", err, kind)
}

func (s *Server) refuse(id string, err error) {
	s.refused.add(fmt.Sprintf("%s %s: %v", s.Now().Format(time.RFC3339Nano), id, err))
}

// RefusedActs returns the newest 100,000 acts that were refused, a line each.
func (s *Server) RefusedActs() []string { return s.refused.all() }

// Submit submits a form, whose answers are given by question, and returns the new response.
func (s *Server) Submit(formID, respondentEmail string, answers map[string]string) (signing.FormResponse, error) {
	var c signing.Change
	err := s.store.Update(func(tx *store.Tx) error {
		form, err := tx.Form(formID)
		if err != nil {
			return err
		}
		p := signing.SubmitParams{RespondentEmail: respondentEmail}
		if p.Answers, err = byField(form, answers); err != nil {
			return err
		}
		if c, err = form.Submit(p, s.ids, tx.Now); err != nil {
			return err
		}
		tx.Apply(c)
		return nil
	})
	if err != nil {
		s.refuse(formID, err)
		return signing.FormResponse{}, s.explain(err)
	}
	return *c.Response, nil
}

// byField turns answers by question into answers by field, in the form's order.
func byField(form signing.Form, answers map[string]string) ([]signing.FormAnswer, error) {
	var out []signing.FormAnswer
	for _, f := range form.Fields {
		if a, ok := answers[f.Question]; ok {
			out = append(out, signing.FormAnswer{FieldID: f.ID, Answer: a})
		}
	}
	if len(out) == len(answers) {
		return out, nil
	}
	known := make([]string, len(form.Fields))
	for i, f := range form.Fields {
		known[i] = strconv.Quote(f.Question)
	}
	for _, q := range slices.Sorted(maps.Keys(answers)) {
		if !slices.ContainsFunc(form.Fields, func(f signing.FormField) bool { return f.Question == q }) {
			return nil, &signing.Invalid{Field: "answers", Message: fmt.Sprintf("the form does not ask %q; it asks %s", q, strings.Join(known, ", "))}
		}
	}
	return out, nil
}

// Message is mail that the service would have sent, with the link in it, which is a secret.
type Message struct {
	signing.Message
	Link string // empty without one
}

// Messages returns all mail, oldest first.
func (s *Server) Messages() []Message {
	var all []Message
	s.store.View(func(tx *store.Tx) error {
		for _, m := range tx.Messages("") {
			link := ""
			if _, err := tx.Form(m.DocumentID); m.Token != "" && err == nil {
				link = s.links.Form(m.Token)
			} else if m.Token != "" {
				link = s.links.Sign(m.Token)
			}
			all = append(all, Message{m, link})
		}
		return nil
	})
	return all
}

// Audit returns the audit trail of a document or form, oldest first, with the addresses of signers as actors.
func (s *Server) Audit(id string) (trail []signing.AuditEntry) {
	s.store.View(func(tx *store.Tx) error {
		trail = tx.Audit(id)
		d, err := tx.Document(id)
		for i := range trail {
			if signer := slices.IndexFunc(d.Signers, func(s signing.Signer) bool { return s.ID == trail[i].Actor }); signer >= 0 {
				trail[i].Actor = d.Signers[signer].Email
			}
		}
		return err
	})
	return trail
}

// AddKey adds an API key of the workspace and returns it.
func (s *Server) AddKey(workspaceID string) string {
	key := s.ids.Token()
	s.store.Update(func(tx *store.Tx) error {
		tx.PutKey(key, workspaceID)
		return nil
	})
	return key
}

// AddWorkspace adds another, empty workspace and returns its id.
func (s *Server) AddWorkspace() string {
	id := s.ids.UUID()
	s.store.Update(func(tx *store.Tx) error {
		tx.PutWorkspace(store.Workspace{ID: id, OwnerID: s.ids.UUID()})
		return nil
	})
	return id
}
