package console

import (
	"net/http"
	"net/url"

	"github.com/signforms/signforms-go/signformstest"
)

// logSize is how many entries of a log a page shows.
const logSize = 2 * pageSize

type deliveryList struct {
	Status     string
	Statuses   []signformstest.DeliveryStatus
	Deliveries []signformstest.Delivery
}

func (c *console) deliveries(r *http.Request) (page, error) {
	list := deliveryList{Status: r.URL.Query().Get("status"), Statuses: signformstest.DeliveryStatuses()}
	list.Deliveries, _ = c.server.FindDeliveries(signformstest.DeliveryFilter{Status: signformstest.DeliveryStatus(list.Status), Limit: logSize})
	return page{Title: "Deliveries", name: "deliveries", Live: "delivery", Data: list}, nil
}

// attemptView is an attempt with a command that repeats it.
type attemptView struct {
	signformstest.Attempt
	Curl string
}

type deliveryView struct {
	Delivery signformstest.Delivery
	URL      string
	Attempts []attemptView
}

func (c *console) delivery(r *http.Request) (page, error) {
	d, err := c.server.Delivery(r.PathValue("id"))
	if err != nil {
		return page{}, errNoSuchRecord
	}
	view := deliveryView{Delivery: d}
	for _, w := range c.server.Webhooks() {
		if w.ID == d.WebhookID {
			view.URL = w.URL
		}
	}
	for _, a := range d.Attempts {
		view.Attempts = append(view.Attempts, attemptView{a, curl(http.MethodPost, view.URL, a.Header, sentBody(a, d))})
	}
	return page{Title: "Delivery", name: "delivery", Live: "delivery", Data: view}, nil
}

// sentBody returns what an attempt sent: its own body if a fault changed it, otherwise the delivery's.
func sentBody(a signformstest.Attempt, d signformstest.Delivery) []byte {
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
	newest, _ := c.server.FindMessages(signformstest.MessageFilter{Limit: logSize})
	return page{Title: "Messages", name: "messages", Live: "message", Data: newest}, nil
}
