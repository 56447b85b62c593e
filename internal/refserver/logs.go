package refserver

import (
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Requests returns the newest API requests, at most the number in [Options].Keep, in the order of
// their responses. The newest requests are whole, up to about 16 MiB in total; the others have
// IsCut set. Do not change the values to which they refer, because the log shares them.
func (s *Server) Requests() []Request {
	return convertRecords(s.requests.records(), func(r Request) Request { return r })
}

// Message is mail that the service would have sent.
type Message struct {
	ID         int64     `json:"id"`         // ascending from 1 over all messages
	Kind       string    `json:"kind"`       // "invitation", "reminder" or "notice"
	DocumentID string    `json:"documentId"` // id of the document or of the form
	To         string    `json:"to"`
	Subject    string    `json:"subject"`
	Body       string    `json:"body"`
	Link       Link      `json:"link,omitempty"` // URL, as string(Link), at which a GET opens the document or form and a POST signs the document; empty in notices
	At         time.Time `json:"at"`             // by the service's clock
}

// String describes the message in one line. It contains neither the link, which is a secret, nor
// personal data.
func (m Message) String() string {
	return fmt.Sprintf("%s %s about %s", m.At.Format(time.RFC3339), m.Kind, m.DocumentID)
}

// Messages returns the newest messages, at most the number in [Options].Keep, oldest first.
func (s *Server) Messages() []Message {
	return convertRecords(s.messages(), s.publicMessage)
}

func (s *Server) publicMessage(m signing.Message) Message { return publicMessage(m, s.linkIn(m)) }

// linkIn returns the link in a message, or an empty Link.
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
	DocumentID    string         `json:"documentId"`     // id of the document or of the form; in a sample, the document may not exist
	EventTypes    []string       `json:"eventTypes"`     // the webhookEvent of each element of the body
	Test          bool           `json:"test,omitempty"` // made by [Server.TestWebhook]
	Status        DeliveryStatus `json:"status"`
	Body          []byte         `json:"body,omitempty"` // the same in every attempt; nil before the first attempt
	Attempts      []Attempt      `json:"attempts"`
	NextAttemptAt time.Time      `json:"nextAttemptAt,omitzero"` // zero unless the delivery is pending
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

// Deliveries returns the deliveries that are kept (see [Options].Keep), in the order of the events.
// It includes the deliveries of [Server.TestWebhook]. Do not change the values to which they refer,
// because the log shares them.
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
