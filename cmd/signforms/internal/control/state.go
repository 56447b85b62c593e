package control

import (
	"net/http"

	"github.com/signforms/signforms-go/signformstest"
)

// Status tells what a sandbox is and what it holds.
type Status struct {
	Version   string `json:"version"`
	URL       string `json:"url"` // the URL in clients, links and payloads
	Data      string `json:"data"`
	Clock     *Clock `json:"clock"`
	Templates int    `json:"templates"`
	Forms     int    `json:"forms"`
	Documents int    `json:"documents"`
	Webhooks  int    `json:"webhooks"`
	Pending   int    `json:"pendingDeliveries"` // waiting for a finished file or an attempt, or under way
	Failed    int    `json:"failedDeliveries"`  // given up
}

// Credentials holds what a client and a receiver of webhooks need.
type Credentials struct {
	BaseURL       string `json:"baseUrl"`
	APIKey        string `json:"apiKey"`
	WorkspaceID   string `json:"workspaceId"`
	WebhookSecret string `json:"webhookSecret"`
}

func (a *API) getCredentials(r *http.Request) (any, error) {
	return a.Credentials(), readQuery(r).check()
}

// Credentials returns the credentials of the sandbox.
func (a *API) Credentials() Credentials {
	return Credentials{BaseURL: a.server.PublicURL, APIKey: a.server.APIKey, WorkspaceID: a.server.WorkspaceID, WebhookSecret: a.server.WebhookSecret}
}

// addAPIKey adds a key to the workspace. Each key has its own reminder limit.
func (a *API) addAPIKey(*http.Request) (any, error) {
	out := a.Credentials()
	var err error
	if out.APIKey, err = a.server.AddAPIKey(); err != nil {
		return nil, err
	}
	return created{out}, nil
}

func (a *API) getStatus(r *http.Request) (any, error) { return a.Status(), readQuery(r).check() }

// Status returns the status of the sandbox.
func (a *API) Status() Status {
	n := a.server.Counts()
	return Status{
		Version: a.Version, URL: a.server.PublicURL, Data: a.Data, Clock: a.clock(),
		Templates: n.Templates, Forms: n.Forms, Documents: n.Documents + n.FromTemplates, Webhooks: n.Webhooks,
		Pending: n.Undelivered(),
		Failed:  n.Deliveries[signformstest.DeliveryDead],
	}
}

// Empty reports whether the sandbox has no records yet.
func (a *API) Empty() bool {
	s := a.Status()
	return s.Templates+s.Forms+s.Documents+s.Webhooks == 0
}
