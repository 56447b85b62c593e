package signing

import (
	"cmp"
	"fmt"
	"net/mail"
)

// The messages of a change, which the service would have mailed. The service's own texts are used
// only if neither the receiver nor the request contains a text.

// invite writes to the signers whose turn it is and who were not invited before.
func (c *Change) invite() {
	for i := range c.Document.Signers {
		if s := &c.Document.Signers[i]; s.InvitedAt.IsZero() && c.Document.InTurn(i) {
			s.InvitedAt = c.Document.UpdatedAt
			c.mail(MessageInvitation, i)
		}
	}
}

// mail writes to the signer at index i, and includes the signing link.
func (c *Change) mail(kind MessageKind, i int) {
	d, s := c.Document, c.Document.Signers[i]
	fallback := "Please sign: " + d.Name
	if kind == MessageReminder {
		fallback = "Reminder: please sign " + d.Name
	}
	c.Messages = append(c.Messages, Message{
		Kind:       kind,
		DocumentID: d.ID,
		To:         s.Email,
		Subject:    cmp.Or(s.Subject, d.Mail.Subject, fallback),
		Body:       cmp.Or(s.Message, d.Mail.Message),
		Token:      s.Token,
		At:         c.Audit[len(c.Audit)-1].At,
	})
}

// notify writes a notice to one address.
func (c *Change) notify(to, what, body string) {
	if to == "" {
		return
	}
	c.Messages = append(c.Messages, Message{
		Kind:       MessageNotice,
		DocumentID: c.Document.ID,
		To:         to,
		Subject:    what + ": " + c.Document.Name,
		Body:       body,
		At:         c.Audit[len(c.Audit)-1].At,
	})
}

// noticeInvited writes to everyone who got an invitation.
func (c *Change) noticeInvited(what, body string) {
	for _, s := range c.Document.Signers {
		if !s.InvitedAt.IsZero() {
			c.notify(s.Email, what, body)
		}
	}
}

// notifyAll writes to the author and everyone who got an invitation.
func (c *Change) notifyAll(what, body string) {
	c.notify(c.Document.AuthorEmail, what, body)
	c.noticeInvited(what, body)
}

// check checks the lengths. at is the path of the mail in the request.
func (m Mail) check(at string) error {
	return cmp.Or(checkName(at+"subject", m.Subject), CheckLength(at+"message", m.Message, MaxText))
}

// checkEmail returns an error unless email is one address without a name.
func checkEmail(field, email string) error {
	if err := checkName(field, email); err != nil {
		return err
	}
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		return &Invalid{Field: field, Problem: fmt.Sprintf("must be an e-mail address alone, as in ann@example.com, not %.64q", email)}
	}
	return nil
}
