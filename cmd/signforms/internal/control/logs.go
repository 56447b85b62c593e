package control

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Request is one API request in the log.
type Request struct {
	At          time.Time   `json:"at"`
	Operation   string      `json:"operation,omitempty"` // empty: the path is not one of the service's
	Method      string      `json:"method"`
	Path        string      `json:"path"`
	WorkspaceID string      `json:"workspaceId,omitempty"`
	RequestID   string      `json:"requestId,omitempty"`
	Header      http.Header `json:"header"`
	Query       url.Values  `json:"query"`
	Body        []byte      `json:"body,omitempty"`    // in base64; the first 64 KiB
	Missing     []string    `json:"missing,omitempty"` // required inputs that are missing
	Notes       []string    `json:"notes,omitempty"`   // what was ignored and why, what was probably meant, and what was taken in another spelling
	Rule        string      `json:"rule,omitempty"`    // the rule that refused it
	Status      int         `json:"status"`
	Code        string      `json:"code,omitempty"`
	Message     string      `json:"message,omitempty"`
	Counted     bool        `json:"counted,omitempty"` // a reminder that counts towards the limit
	AnswerLost  bool        `json:"answerLost,omitempty"`
}

func publicRequest(r signformstest.Request) Request {
	return Request{
		At: r.At, Operation: string(r.Operation), Method: r.Method, Path: r.Path, WorkspaceID: r.WorkspaceID, RequestID: r.RequestID, Header: r.Header, Query: r.Query,
		Body: r.Body, Missing: r.Missing, Notes: r.Notes, Rule: r.Rule, Status: r.StatusCode, Code: r.Code, Message: r.Message,
		Counted: r.Counted, AnswerLost: r.AnswerLost,
	}
}

var operations = texts(signforms.OpListDocuments, signforms.OpVoidDocument, signforms.OpSendReminder, signforms.OpSend, signforms.OpListRespondents,
	signforms.OpListResponses)

// listRequests lists the log of API requests, newest first. With misses=true it lists only requests that were refused or of which
// something was ignored.
func (a *API) listRequests(r *http.Request) (any, error) {
	q := readQuery(r)
	operation, status, since := q.oneOf("operation", operations...), q.number("status", 0, 100, 599), q.time("since")
	misses := q.boolean("misses")
	return page(q, newest(a.server.Requests()), func(r signformstest.Request) bool {
		return (operation == "" || string(r.Operation) == operation) && (status == 0 || r.StatusCode == status) && !r.At.Before(since) &&
			(!misses || r.Rule != "" || len(r.Notes) > 0)
	}, publicRequest)
}

// Delivery is one body that is sent to one webhook.
type Delivery struct {
	ID            string    `json:"id"`
	WebhookID     string    `json:"webhookId"`
	EventTypes    []string  `json:"eventTypes"`
	Test          bool      `json:"test,omitempty"`
	Status        string    `json:"status"`         // pending, sending, delivered, dead or cancelled
	Body          string    `json:"body,omitempty"` // as it was sent; empty before the first attempt
	Attempts      []Attempt `json:"attempts"`
	NextAttemptAt time.Time `json:"nextAttemptAt,omitzero"`
	CreatedAt     time.Time `json:"createdAt"`
}

// Attempt is one request of a delivery and what came back.
type Attempt struct {
	At           time.Time   `json:"at"`
	Took         Duration    `json:"took"`
	Header       http.Header `json:"header"`
	Body         string      `json:"body,omitempty"` // only if it differs from the delivery's
	Status       int         `json:"status"`         // 0: no answer
	AnswerHeader http.Header `json:"answerHeader,omitempty"`
	Answer       []byte      `json:"answer,omitempty"` // in base64; the first 4 KiB
	Error        string      `json:"error,omitempty"`
	Duplicate    bool        `json:"duplicate,omitempty"`
}

func publicDelivery(d signformstest.Delivery) Delivery {
	out := Delivery{
		ID: d.ID, WebhookID: d.WebhookID, EventTypes: slices.Clone(d.EventTypes), Test: d.Test, Status: string(d.Status), Body: string(d.Body),
		Attempts: []Attempt{}, NextAttemptAt: d.NextAttemptAt, CreatedAt: d.CreatedAt,
	}
	for _, a := range d.Attempts {
		body := string(a.Body)
		if body == out.Body {
			body = ""
		}
		out.Attempts = append(out.Attempts, Attempt{
			At: a.At, Took: Duration(a.Took), Header: a.Header, Body: body, Status: a.StatusCode, AnswerHeader: a.AnswerHeader, Answer: a.Answer,
			Error: a.Error, Duplicate: a.Duplicate,
		})
	}
	return out
}

var deliveryStatuses = texts(signformstest.DeliveryPending, signformstest.DeliverySending, signformstest.DeliveryDelivered, signformstest.DeliveryDead,
	signformstest.DeliveryCancelled)

func (a *API) listDeliveries(r *http.Request) (any, error) {
	q := readQuery(r)
	hook, status, event, since := q.text("webhookId"), q.oneOf("status", deliveryStatuses...), q.text("eventType"), q.time("since")
	about := q.text("about")
	return page(q, newest(a.server.Deliveries()), func(d signformstest.Delivery) bool {
		return (hook == "" || d.WebhookID == hook) && (status == "" || string(d.Status) == status) &&
			(event == "" || slices.Contains(d.EventTypes, event)) && !d.CreatedAt.Before(since) &&
			(about == "" || strings.Contains(string(d.Body), about))
	}, publicDelivery)
}

func (a *API) getDelivery(r *http.Request) (any, error) {
	if err := readQuery(r).check(); err != nil {
		return nil, err
	}
	d, err := a.server.Delivery(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return publicDelivery(d), nil
}

// Message is an e-mail that the service would have sent.
type Message struct {
	ID         int64     `json:"id"`   // ascending
	Kind       string    `json:"kind"` // invitation, reminder or notice
	DocumentID string    `json:"documentId"`
	To         string    `json:"to"`
	Subject    string    `json:"subject"`
	Body       string    `json:"body"`
	Link       string    `json:"link,omitempty"` // a secret: whoever has it can sign
	At         time.Time `json:"at"`
}

func (a *API) listMessages(r *http.Request) (any, error) {
	q := readQuery(r)
	document, to, kind, since := q.text("documentId"), q.text("to"), q.oneOf("kind", "invitation", "reminder", "notice"), q.time("since")
	return page(q, newest(a.server.Messages()), func(m signformstest.Message) bool {
		return (document == "" || m.DocumentID == document) && (to == "" || m.To == to) && (kind == "" || m.Kind == kind) && !m.At.Before(since)
	}, publicMessage)
}

func publicMessage(m signformstest.Message) Message {
	return Message{ID: m.ID, Kind: m.Kind, DocumentID: m.DocumentID, To: m.To, Subject: m.Subject, Body: m.Body, Link: reveal(m.Link), At: m.At}
}

// reveal returns the URL of a link. What this API answers is the one place where a link is printed: its callers are those who sign.
func reveal(l signforms.SigningLink) string { return string(l) }

// AuditEntry is one line of the audit trail of a document or form.
type AuditEntry struct {
	ID       int64     `json:"id"` // ascending
	RecordID string    `json:"recordId"`
	At       time.Time `json:"at"`
	Action   string    `json:"action"`
	Actor    string    `json:"actor"` // a signer's e-mail address, or author, service or respondent
	From     string    `json:"from,omitempty"`
	To       string    `json:"to,omitempty"`
	Note     string    `json:"note,omitempty"`

	IP        string `json:"ip,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
}

func publicAuditEntry(e signformstest.AuditEntry) AuditEntry { return AuditEntry(e) }

// listAudit lists what was done to one document or form, oldest first.
func (a *API) listAudit(r *http.Request) (any, error) {
	q := readQuery(r)
	action, document := q.text("action"), q.text("documentId")
	if document == "" {
		q.fail("documentId is missing: the trail is that of one document or form")
	}
	return page(q, a.server.Audit(document), func(e signformstest.AuditEntry) bool {
		return action == "" || e.Action == action
	}, publicAuditEntry)
}
