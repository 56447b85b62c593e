package console

import (
	"net/http"
	"net/url"

	"github.com/signforms/signforms-go/internal/refserver"
)

// logSize is how many entries of a log a page shows.
const logSize = 2 * pageSize

type deliveryList struct {
	Status     string
	Statuses   []refserver.DeliveryStatus
	Deliveries []deliveryRow
}

// deliveryRow is a delivery with the URL of its webhook and a link to its document or form. The URL
// and the link are empty after their record was deleted.
type deliveryRow struct {
	refserver.Delivery
	URL, Name, Path string
}

func (c *console) rows(all []refserver.Delivery) (rows []deliveryRow) {
	urls := map[string]string{}
	for _, w := range c.server.Webhooks() {
		urls[w.ID] = w.URL
	}
	for _, d := range all {
		row := deliveryRow{Delivery: d, URL: urls[d.WebhookID]}
		if document, ok := c.server.FindDocument(d.DocumentID); ok {
			row.Name, row.Path = document.Name, "documents/"+document.ID
		} else if form, ok := c.server.FindForm(d.DocumentID); ok {
			row.Name, row.Path = form.Title, "forms/"+form.ID
		}
		rows = append(rows, row)
	}
	return rows
}

func (c *console) deliveries(r *http.Request) (page, error) {
	list := deliveryList{Status: r.URL.Query().Get("status"), Statuses: refserver.DeliveryStatuses()}
	newest, _ := c.server.FindDeliveries(func(d refserver.Delivery) bool { return list.Status == "" || string(d.Status) == list.Status }, 0, logSize)
	list.Deliveries = c.rows(newest)
	return page{Title: "Deliveries", name: "deliveries", Live: "delivery", Data: list}, nil
}

// attemptView is an attempt with a curl command that repeats it.
type attemptView struct {
	refserver.Attempt
	Curl string
}

type deliveryView struct {
	Delivery deliveryRow
	Attempts []attemptView
}

func (c *console) delivery(r *http.Request) (page, error) {
	d, err := c.server.Delivery(r.PathValue("id"))
	if err != nil {
		return page{}, errNoSuchRecord
	}
	view := deliveryView{Delivery: c.rows([]refserver.Delivery{d})[0]}
	for _, a := range d.Attempts {
		view.Attempts = append(view.Attempts, attemptView{a, curl(http.MethodPost, view.Delivery.URL, a.Header, sentBody(a, d))})
	}
	return page{Title: "Delivery", name: "delivery", Live: "delivery", Data: view}, nil
}

// sentBody returns the body of an attempt: its own body if a fault changed it, and otherwise the
// body of the delivery.
func sentBody(a refserver.Attempt, d refserver.Delivery) []byte {
	if a.Body != nil {
		return a.Body
	}
	return d.Body
}

func (c *console) resend(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return done("deliveries/"+url.PathEscape(id), "resent"), c.server.Resend(id)
}

func (c *console) messages(*http.Request) (page, error) {
	newest, _ := c.server.FindMessages(nil, 0, logSize)
	return page{Title: "Messages", name: "messages", Live: "message", Data: newest}, nil
}
