package control

import (
	"net/http"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// listRequests lists the log of API requests, newest first. With misses=true it lists only requests that were refused or of which
// something was ignored.
func (a *API) listRequests(r *http.Request) (any, error) {
	q := readQuery(r)
	operation, status, since := q.oneOf("operation", texts(signforms.Operations()...)...), q.number("status", 0, 100, 599), q.time("since")
	misses := q.boolean("misses")
	return page(q, newest(a.server.Requests()), func(r signformstest.Request) bool {
		return (operation == "" || string(r.Operation) == operation) && (status == 0 || r.StatusCode == status) && !r.At.Before(since) &&
			(!misses || r.Rule != "" || len(r.Notes) > 0)
	}, same)
}

// Delivery is one body that is sent to one webhook.
type Delivery struct {
	signformstest.Delivery
	Body     string    `json:"body,omitempty"` // as it was sent; empty before the first attempt
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one request of a delivery and what came back.
type Attempt struct {
	signformstest.Attempt
	Took Duration `json:"took"`
	Body string   `json:"body,omitempty"` // only if it differs from the delivery's
}

func publicDelivery(d signformstest.Delivery) Delivery {
	out := Delivery{Delivery: d, Body: string(d.Body), Attempts: []Attempt{}}
	for _, a := range d.Attempts {
		body := string(a.Body)
		if body == out.Body {
			body = ""
		}
		out.Attempts = append(out.Attempts, Attempt{a, Duration(a.Took), body})
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
	signformstest.Message
	Link string `json:"link,omitempty"` // a secret: whoever has it can sign
}

func (a *API) listMessages(r *http.Request) (any, error) {
	q := readQuery(r)
	document, to, kind, since := q.text("documentId"), q.text("to"), q.oneOf("kind", "invitation", "reminder", "notice"), q.time("since")
	return page(q, newest(a.server.Messages()), func(m signformstest.Message) bool {
		return (document == "" || m.DocumentID == document) && (to == "" || m.To == to) && (kind == "" || m.Kind == kind) && !m.At.Before(since)
	}, publicMessage)
}

func publicMessage(m signformstest.Message) Message { return Message{m, reveal(m.Link)} }

// reveal returns the URL of a link. What this API answers is the one place where a link is printed: its callers are those who sign.
func reveal(l signforms.SigningLink) string { return string(l) }

// listAudit lists what was done to one document or form, oldest first.
func (a *API) listAudit(r *http.Request) (any, error) {
	q := readQuery(r)
	action, document := q.text("action"), q.text("documentId")
	if document == "" {
		q.fail("documentId is missing: the trail is that of one document or form")
	}
	return page(q, a.server.Audit(document), func(e signformstest.AuditEntry) bool {
		return action == "" || e.Action == action
	}, same)
}
