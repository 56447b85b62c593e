package signformstest

import (
	"net/http"
	"net/url"
	"time"

	"github.com/signforms/signforms-go"
)

// Request is one API request that was answered, or that the service tried to answer.
type Request struct {
	At         time.Time           // when it arrived, by the service's clock
	Operation  signforms.Operation // empty: the path is not one of the service's
	Method     string
	Path       string      // at most 1,000 bytes of it, as of RequestID
	RequestID  string      // x-request-id as sent
	Header     http.Header // without the API key and other secrets
	Query      url.Values  // as much of it as could be read, without secrets
	Body       []byte      // the first 64 KiB; nil for old requests, to bound the log
	Notes      []string    // what was ignored and why, what was taken in another spelling than the published one, and other hints
	StatusCode int         // of the answer; 0: none was written
	Code       string      // of an error answer
	Message    string      // of an error answer
	AnswerLost bool        // the work may be done, but the client did not get the answer

	line string
}

// String describes the request in one line. Of what the client sent it has the method, the beginning of the path, and
// names of inputs and variables, but no ids and values.
func (r Request) String() string { return r.line }

// Requests returns the newest API requests, at most 100,000, in the order in which they were answered. Do not change
// what they refer to: it is shared with the log.
func (s *Server) Requests() []Request { return convertAll(s.service.Requests(), publicRequest) }

// Message is mail that the service would have sent.
type Message struct {
	Kind       MessageKind
	DocumentID string // the document, or the form
	To         string
	Subject    string
	Body       string
	Link       signforms.SigningLink // string(Link) opens the document or form, and signs the document with POST; empty in notices
	At         time.Time             // by the service's clock

	line string
}

// MessageKind says why a [Message] was sent.
type MessageKind string

// The kinds of messages.
const (
	Invitation MessageKind = "invitation" // to sign, or to answer a form
	Reminder   MessageKind = "reminder"
	Notice     MessageKind = "notice" // that a document was completed, declined, voided or has expired
)

// String describes the message in one line without its link, which is a secret, and without personal data.
func (m Message) String() string { return m.line }

// Messages returns the newest mail, at most 100,000, oldest first: invitations, reminders and notices.
func (s *Server) Messages() []Message { return convertAll(s.service.Messages(), publicMessage) }

// EventType is the webhookEvent of an event, as in "new_template_response_individual_signed".
type EventType string

// Delivery is one body for one webhook, with every attempt to deliver it. Without [Server.Resend] there are at most 8
// attempts, with waits of 5 s, 1 min, 5 min, 30 min, 2 h, 5 h and 10 h between them. The service documents no schedule.
type Delivery struct {
	ID         string
	WebhookID  string
	DocumentID string      // the document, or the form; of a sample it may be none that exists
	EventTypes []EventType // the webhookEvent of each element of the body
	Status     DeliveryStatus
	Body       []byte // the same for every attempt; nil before the first
	Attempts   []Attempt
	CreatedAt  time.Time // when the event happened, by the service's clock

	line string
}

// DeliveryStatus is how far a [Delivery] is.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"   // waits for its next attempt
	DeliverySending   DeliveryStatus = "sending"   // under way, or next in line
	DeliveryDelivered DeliveryStatus = "delivered" // answered with a 2xx
	DeliveryDead      DeliveryStatus = "dead"      // 8 attempts failed
	DeliveryCancelled DeliveryStatus = "cancelled" // its webhook was disabled or deleted
)

// Attempt is one request of a [Delivery] and what came back.
type Attempt struct {
	At         time.Time   // by the service's clock
	Header     http.Header // as sent, with x-timestamp and x-signature
	Body       []byte      // as sent: that of the delivery, unless a [WebhookFault] changed it
	StatusCode int         // 0: no answer
	Error      string      // why there was no answer, or not all of it; may be empty
}

// String describes the delivery in one line without personal data.
func (d Delivery) String() string { return d.line }

// Deliveries returns the newest deliveries, at most 20,000, in the order of the events, those of [Server.TestWebhook]
// too. Do not change what they refer to: it is shared with the log.
func (s *Server) Deliveries() []Delivery { return convertAll(s.service.Deliveries(), publicDelivery) }
