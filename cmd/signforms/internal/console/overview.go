package console

import (
	"errors"
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver"
)

// overviewView is the data of the first page: how to connect a client, and the numbers of records.
type overviewView struct {
	URL, APIKey, WorkspaceID   string
	Examples                   []example
	Templates, Forms, Webhooks int
	Documents, FromTemplates   int
	Pending, Failed            int
	Deliveries                 []deliveryRow
}

type example struct{ Language, Code string }

func (c *console) overview(*http.Request) (page, error) {
	n := c.server.Counts()
	view := overviewView{
		URL: c.options.PublicURL, APIKey: c.server.APIKey, WorkspaceID: c.server.WorkspaceID, Examples: c.examples(),
		Templates: n.Templates, Forms: n.Forms, Webhooks: n.Webhooks, Documents: n.Documents, FromTemplates: n.FromTemplates,
		Pending: n.Undelivered(),
		Failed:  n.Deliveries[refserver.DeliveryDead],
	}
	newest, _ := c.server.FindDeliveries(nil, 0, 8)
	view.Deliveries = c.rows(newest)
	return page{Title: "Sandbox", name: "overview", Live: "document,delivery,template,form,webhook", Data: view}, nil
}

// examples returns programs in three languages that list the documents.
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
	if r.PostFormValue("sure") != "true" {
		return "", errors.New("nothing was deleted: tick “Delete everything” first")
	}
	return done("settings", "reset"), c.options.Reset(r.Context())
}
