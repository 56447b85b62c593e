package refserver

import (
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Requests returns the newest API requests, as many as [Options].Keep says, in the order in which they were answered.
// The newest are whole, up to about 16 MiB; the others have IsCut set. Do not change what they refer to: it is shared
// with the log.
func (s *Server) Requests() []Request {
	return convertRecords(s.requests.records(), func(r Request) Request { return r })
}

// Message is mail that the service would have sent.
type Message struct {
	ID         int64     `json:"id"`         // from 1, ascending over all messages
	Kind       string    `json:"kind"`       // "invitation", "reminder" or "notice"
	DocumentID string    `json:"documentId"` // the document, or the form
	To         string    `json:"to"`
	Subject    string    `json:"subject"`
	Body       string    `json:"body"`
	Link       Link      `json:"link,omitempty"` // string(Link) opens the document or form, and signs the document with POST; empty in notices
	At         time.Time `json:"at"`             // by the service's clock
}

// String describes the message in one line without its link, which is a secret, and without personal data.
func (m Message) String() string {
	return fmt.Sprintf("%s %s about %s", m.At.Format(time.RFC3339), m.Kind, m.DocumentID)
}

// Messages returns the newest mail, as much as [Options].Keep says, oldest first.
func (s *Server) Messages() []Message {
	return convertRecords(s.messages(), s.publicMessage)
}

func (s *Server) publicMessage(m signing.Message) Message { return publicMessage(m, s.linkIn(m)) }

// linkIn is the link in a message; empty without one.
func (s *Server) linkIn(m signing.Message) Link {
	switch {
	case m.Token == "":
		return ""
	case s.isForm(m.DocumentID):
		return Link(s.links.Form(m.Token))
	}
	return Link(s.links.Sign(m.Token))
}

func (s *Server) isForm(id string) bool {
	return s.store.View(func(tx *store.Tx) error {
		_, err := tx.Form(id)
		return err
	}) == nil
}

func (s *Server) messages() (all store.Records[signing.Message]) {
	s.store.View(func(tx *store.Tx) error {
		all = tx.Messages()
		return nil
	})
	return all
}

// Delivery is one body for one webhook, with every attempt to deliver it. Without [Server.Resend] there are at most 8
// attempts, with waits of 5 s, 1 min, 5 min, 30 min, 2 h, 5 h and 10 h between them. The service documents no schedule.
type Delivery struct {
	ID            string         `json:"id"`
	WebhookID     string         `json:"webhookId"`
	DocumentID    string         `json:"documentId"`     // the document, or the form; of a sample it may be none that exists
	EventTypes    []string       `json:"eventTypes"`     // the webhookEvent of each element of the body
	Test          bool           `json:"test,omitempty"` // from [Server.TestWebhook]
	Status        DeliveryStatus `json:"status"`
	Body          []byte         `json:"body,omitempty"` // the same for every attempt; nil before the first
	Attempts      []Attempt      `json:"attempts"`
	NextAttemptAt time.Time      `json:"nextAttemptAt,omitzero"` // while pending; else zero
	CreatedAt     time.Time      `json:"createdAt"`              // when the event happened, by the service's clock
}

// String describes the delivery in one line without personal data.
func (d Delivery) String() string {
	line := fmt.Sprintf("%s %s %v to webhook %s: %s, attempts: %d", d.CreatedAt.Format(time.RFC3339), d.ID, d.EventTypes, d.WebhookID, d.Status, len(d.Attempts))
	if len(d.Attempts) == 0 {
		return line
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.StatusCode != 0 {
		line += fmt.Sprintf(", last answer: %d", last.StatusCode)
	}
	if last.Error != "" {
		line += ", last error: " + last.Error
	}
	return line
}

// Deliveries returns the deliveries that are kept, see [Options].Keep, those of [Server.TestWebhook] too, in the order
// of the events. Do not change what they refer to: it is shared with the log.
func (s *Server) Deliveries() []Delivery {
	return convertRecords(s.deliveries(), publicDelivery)
}

func (s *Server) deliveries() (all store.Records[store.Delivery]) {
	s.store.View(func(tx *store.Tx) error {
		all = tx.Deliveries()
		return nil
	})
	return all
}

// Delivery returns the delivery with the id, or an error that matches [ErrNotFound].
func (s *Server) Delivery(id string) (d Delivery, err error) {
	err = s.store.View(func(tx *store.Tx) error {
		record, err := tx.Delivery(id)
		d = publicDelivery(record)
		return err
	})
	return d, err
}
