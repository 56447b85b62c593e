package signing

import (
	"strings"
	"time"
)

// The acts of signers. Each act names the signer by id or e-mail address, checks that the signer
// may act, calls [Next], and returns the changes. The acts enforce the signing order, even for
// signers who were already invited.

// Command is an operation on a document at a time.
type Command func(d Document, at time.Time) (Change, error)

// Origin is the origin of an act, for the audit trail. Both fields may be empty.
type Origin struct {
	IP        string `json:"ip,omitempty"`        // at most MaxName characters
	UserAgent string `json:"userAgent,omitempty"` // at most 512 bytes are kept
}

// maxUserAgent is how many bytes of a user agent the audit trail keeps.
const maxUserAgent = 512

// from adds the origin of the act to the audit entry.
func (c *Change) from(o Origin) {
	o.UserAgent = strings.ToValidUTF8(o.UserAgent[:min(len(o.UserAgent), maxUserAgent)], "")
	c.Audit[0].Origin = o
}

// SignParams are the inputs of a signature.
type SignParams struct {
	From   Origin
	Values []FieldValue // values that the signer filled in, by name; in a document without fields, any values
}

// View records that a signer opened the document. A second view, or a view after signing, changes
// nothing and causes no event.
func (d Document) View(signer string, from Origin, at time.Time) (Change, error) {
	i, err := d.actor(ActionView, signer, from)
	if err != nil {
		return Change{}, err
	}
	if s := d.Signers[i]; !s.ViewedAt.IsZero() || !s.SignedAt.IsZero() {
		return Change{Document: &d}, nil
	}
	c, err := d.step(ActionView, d.Signers[i].ID, "", at)
	if err != nil {
		return Change{}, err
	}
	c.Document.Signers[i].ViewedAt = c.Document.UpdatedAt
	c.Document.Signers[i].IP = from.IP
	c.from(from)
	c.event(EventSignatureViewed, EventTemplateViewed, i)
	return c, nil
}

// Sign records a signature.
//
// The last signature completes the document. Its Change has the signed event, followed by the
// completed event. No other Change ever has that completed event.
//
// The signer's values are checked against the document's fields. The error is an [*Invalid] if a
// value belongs to no field, a required value is missing, or a value has another kind than its
// field.
func (d Document) Sign(signer string, p SignParams, at time.Time) (Change, error) {
	i, err := d.actor(ActionSign, signer, p.From)
	if err != nil {
		return Change{}, err
	}
	if !d.Signers[i].SignedAt.IsZero() {
		return Change{}, &Refusal{Action: ActionSign, Status: d.Status, Rule: RuleSigned}
	}
	values, err := d.fill(i, p.Values)
	if err != nil {
		return Change{}, err
	}
	action := ActionSign
	if d.pending() == 1 {
		action = ActionComplete
	}
	c, err := d.step(action, d.Signers[i].ID, "", at)
	if err != nil {
		return Change{}, err
	}
	c.Document.Signers[i].SignedAt = c.Document.UpdatedAt
	c.Document.Signers[i].IP = p.From.IP
	c.Document.Values = append(c.Document.Values, values...)
	c.from(p.From)
	if action == ActionComplete {
		c.Document.CompletedAt = c.Document.UpdatedAt
	}
	c.event(EventSignatureSigned, EventTemplateSigned, i)
	if action == ActionComplete {
		c.event(EventSignatureCompleted, EventTemplateResponse, -1)
		c.notifyAll("Completed", "Everyone has signed.")
		return c, nil
	}
	c.invite()
	return c, nil
}

// Decline records that a signer refuses to sign, which ends the document. The interface has no
// event for it; the author is notified by mail.
func (d Document) Decline(signer, reason string, from Origin, at time.Time) (Change, error) {
	i, err := d.actor(ActionDecline, signer, from)
	if err != nil {
		return Change{}, err
	}
	if err := CheckLength("Reason", reason, MaxReason); err != nil {
		return Change{}, err
	}
	if !d.Signers[i].SignedAt.IsZero() {
		return Change{}, &Refusal{Action: ActionDecline, Status: d.Status, Rule: RuleSigned}
	}
	c, err := d.step(ActionDecline, d.Signers[i].ID, reason, at)
	if err != nil {
		return Change{}, err
	}
	s := &c.Document.Signers[i]
	s.DeclinedAt, s.Reason, s.IP = c.Document.UpdatedAt, reason, from.IP
	c.from(from)
	c.notify(d.AuthorEmail, "Declined", "A signer declined to sign.")
	return c, nil
}

// actor finds the signer and checks that the action is allowed now. It checks the status first, so
// that the error for a finished document is about the status and not about the signer's turn.
func (d Document) actor(action Action, signer string, from Origin) (int, error) {
	if _, err := Next(d.Status, action); err != nil {
		return 0, err
	}
	if err := checkName("IP", from.IP); err != nil {
		return 0, err
	}
	i := d.SignerIndex(signer)
	if i < 0 {
		return 0, &Refusal{Action: action, Status: d.Status, Rule: RuleSigner, Signers: d.addresses(func(int) bool { return true })}
	}
	if d.Signers[i].SignedAt.IsZero() && !d.InTurn(i) {
		earlier := func(j int) bool { return d.Signers[j].SignedAt.IsZero() && d.Signers[j].Order < d.Signers[i].Order }
		return 0, &Refusal{Action: action, Status: d.Status, Rule: RuleTurn, Signers: d.addresses(earlier)}
	}
	return i, nil
}

// addresses returns the addresses of the signers that which selects by index, in the order of the
// signers.
func (d Document) addresses(which func(i int) bool) (all []string) {
	for i, s := range d.Signers {
		if which(i) {
			all = append(all, s.Email)
		}
	}
	return all
}
