package control

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// listRequests lists the log of API requests, newest first. With misses=true it lists only requests
// that were refused or had ignored inputs.
func (a *API) listRequests(r *http.Request) (any, error) {
	q := readQuery(r)
	operation, status := refserver.Operation(q.oneOf("operation", texts(refserver.Operations()...)...)), q.number("status", 0, 100, 599)
	since, misses := q.time("since"), q.boolean("misses")
	return found(q, func(v refserver.Request) bool {
		return (operation == "" || v.Operation == operation) && (status == 0 || v.StatusCode == status) && !v.At.Before(since) &&
			(!misses || v.Rule != "" || len(v.Notes) > 0)
	}, a.server.FindRequests, same)
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
	webhook, status := q.text("webhookId"), refserver.DeliveryStatus(q.oneOf("status", texts(refserver.DeliveryStatuses()...)...))
	event, since, about := q.text("eventType"), q.time("since"), []byte(q.text("about"))
	return found(q, func(d refserver.Delivery) bool {
		return (webhook == "" || d.WebhookID == webhook) && (status == "" || d.Status == status) &&
			(event == "" || slices.Contains(d.EventTypes, event)) && !d.CreatedAt.Before(since) && bytes.Contains(d.Body, about)
	}, a.server.FindDeliveries, publicDelivery)
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
	document, to, kind, since := q.text("documentId"), q.text("to"), q.oneOf("kind", "invitation", "reminder", "notice"), q.time("since")
	return found(q, func(m refserver.Message) bool {
		return (document == "" || m.DocumentID == document) && (to == "" || m.To == to) && (kind == "" || m.Kind == kind) && !m.At.Before(since)
	}, a.server.FindMessages, same)
}

// listAudit lists the audit entries of one document or form, oldest first.
func (a *API) listAudit(r *http.Request) (any, error) {
	q := readQuery(r)
	action, document := q.text("action"), q.text("documentId")
	if document == "" {
		q.fail("documentId is missing: the trail is that of one document or form")
	}
	return page(q, a.server.Audit(document), func(e refserver.AuditEntry) bool {
		return action == "" || string(e.Action) == action
	}, same)
}
