package signing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file sends templates and forms.

// Instantiate makes a document from the template for its receivers and sends it. Each receiver
// becomes a signer with a separate link. A role may have no receiver, or several, who sign in any
// order among themselves. One address may be several receivers. Invalid inputs are an [*Invalid].
func (t Template) Instantiate(p SendParams, ids *IDs, at time.Time) (Change, error) {
	if err := p.check(); err != nil {
		return Change{}, err
	}
	d := Document{
		Kind: KindTemplate, TemplateID: t.ID, OwnerID: t.OwnerID,
		Name: t.Name, AuthorEmail: t.AuthorEmail, Ordered: t.Ordered,
		Variables: slices.Clone(p.Variables), Mail: p.Mail, PDF: NewFile(p.PDF), Fields: t.Fields, ExpiresFor: t.ExpiresFor,
	}
	if d.PDF.SHA256 == "" {
		d.PDF = t.PDF
	}
	for i, r := range p.Receivers {
		role := slices.IndexFunc(t.Roles, func(role Role) bool { return role.Title == r.RoleTitle })
		if role < 0 {
			return Change{}, t.noRole(i, r.RoleTitle)
		}
		d.Signers = append(d.Signers, Signer{
			Name: r.Name, Email: r.Email, RoleTitle: r.RoleTitle, RoleColour: cmp.Or(r.RoleColour, t.Roles[role].Colour),
			Order: role + 1, Subject: r.Subject, Message: r.Message,
		})
	}
	created, err := Create(d, ids, at)
	if err != nil {
		return Change{}, err
	}
	sent, err := created.Document.Send(at)
	if err != nil {
		return Change{}, err
	}
	sent.Audit = append(created.Audit, sent.Audit...)
	return sent, nil
}

// noRole returns the error for a title that is not exactly that of a role. If the title differs
// only in letter case or white space, the error contains the exact title.
func (t Template) noRole(receiver int, title string) error {
	field := fmt.Sprintf("receiversList[%d].roleTitle", receiver)
	if title == "" {
		return &Invalid{Field: field, Problem: "is required; the template's roles are " + Quoted(t.titles())}
	}
	for _, role := range t.Roles {
		if strings.EqualFold(strings.TrimSpace(role.Title), strings.TrimSpace(title)) {
			return &Invalid{Field: field, Problem: fmt.Sprintf("%q must be exactly %q", title, role.Title)}
		}
	}
	return &Invalid{Field: field, Problem: fmt.Sprintf("%q is not a role of the template, which has %s", title, Quoted(t.titles()))}
}

// titles returns the titles of the roles.
func (t Template) titles() []string {
	titles := make([]string, len(t.Roles))
	for i, role := range t.Roles {
		titles[i] = role.Title
	}
	return titles
}

// EachRoleOnce returns an [*Invalid] unless each role of the template has exactly one of the receivers.
func (t Template) EachRoleOnce(receivers []Receiver) error {
	for _, role := range t.Roles {
		n := 0
		for _, r := range receivers {
			if r.RoleTitle == role.Title {
				n++
			}
		}
		if n != 1 {
			return &Invalid{Field: "receiversList", Problem: fmt.Sprintf("must fill each role of the template once; %q has %d receivers", role.Title, n)}
		}
	}
	return nil
}

// check returns the errors that do not depend on the template.
func (p SendParams) check() error {
	if n := len(p.Receivers); n < 1 || n > MaxPeople {
		return &Invalid{Field: "receiversList", Problem: fmt.Sprintf("must have 1 to %d receivers, has %d", MaxPeople, n)}
	}
	if err := cmp.Or(CheckCount("customVariables", len(p.Variables), MaxList), p.Mail.check("mailData.")); err != nil {
		return err
	}
	for i, r := range p.Receivers {
		if err := r.check(fmt.Sprintf("receiversList[%d].", i)); err != nil {
			return err
		}
	}
	for i, v := range p.Variables {
		at := fmt.Sprintf("customVariables[%d].", i)
		if err := cmp.Or(checkName(at+"varName", v.Name), CheckLength(at+"varValue", v.Value, MaxText)); err != nil {
			return err
		}
		if len(v.Name) < 3 || v.Name[0] != '[' || v.Name[len(v.Name)-1] != ']' {
			return &Invalid{Field: at + "varName", Problem: "must be in square brackets, as in [v1]"}
		}
	}
	return nil
}

// check checks the receiver. at is the path of the receiver in the request.
func (r Receiver) check(at string) error {
	if strings.TrimSpace(r.Name) == "" {
		return &Invalid{Field: at + "name", Problem: "is required"}
	}
	return cmp.Or(
		checkEmail(at+"email", r.Email),
		checkNames(named{at + "name", r.Name}, named{at + "roleTitle", r.RoleTitle}, named{at + "roleColour", r.RoleColour}),
		Mail{Subject: r.Subject, Message: r.Message}.check(at),
	)
}

// Send writes to the receivers with a link to the form. Any of them can then submit it. Each
// message has its own token, so that a link shows who submits the form.
func (f Form) Send(p SendParams, ids *IDs, at time.Time) (Change, error) {
	if err := p.check(); err != nil {
		return Change{}, err
	}
	at = instant(at)
	c := Change{Audit: []AuditEntry{{
		RecordID: f.ID, At: at, Action: ActionSend, Actor: ActorAuthor, Note: fmt.Sprintf("%d receivers", len(p.Receivers)),
	}}}
	for _, r := range p.Receivers {
		c.Messages = append(c.Messages, Message{
			Kind:       MessageInvitation,
			DocumentID: f.ID,
			To:         r.Email,
			Subject:    cmp.Or(r.Subject, p.Mail.Subject, "Please fill in: "+f.Title),
			Body:       cmp.Or(r.Message, p.Mail.Message),
			Token:      ids.Token(),
			At:         at,
		})
	}
	return c, nil
}

// Submit makes a response from the answers, in the order of the form's fields. The error is an
// [*Invalid] if an answer belongs to no field, an answer has the wrong kind, or a required answer
// is missing. Any other missing answer becomes an empty one.
func (f Form) Submit(p SubmitParams, ids *IDs, at time.Time) (Change, error) {
	for _, a := range p.Answers {
		if !slices.ContainsFunc(f.Fields, func(field FormField) bool { return field.ID == a.FieldID }) {
			return Change{}, &Invalid{Field: "answers", Problem: fmt.Sprintf("the form has no field %.64q", a.FieldID)}
		}
	}
	if err := checkNames(named{"RespondentEmail", p.RespondentEmail}, named{"IP", p.From.IP}); err != nil {
		return Change{}, err
	}
	at = instant(at)
	r := FormResponse{
		ID: ids.UUID(), ObjectID: ids.ObjectID(at), FormID: f.ID,
		RespondentEmail: p.RespondentEmail, SubmittedAt: at,
	}
	for _, field := range f.Fields {
		answer := FormAnswer{FieldID: field.ID, Question: field.Question}
		if i := slices.IndexFunc(p.Answers, func(a FormAnswer) bool { return a.FieldID == field.ID }); i >= 0 {
			answer.Answer = p.Answers[i].Answer
		}
		if err := field.check(answer.Answer); err != nil {
			return Change{}, err
		}
		r.Answers = append(r.Answers, answer)
	}
	c := Change{
		Response: &r,
		Audit:    []AuditEntry{{RecordID: f.ID, At: at, Action: ActionSubmit, Actor: ActorRespondent, Note: r.ID}},
		Events: []Event{{
			Type: EventFormResponse, At: at, SourceID: f.ID, Signer: -1, Form: &f, Response: &r,
		}},
	}
	c.from(p.From)
	return c, nil
}
