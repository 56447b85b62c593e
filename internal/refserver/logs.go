package refserver

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Request is one API request that was answered, or that the service tried to answer.
type Request struct {
	ID           int64       `json:"id"`                  // from 1, ascending over all requests since the start
	At           time.Time   `json:"at"`                  // when it arrived, by the service's clock
	Operation    Operation   `json:"operation,omitempty"` // empty: the path is not one of the service's
	Method       string      `json:"method"`
	Path         string      `json:"path"`                  // at most 1,000 bytes of it, as of RequestID
	WorkspaceID  string      `json:"workspaceId,omitempty"` // that the API key acts for; empty: not authenticated
	RequestID    string      `json:"requestId,omitempty"`   // x-request-id as sent
	Header       http.Header `json:"header"`                // without the API key and other secrets
	Query        url.Values  `json:"query"`                 // as much of it as could be read, without secrets
	RawQuery     string      `json:"rawQuery,omitempty"`    // as sent, without secrets, if a part of it could not be read; empty: all of it is in Query
	Body         []byte      `json:"body,omitempty"`        // the first 64 KiB; none of a request that was refused before
	BodySize     int64       `json:"bodySize,omitempty"`    // of the whole body in bytes: as announced, otherwise as far as it was read
	Cut          bool        `json:"cut,omitempty"`         // Header, Query, RawQuery, Body, AnswerHeader and Answer were dropped since, to bound the log
	Missing      []string    `json:"missing,omitempty"`     // required inputs that were not there
	Notes        []string    `json:"notes,omitempty"`       // what was ignored and why, what was taken in another spelling than the published one, and other hints
	Rule         string      `json:"rule,omitempty"`        // that refused it: "path", "method", "api key", "workspace", "limit", "size", "media type", "input", "exists", "status" or "storage"; empty: none
	StatusCode   int         `json:"status"`                // of the answer; 0: none was written
	Code         string      `json:"code,omitempty"`        // of an error answer
	Message      string      `json:"message,omitempty"`     // of an error answer
	Counted      bool        `json:"counted,omitempty"`     // a reminder that counts towards the limit
	AnswerHeader http.Header `json:"answerHeader,omitempty"`
	Answer       []byte      `json:"answer,omitempty"`     // the first 4 KiB of the answer's body, which may hold signing links
	AnswerLost   bool        `json:"answerLost,omitempty"` // the work may be done, but the client did not get the answer

	line string
}

// String describes the request in one line. Of what the client sent it has the method, the beginning of the path, and names of
// inputs and variables, but no ids and values.
func (r Request) String() string { return r.line }

// Requests returns the newest API requests, as many as [Options].Keep says, in the order in which they were answered. The
// newest are whole, up to about 16 MiB; the others have Cut set. Do not change what they refer
// to: it is shared with the log.
func (s *Server) Requests() []Request {
	return convertRecords(s.requests.records(), publicRequest)
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
	return convertRecords(s.messages("", ""), s.publicMessage)
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

// messages returns the mail about a record, or else to an address, or else all.
func (s *Server) messages(recordID, address string) (all store.Records[signing.Message]) {
	s.store.View(func(tx *store.Tx) error {
		if all = tx.Messages(recordID); recordID == "" && address != "" {
			all = tx.MessagesTo(address)
		}
		return nil
	})
	return all
}

// DeliveryStatus is how far a [Delivery] is.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"   // due at NextAttemptAt
	DeliverySending   DeliveryStatus = "sending"   // under way, or next in line
	DeliveryDelivered DeliveryStatus = "delivered" // answered with a 2xx
	DeliveryDead      DeliveryStatus = "dead"      // 8 attempts failed
	DeliveryCancelled DeliveryStatus = "cancelled" // its webhook was disabled or deleted
)

// DeliveryStatuses returns all statuses of a delivery, in the order in which it can have them.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliverySending, DeliveryDelivered, DeliveryDead, DeliveryCancelled}
}

// Delivery is one body for one webhook, with every attempt to deliver it. Without [Server.Resend] there are at most 8 attempts,
// with waits of 5 s, 1 min, 5 min, 30 min, 2 h, 5 h and 10 h between them. The schedule is not documented by the service.
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

// Attempt is one request of a [Delivery] and what came back.
type Attempt struct {
	At           time.Time     `json:"at"`             // by the service's clock
	Took         time.Duration `json:"took"`           // by the service's clock; 0 with Options.Start
	Header       http.Header   `json:"header"`         // as sent, with x-timestamp and x-signature
	Body         []byte        `json:"body,omitempty"` // as sent: that of the delivery, unless a [WebhookFault] changed it
	StatusCode   int           `json:"status"`         // 0: no answer
	AnswerHeader http.Header   `json:"answerHeader,omitempty"`
	Answer       []byte        `json:"answer,omitempty"`    // the first 4 KiB of the answer's body
	Error        string        `json:"error,omitempty"`     // why there was no answer, or not all of it; may be empty
	Duplicate    bool          `json:"duplicate,omitempty"` // a [WebhookFault] sent the request before it once more; does not count as one of the 8
}

// Deliveries returns the deliveries that are kept, see [Options].Keep, those of [Server.TestWebhook] too, in the order of the
// events. Do not change what they refer to: it is shared with the log.
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
