package signing

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The actors in audit entries who are not signers.
const (
	ActorAuthor     = "author"
	ActorService    = "service"
	ActorRespondent = "respondent"
)

// Create begins a document as a draft. Empty ids are set by ids: a UUID for a PDF, 24 hexadecimal
// digits for a document from a template. Signers get ids and tokens. A signer whose Order is 0 gets
// it from the signer's position in the list. The signers of a draft may still lack their address,
// and then have no fields.
//
// The error is an [*Invalid] if a name is too long, the address of the author is malformed, or a
// field of a PDF does not fit.
func Create(d Document, ids *IDs, at time.Time) (Change, error) {
	at = instant(at)
	if d.ID == "" && d.Kind == KindTemplate {
		d.ID = ids.ObjectID(at)
	} else if d.ID == "" {
		d.ID = ids.UUID()
	}
	d.Signers = slices.Clone(d.Signers)
	if err := cmp.Or(CheckCount("Signers", len(d.Signers), MaxPeople), d.checkNames()); err != nil {
		return Change{}, err
	}
	if d.Kind == KindPDF {
		if err := CheckFields(d.Fields, d.addresses(func(int) bool { return true }), d.PDF); err != nil {
			return Change{}, err
		}
	}
	for i := range d.Signers {
		s := &d.Signers[i]
		if s.ID == "" {
			s.ID = ids.UUID()
		}
		if s.Token == "" {
			s.Token = ids.Token()
		}
		if s.Order == 0 {
			s.Order = i + 1
		}
	}
	d.Status, d.CreatedAt, d.UpdatedAt = StatusDraft, at, at
	return Change{
		Document: &d,
		Audit:    []AuditEntry{{RecordID: d.ID, At: at, Action: ActionCreate, Actor: ActorAuthor, To: StatusDraft}},
	}, nil
}

// checkNames checks the names. Send checks the form of signers' addresses, because a draft may lack
// them.
func (d Document) checkNames() error {
	names := []named{{"Name", d.Name}}
	for i, s := range d.Signers {
		names = append(names, named{fmt.Sprintf("Signers[%d].Name", i), s.Name}, named{fmt.Sprintf("Signers[%d].Email", i), s.Email})
	}
	if err := checkNames(names...); err != nil || d.AuthorEmail == "" {
		return err
	}
	return checkEmail("AuthorEmail", d.AuthorEmail)
}

// Send puts a draft in progress and invites the signers whose turn it is.
func (d Document) Send(at time.Time) (Change, error) {
	if len(d.Signers) == 0 {
		return Change{}, &Invalid{Field: "Signers", Problem: "is empty: a document needs one before it can be sent"}
	}
	for i, s := range d.Signers {
		if err := checkEmail(fmt.Sprintf("Signers[%d].Email", i), s.Email); err != nil {
			return Change{}, err
		}
	}
	c, err := d.step(ActionSend, ActorAuthor, "", at)
	if err != nil {
		return Change{}, err
	}
	c.Document.SentAt = c.Document.UpdatedAt
	if d.ExpiresFor > 0 {
		c.Document.ExpiresAt = c.Document.SentAt.Add(d.ExpiresFor)
	}
	c.invite()
	return c, nil
}

// Void cancels a document. Voiding a void document succeeds and changes nothing.
func (d Document) Void(at time.Time) (Change, error) {
	if d.Status == StatusVoid {
		return Change{Document: &d}, nil
	}
	c, err := d.step(ActionVoid, ActorAuthor, "", at)
	if err != nil {
		return Change{}, err
	}
	c.noticeInvited("Voided", "The document was voided. There is nothing left to sign.")
	return c, nil
}

// Remind writes to the signers whose turn it is. The Change's messages are the reminders; there may
// be none.
func (d Document) Remind(at time.Time) (Change, error) {
	c, err := d.step(ActionRemind, ActorAuthor, "", at)
	if err != nil {
		return Change{}, err
	}
	for i := range d.Signers {
		if d.Status == StatusPending && d.InTurn(i) {
			c.mail(MessageReminder, i)
		}
	}
	c.Audit[0].Note = fmt.Sprintf("%d reminded", len(c.Messages))
	c.Document.UpdatedAt = d.UpdatedAt // a reminder does not change the document
	return c, nil
}

// Expire ends a document that has expired.
func (d Document) Expire(at time.Time) (Change, error) {
	c, err := d.step(ActionExpire, ActorService, "", at)
	if err != nil {
		return Change{}, err
	}
	c.noticeInvited("Expired", "The document expired before everyone had signed.")
	return c, nil
}

// Pay records the payment for a signed document.
func (d Document) Pay(at time.Time) (Change, error) { return d.step(ActionPay, ActorService, "", at) }

// Delete deletes a document that is not finished. It stays in lists, with the status DELETED.
func (d Document) Delete(at time.Time) (Change, error) {
	return d.step(ActionDelete, ActorAuthor, "", at)
}

// Archive archives a document. Its status does not change. Archiving an archived document changes
// nothing.
func (d Document) Archive(at time.Time) (Change, error) {
	c, err := d.step(ActionArchive, ActorAuthor, "", at)
	if err != nil {
		return Change{}, err
	}
	if d.Archived {
		return Change{Document: &d}, nil
	}
	c.Document.Archived = true
	return c, nil
}

// step makes the transition of an action. It returns a copy of d in its next status, with the audit
// entry.
func (d Document) step(action Action, actor, note string, at time.Time) (Change, error) {
	next, err := Next(d.Status, action)
	if err != nil {
		return Change{}, err
	}
	entry := AuditEntry{RecordID: d.ID, At: instant(at), Action: action, Actor: actor, From: d.Status, To: next, Note: note}
	d = d.Clone()
	d.Status, d.UpdatedAt = next, entry.At
	return Change{Document: &d, Audit: []AuditEntry{entry}}, nil
}

// event adds an event with the current state of c's document.
func (c *Change) event(pdf, template EventType, signer int) {
	e := Event{Type: pdf, At: c.Document.UpdatedAt, SourceID: c.Document.SourceID(), Signer: signer}
	if c.Document.Kind == KindTemplate {
		e.Type = template
	}
	e.Document = c.Document
	c.Events = append(c.Events, e)
}

// instant converts at to the form of records: UTC in whole milliseconds, as the interface shows it.
// With finer times, a document could fall outside a date filter that was copied from its own
// createdAt.
func instant(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }
