package console

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver"
)

func (c *console) webhooks(*http.Request) (page, error) {
	return page{Title: "Webhooks", New: "New webhook", name: "webhooks", Live: "webhook", Data: c.server.Webhooks()}, nil
}

// webhookView is one webhook. Its secret is shown only on demand.
type webhookView struct {
	Webhook    refserver.WebhookState
	Secret     string
	Deliveries []deliveryRow
}

func (c *console) webhook(r *http.Request) (page, error) {
	all := c.server.Webhooks()
	i := slices.IndexFunc(all, func(w refserver.WebhookState) bool { return w.ID == r.PathValue("id") })
	if i < 0 {
		return page{}, errNoSuchRecord
	}
	view := webhookView{Webhook: all[i]}
	newest, _ := c.server.FindDeliveries(func(d refserver.Delivery) bool { return d.WebhookID == view.Webhook.ID }, 0, logSize)
	view.Deliveries = c.rows(newest)
	if r.URL.Query().Has("secret") {
		view.Secret = all[i].Secret
	}
	return page{Title: "Webhook", name: "webhook", Live: "webhook,delivery", Data: view}, nil
}

// families are the choices in the second step of a new webhook. Records names the records from
// which the user chooses in the third step.
var families = []struct {
	Event   refserver.EventFamily
	Title   string
	Records string
}{
	{refserver.TemplateResponse, "Template Response: documents sent from templates are viewed, signed and completed", "templates"},
	{refserver.SignatureCompleted, "Signature Completed: PDF documents are viewed, signed and completed", "PDF documents"},
	{refserver.FormResponse, "Form Response: forms are submitted", "forms"},
}

// newWebhookView is the data for one step of making a webhook: the choice of its URL, its family,
// or its records.
type newWebhookView struct {
	URL, Event, Kind, Query string
	Object                  bool
	Families                any
	Chosen, Found           []record
	Matching                int // how many records the query selects; Found has the newest of them
}

type record struct{ ID, Name, Signers string }

func (c *console) newWebhook(r *http.Request) (page, error) {
	view := newWebhookView{
		URL: r.FormValue("url"), Event: r.FormValue("event"), Query: r.FormValue("query"), Object: r.FormValue("object") == "true", Families: families,
	}
	for _, f := range families {
		if string(f.Event) != view.Event {
			continue
		}
		view.Kind = f.Records
		for _, id := range r.Form["record"] {
			if chosen, ok := c.record(f.Event, id); ok {
				view.Chosen = append(view.Chosen, chosen)
			}
		}
		view.Found, view.Matching = c.records(f.Event, view.Query)
		view.Found = slices.DeleteFunc(view.Found, func(found record) bool { return slices.Contains(view.Chosen, found) })
	}
	return page{Title: "New webhook", name: "new-webhook", Data: view}, nil
}

// records returns the newest 100 records that a webhook of this family can track and the query
// selects, and the number of all selected records.
func (c *console) records(event refserver.EventFamily, query string) (newest []record, total int) {
	switch event {
	case refserver.TemplateResponse:
		for _, t := range c.server.Templates() {
			newest = append(newest, record{ID: t.ID, Name: t.Name})
		}
	case refserver.FormResponse:
		for _, f := range c.server.Forms() {
			newest = append(newest, record{ID: f.ID, Name: f.Title})
		}
	default:
		documents, total := c.server.FindDocuments(searched(refserver.DocumentFilter{Limit: 100}, query))
		for _, d := range documents {
			newest = append(newest, documentRecord(d))
		}
		return newest, total
	}
	newest = slices.DeleteFunc(newest, func(v record) bool { return !strings.Contains(strings.ToLower(v.Name), strings.ToLower(query)) })
	return newest[:min(len(newest), 100)], len(newest)
}

// record returns the record with the id, if a webhook of this family can track it.
func (c *console) record(event refserver.EventFamily, id string) (record, bool) {
	switch event {
	case refserver.TemplateResponse:
		t, ok := c.server.FindTemplate(id)
		return record{ID: t.ID, Name: t.Name}, ok
	case refserver.FormResponse:
		f, ok := c.server.FindForm(id)
		return record{ID: f.ID, Name: f.Title}, ok
	}
	d, ok := c.server.FindDocument(id)
	return documentRecord(d), ok
}

func documentRecord(d refserver.DocumentState) record {
	var signers []string
	for _, s := range d.Signers[:min(len(d.Signers), 3)] {
		signers = append(signers, s.Email)
	}
	return record{d.ID, d.Name, strings.Join(signers, ", ")}
}

func (c *console) addWebhook(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", errors.New("the form could not be read: try again")
	}
	id, err := c.server.AddWebhook(refserver.Webhook{
		URL: strings.TrimSpace(r.PostFormValue("url")), Event: refserver.EventFamily(r.PostFormValue("event")),
		Documents: r.PostForm["record"], Object: r.PostFormValue("object") == "true",
	})
	if err != nil {
		return "", err
	}
	return done("webhooks/"+id, "added"), nil
}

func (c *console) actOnWebhook(r *http.Request) (string, error) {
	id := r.PathValue("id")
	here := func(what string, err error) (string, error) { return done("webhooks/"+id, what), err }
	switch r.PostFormValue("act") {
	case "test":
		_, err := c.server.TestWebhook(id)
		return here("tested", err)
	case "enable":
		return here("enabled", c.server.EnableWebhook(id))
	case "disable":
		return here("disabled", c.server.DisableWebhook(id))
	case "rotate":
		_, err := c.server.RotateWebhookSecret(id)
		return here("rotated", err)
	case "delete":
		return done("webhooks", "deleted"), c.server.DeleteWebhook(id)
	case "resend":
		_, err := c.server.ResendFailed(id, c.server.Now().AddDate(0, 0, -30))
		return here("resent", err)
	}
	return "", errors.New("this page has no such button: reload it")
}
