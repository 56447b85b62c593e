package console

import (
	"net/http"

	"github.com/signforms/signforms-go/signformstest"
)

// overviewView is the first page: how a client connects, and how many records there are.
type overviewView struct {
	URL, APIKey, WorkspaceID   string
	Examples                   []example
	Templates, Forms, Webhooks int
	Documents, FromTemplates   int
	Pending, Failed            int
	Deliveries                 []signformstest.Delivery
}

type example struct{ Language, Code string }

func (c *console) overview(*http.Request) (page, error) {
	view := overviewView{
		URL: c.options.PublicURL, APIKey: c.server.APIKey, WorkspaceID: c.server.WorkspaceID, Examples: c.examples(),
		Templates: len(c.server.Templates()), Forms: len(c.server.Forms()), Webhooks: len(c.server.Webhooks()),
	}
	_, view.Documents = c.server.FindDocuments(signformstest.DocumentFilter{Limit: 1})
	_, view.FromTemplates = c.server.FindDocuments(signformstest.DocumentFilter{FromTemplates: true, Limit: 1})
	deliveries := c.server.Deliveries()
	for _, d := range deliveries {
		switch d.Status {
		case signformstest.DeliveryPending, signformstest.DeliverySending:
			view.Pending++
		case signformstest.DeliveryDead:
			view.Failed++
		}
	}
	view.Deliveries = newest(deliveries, everything)
	view.Deliveries = view.Deliveries[:min(len(view.Deliveries), 8)]
	return page{Title: "Sandbox", name: "overview", Live: "document,delivery,template,form,webhook", Data: view}, nil
}

// examples list the documents in three languages.
func (c *console) examples() []example {
	return []example{
		{"Shell", "curl -H \"x-api-key: " + c.server.APIKey + "\" " + c.options.PublicURL + "/get-documents"},
		{"JavaScript", "const answer = await fetch(\"" + c.options.PublicURL + "/get-documents\", {\n  headers: { \"x-api-key\": \"" + c.server.APIKey +
			"\" },\n});\nconsole.log(await answer.json());"},
		{"Go", "client, err := signforms.New(\"" + c.options.PublicURL + "\", \"" + c.server.APIKey + "\", nil)\nif err != nil {\n\tlog.Fatal(err)\n}\n" +
			"page, err := client.Documents.List(ctx, signforms.DocumentListParams{})"},
	}
}

type settingsView struct {
	Options     Options
	APIKey      string
	WorkspaceID string
	Secret      string
}

func (c *console) settings(r *http.Request) (page, error) {
	view := settingsView{Options: c.options, APIKey: c.server.APIKey, WorkspaceID: c.server.WorkspaceID}
	if r.URL.Query().Has("secret") {
		view.Secret = c.server.WebhookSecret
	}
	return page{Title: "Keys and settings", name: "settings", Data: view}, nil
}

func (c *console) reset(r *http.Request) (string, error) {
	return done("settings", "reset"), c.server.Reset()
}
