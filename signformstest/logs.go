package signformstest

import (
	"net/http"
	"net/url"
	"time"

	"github.com/signforms/signforms-go"
)

// Request is one API request to which the service responded, or tried to respond.
type Request struct {
	At         time.Time           // when it arrived, by the service's clock
	Operation  signforms.Operation // empty: the service has no such path
	Method     string
	Path       string      // at most 1,000 bytes; the same holds for RequestID
	RequestID  string      // x-request-id as sent
	Header     http.Header // without the API key and other secrets
	Query      url.Values  // the part that could be read, without secrets
	Body       []byte      // the first 64 KiB; nil for old requests, to bound the log
	Notes      []string    // hints: which inputs were ignored and why, which had another spelling than the published one, and others
	StatusCode int         // of the response; 0: no response was written
	Code       string      // code of an error response
	Message    string      // message of an error response
	AnswerLost bool        // the request may have been executed, but the client did not get the response

	line string
}

// String describes the request in one line. It contains the method, the beginning of the path, and
// the names of inputs and variables, but no ids and no values.
func (r Request) String() string { return r.line }

// Requests returns the newest API requests, at most 100,000, in the order of their responses. Do
// not change the values to which they refer, because the log shares them.
func (s *Server) Requests() []Request { return convertAll(s.service.Requests(), publicRequest) }

// Message is mail that the service would have sent.
type Message struct {
	Kind       MessageKind
	DocumentID string // id of the document or of the form
	To         string
	Subject    string
	Body       string
	Link       signforms.SigningLink // URL, as string(Link), at which a GET opens the document or form and a POST signs the document; empty in notices
	At         time.Time             // by the service's clock

	line string
}

// MessageKind says why a [Message] was sent.
type MessageKind string

// The kinds of messages.
const (
	Invitation MessageKind = "invitation" // an invitation to sign, or to answer a form
	Reminder   MessageKind = "reminder"
	Notice     MessageKind = "notice" // a notice that a document was completed, declined, voided or has expired
)

// String describes the message in one line. It contains neither the link, which is a secret, nor
// personal data.
func (m Message) String() string { return m.line }

// Messages returns the newest messages, at most 100,000, oldest first: invitations, reminders and
// notices.
func (s *Server) Messages() []Message { return convertAll(s.service.Messages(), publicMessage) }

// EventType is the webhookEvent of an event, such as "new_template_response_individual_signed".
type EventType string

// Delivery is one body for one webhook, with every attempt to deliver it. Without [Server.Resend] there are at most 8
// attempts, with waits of 5 s, 1 min, 5 min, 30 min, 2 h, 5 h and 10 h between them. The service documents no schedule.
type Delivery struct {
	ID         string
	WebhookID  string
	DocumentID string      // id of the document or of the form; in a sample, the document may not exist
	EventTypes []EventType // the webhookEvent of each element of the body
	Status     DeliveryStatus
	Body       []byte // the same in every attempt; nil before the first attempt
	Attempts   []Attempt
	CreatedAt  time.Time // when the event happened, by the service's clock

	line string
}

// DeliveryStatus is the progress of a [Delivery].
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"   // waits for its next attempt
	DeliverySending   DeliveryStatus = "sending"   // being sent, or next to be sent
	DeliveryDelivered DeliveryStatus = "delivered" // the receiver responded with a 2xx
	DeliveryDead      DeliveryStatus = "dead"      // 8 attempts failed
	DeliveryCancelled DeliveryStatus = "cancelled" // its webhook was disabled or deleted
)

// Attempt is one request of a [Delivery] with its response.
type Attempt struct {
	At         time.Time   // by the service's clock
	Header     http.Header // header that was sent, with x-timestamp and x-signature
	Body       []byte      // body that was sent: the body of the delivery, unless a [WebhookFault] changed it
	StatusCode int         // 0: no response
	Error      string      // why the response is missing or incomplete; may be empty
}

// String describes the delivery in one line without personal data.
func (d Delivery) String() string { return d.line }

// Deliveries returns the newest deliveries, at most 20,000, in the order of the events. It includes
// the deliveries of [Server.TestWebhook]. Do not change the values to which they refer, because the
// log shares them.
func (s *Server) Deliveries() []Delivery { return convertAll(s.service.Deliveries(), publicDelivery) }
