package control

import (
	"net/http"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// listRequests lists the log of API requests, newest first. With misses=true it lists only requests that were refused or of which
// something was ignored.
func (a *API) listRequests(r *http.Request) (any, error) {
	q := readQuery(r)
	f := signformstest.RequestFilter{
		Operation: signforms.Operation(q.oneOf("operation", texts(signforms.Operations()...)...)), StatusCode: q.number("status", 0, 100, 599),
		Since: q.time("since"), Misses: q.boolean("misses"),
	}
	f.Offset, f.Limit = q.bounds()
	return found(q, f, a.server.FindRequests, same)
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

func (a *API) listDeliveries(r *http.Request) (any, error) {
	q := readQuery(r)
	f := signformstest.DeliveryFilter{
		WebhookID: q.text("webhookId"), Status: signformstest.DeliveryStatus(q.oneOf("status", texts(signformstest.DeliveryStatuses()...)...)), EventType: q.text("eventType"),
		Since: q.time("since"), About: q.text("about"),
	}
	f.Offset, f.Limit = q.bounds()
	return found(q, f, a.server.FindDeliveries, publicDelivery)
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
	f := signformstest.MessageFilter{
		DocumentID: q.text("documentId"), To: q.text("to"), Kind: q.oneOf("kind", "invitation", "reminder", "notice"), Since: q.time("since"),
	}
	f.Offset, f.Limit = q.bounds()
	return found(q, f, a.server.FindMessages, publicMessage)
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
