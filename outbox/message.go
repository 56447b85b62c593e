package outbox

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
)

// State is the state of a message: pending → sending → sent, failed or undecided; sent → ended;
// cancelled.
type State string

// The states of a message.
const (
	Pending   State = "pending"   // the message waits to be sent
	Sending   State = "sending"   // a request was begun, and its outcome is not recorded
	Sent      State = "sent"      // the service has created the document
	Ended     State = "ended"     // Entry.Status is final: SIGNED, PAID, DECLINED, VOID, EXPIRED or DELETED
	Failed    State = "failed"    // not sent; Entry.Err is the reason
	Undecided State = "undecided" // a person must decide with MarkSent or MarkNotSent; Entry.Candidates has the possible documents
	Cancelled State = "cancelled" // not sent, because of Void
)

// Message is the input of [Box.Add].
type Message struct {
	// Key identifies the message in its box. The program chooses it, such as "offer-17". It must
	// not contain personal data, because it is logged.
	Key string
	// Send is the template to send. Forms are not supported: the service does not list the
	// receivers of a form, so an unknown outcome could never be settled.
	Send signforms.TemplateSendParams
	// RemindAfter are the times after the send at which the pending signers are reminded, each at most once.
	RemindAfter []time.Duration
	// SendBefore, unless zero, is the time after which the message is no longer sent, but fails. A
	// request that was begun before is not stopped.
	SendBefore time.Time
}

// Entry is a message in the box.
type Entry struct {
	Key        string
	TemplateID string
	State      State
	// Status is the status of the document as far as it is known; empty before the document is.
	Status signforms.DocumentStatus
	// DocumentID and SignerIDs are the ids of the sent document and its signers. Signing links are
	// not stored: for embedded signing, get the document from the service.
	DocumentID string
	SignerIDs  []string
	// Candidates are the documents that an undecided send may have created.
	Candidates []string
	// Duplicates are documents that the service created for the same key in addition to DocumentID,
	// in a case that the package does not guarantee. A person must decide which document to void.
	Duplicates []string
	// Err is the text of the last error. It contains no address and no link.
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

// content is the stored encoding of a send. A change of its JSON changes every digest: an Add of a known key would then
// return ErrKeyUsed. A test has its bytes.
type content struct {
	Version int
	signforms.TemplateSendParams
}

// afterSend returns the part of c that is kept after the send: no PDF and no mail texts.
func (c content) afterSend() content {
	c.PDF, c.Mail, c.Receivers = nil, signforms.Mail{}, slices.Clone(c.Receivers)
	for i := range c.Receivers {
		c.Receivers[i].Subject, c.Receivers[i].Message = "", ""
	}
	return c
}

func (c content) addresses() (all []string) {
	for _, r := range c.Receivers {
		all = append(all, normalAddress(r.Email))
	}
	return all
}

func decode(text []byte) (c content, err error) {
	if err = json.Unmarshal(text, &c); err == nil && c.Version != contentVersion {
		err = fmt.Errorf("outbox: a message has content of version %d, which another version of the program has added", c.Version)
	}
	return c, err
}

const contentVersion = 1

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
	c := content{contentVersion, m.Send}
	e = encodedMessage{template: normalID(m.Send.TemplateID), content: []byte(toJSON(c)), remindAfter: toJSON(after), receivers: toJSON(c.addresses())}
	sum := sha256.Sum256(e.content)
	e.digest = sum[:]
	if !m.SendBefore.IsZero() {
		e.sendBefore = m.SendBefore.UnixMilli()
	}
	return e, nil
}

const maxKey = 500

// normalID returns an id in lower case, as it is compared and stored.
func normalID(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

func normalAddress(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func toJSON(v any) string {
	text, _ := json.Marshal(v) // cannot fail for texts and numbers
	return string(text)
}

func fromJSON[T any](text string) (v []T) {
	_ = json.Unmarshal([]byte(text), &v) // cannot fail: the column's default is "[]", and only toJSON writes it
	return v
}
