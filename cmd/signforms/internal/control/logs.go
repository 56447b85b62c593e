package control

import (
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// listRequests lists the log of API requests, newest first. With misses=true it lists only requests that were refused or of which
// something was ignored.
func (a *API) listRequests(r *http.Request) (any, error) {
	q := readQuery(r)
	f := refserver.RequestFilter{
		Operation: refserver.Operation(q.oneOf("operation", texts(refserver.Operations()...)...)), StatusCode: q.number("status", 0, 100, 599),
		Since: q.time("since"), Misses: q.boolean("misses"),
	}
	f.Offset, f.Limit = q.bounds()
	return found(q, f, a.server.FindRequests, same)
}

func publicDelivery(d refserver.Delivery) wire.Delivery {
	out := wire.Delivery{Delivery: d, Body: string(d.Body), Attempts: []wire.Attempt{}}
	for _, a := range d.Attempts {
		body := string(a.Body)
		if body == out.Body {
			body = ""
		}
		out.Attempts = append(out.Attempts, wire.Attempt{Attempt: a, Took: wire.Duration(a.Took), Body: body})
	}
	return out
}

func (a *API) listDeliveries(r *http.Request) (any, error) {
	q := readQuery(r)
	f := refserver.DeliveryFilter{
		WebhookID: q.text("webhookId"), Status: refserver.DeliveryStatus(q.oneOf("status", texts(refserver.DeliveryStatuses()...)...)), EventType: q.text("eventType"),
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

func (a *API) listMessages(r *http.Request) (any, error) {
	q := readQuery(r)
	f := refserver.MessageFilter{
		DocumentID: q.text("documentId"), To: q.text("to"), Kind: q.oneOf("kind", "invitation", "reminder", "notice"), Since: q.time("since"),
	}
	f.Offset, f.Limit = q.bounds()
	return found(q, f, a.server.FindMessages, publicMessage)
}

func publicMessage(m refserver.Message) wire.Message {
	return wire.Message{Message: m, Link: reveal(m.Link)}
}

// reveal returns the URL of a link. What this API answers is the one place where a link is printed: its callers are those who sign.
func reveal(l refserver.Link) string { return string(l) }

// listAudit lists what was done to one document or form, oldest first.
func (a *API) listAudit(r *http.Request) (any, error) {
	q := readQuery(r)
	action, document := q.text("action"), q.text("documentId")
	if document == "" {
		q.fail("documentId is missing: the trail is that of one document or form")
	}
	return page(q, a.server.Audit(document), func(e refserver.AuditEntry) bool {
		return action == "" || e.Action == action
	}, same)
}
