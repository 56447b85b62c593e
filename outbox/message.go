package outbox

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
)

// State is how far a message is: pending → sending → sent, failed or undecided; sent → ended; cancelled.
type State string

// The states of a message.
const (
	Pending   State = "pending"   // waits to be sent
	Sending   State = "sending"   // a request was begun, and its outcome is not recorded
	Sent      State = "sent"      // the service has made the document
	Ended     State = "ended"     // Entry.Status is final: signed, declined, void, expired or deleted
	Failed    State = "failed"    // not sent; Entry.Err is the reason
	Undecided State = "undecided" // a person decides with MarkSent or MarkNotSent; Entry.Candidates may be it
	Cancelled State = "cancelled" // not sent, because of Void
)

// Message is the input of [Box.Add].
type Message struct {
	// Key identifies the message in its box. It is the user's own, such as "offer-17", without personal data: it is logged.
	Key string
	// Send is the template to send. Forms are not supported: the service does not list the receivers of a form, so that an
	// unknown outcome could never be settled.
	Send signforms.TemplateSendParams
	// RemindAfter are the times after the send at which the pending signers are reminded, each at most once.
	RemindAfter []time.Duration
	// SendBefore, unless zero, is the time after which the message is not sent any longer, but fails. A request that was
	// begun before is not stopped.
	SendBefore time.Time
}

// Entry is a message as the box has it.
type Entry struct {
	Key        string
	TemplateID string
	State      State
	// Status is the status of the document as far as it is known; empty before the document is.
	Status signforms.DocumentStatus
	// DocumentID and SignerIDs are those of the sent document. Signing links are not stored: for embedded signing, get the
	// document from the service.
	DocumentID string
	SignerIDs  []string
	// Candidates are the documents that may be an undecided send.
	Candidates []string
	// Duplicates are documents that the service made for the same key in addition to DocumentID, after a limit of the
	// package was crossed. They are signed or voided by a person's decision only.
	Duplicates []string
	// Err is the text of the last error. It has no address and no link.
	Err string
	// Attempts is the number of claims: sends that were begun.
	Attempts int
	// Reminded is the number of entries of RemindAfter that have been used.
	Reminded int
	// Voiding is true from [Box.Void] until the document is void or can no longer be voided.
	Voiding bool
	// AddedAt, SentAt and EndedAt are stored times. SentAt of a send whose response was lost is the time of its claim.
	// EndedAt is the time at which the message ended, failed or was cancelled.
	AddedAt, SentAt, EndedAt time.Time
}

// Ref returns the reference of the sent document for the client's Void and Remind.
func (e Entry) Ref() signforms.DocumentRef {
	return signforms.TemplateDocument(e.TemplateID, e.DocumentID)
}

// content is the stored encoding of a send. Its JSON keys are the table's own, so that stored rows and digests do not
// change with the names of the SDK. A new version changes every digest: an Add of a known key then returns ErrKeyUsed.
type content struct {
	Version   int        `json:"v"`
	Template  string     `json:"template"`
	Receivers []receiver `json:"receivers"`
	Subject   string     `json:"subject,omitempty"`
	Message   string     `json:"message,omitempty"`
	Variables []variable `json:"variables,omitempty"`
	PDF       []byte     `json:"pdf,omitempty"`
}

type receiver struct {
	Name    string `json:"name"`
	Email   string `json:"email"`
	Role    string `json:"role"`
	Color   string `json:"color,omitempty"`
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func contentOf(p signforms.TemplateSendParams) content {
	c := content{Version: 1, Template: p.TemplateID, Subject: p.Mail.Subject, Message: p.Mail.Message, PDF: p.PDF}
	for _, r := range p.Receivers {
		c.Receivers = append(c.Receivers, receiver{r.Name, r.Email, r.RoleTitle, r.RoleColor, r.Subject, r.Message})
	}
	for _, v := range p.Variables {
		c.Variables = append(c.Variables, variable{v.Name, v.Value})
	}
	return c
}

func (c content) params() signforms.TemplateSendParams {
	p := signforms.TemplateSendParams{TemplateID: c.Template, PDF: c.PDF, Mail: signforms.Mail{Subject: c.Subject, Message: c.Message}}
	for _, r := range c.Receivers {
		p.Receivers = append(p.Receivers, signforms.Receiver{Name: r.Name, Email: r.Email, RoleTitle: r.Role,
			RoleColor: r.Color, Subject: r.Subject, Message: r.Message})
	}
	for _, v := range c.Variables {
		p.Variables = append(p.Variables, signforms.Variable{Name: v.Name, Value: v.Value})
	}
	return p
}

// afterSend returns what is kept of c when it was sent: no PDF and no texts of mails.
func (c content) afterSend() content {
	kept := content{Version: c.Version, Template: c.Template, Variables: c.Variables}
	for _, r := range c.Receivers {
		kept.Receivers = append(kept.Receivers, receiver{Name: r.Name, Email: r.Email, Role: r.Role, Color: r.Color})
	}
	return kept
}

func (c content) addresses() []string {
	var to []string
	for _, r := range c.Receivers {
		to = append(to, normalAddress(r.Email))
	}
	return to
}

func encode(c content) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of texts has no such value
	}
	return text
}

func decode(text []byte) (c content, err error) {
	if err = json.Unmarshal(text, &c); err == nil && c.Version != 1 {
		err = fmt.Errorf("outbox: a message has content of version %d, which a newer version of the program has added", c.Version)
	}
	return c, err
}

// encodedMessage is a message as Add stores it.
type encodedMessage struct {
	template, remindAfter, receivers string
	content, digest                  []byte
	sendBefore                       int64
}

// encode validates m as Send would.
func (m Message) encode() (e encodedMessage, err error) {
	if m.Key == "" || len(m.Key) > maxKey || strings.ToValidUTF8(m.Key, "") != m.Key || strings.Contains(m.Key, "\x00") {
		return e, fmt.Errorf("outbox: Message.Key must be valid text of 1 to %d bytes", maxKey)
	}
	if err := m.Send.Validate(); err != nil {
		return e, err
	}
	after := []int64{}
	for i, d := range m.RemindAfter {
		if d <= 0 || i > 0 && d <= m.RemindAfter[i-1] {
			return e, errors.New("outbox: Message.RemindAfter must be positive and ascending")
		}
		after = append(after, d.Milliseconds())
	}
	c := contentOf(m.Send)
	e = encodedMessage{template: normalID(c.Template), content: encode(c), remindAfter: toJSON(after), receivers: toJSON(c.addresses())}
	sum := sha256.Sum256(e.content)
	e.digest = sum[:]
	if !m.SendBefore.IsZero() {
		e.sendBefore = m.SendBefore.UnixMilli()
	}
	return e, nil
}

const maxKey = 500

// normalID returns an id in the one case in which it is compared and stored.
func normalID(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

func normalAddress(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func toJSON(v any) string {
	text, _ := json.Marshal(v) // of texts and numbers
	return string(text)
}

func fromJSON[T any](text string) (v []T) {
	_ = json.Unmarshal([]byte(text), &v) // the column's default is "[]", and nobody else writes it
	return v
}
