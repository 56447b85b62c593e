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
	Pending   int    `json:"pendingDeliveries"` // waiting for an attempt, or under way
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

// addWorkspace adds an empty workspace.
func (a *API) addWorkspace(*http.Request) (any, error) {
	out := a.Credentials()
	var err error
	if out.WorkspaceID, out.APIKey, err = a.server.AddWorkspace(); err != nil {
		return nil, err
	}
	return created{out}, nil
}

func (a *API) getStatus(r *http.Request) (any, error) { return a.Status(), readQuery(r).check() }

// Status returns the status of the sandbox.
func (a *API) Status() Status {
	_, documents := a.server.FindDocuments(signformstest.DocumentFilter{Limit: 1})
	_, made := a.server.FindDocuments(signformstest.DocumentFilter{Limit: 1, FromTemplates: true})
	return Status{
		Version: a.Version, URL: a.server.PublicURL, Data: a.Data, Clock: a.clock(),
		Templates: len(a.server.Templates()), Forms: len(a.server.Forms()), Documents: documents + made, Webhooks: len(a.server.Webhooks()),
		Pending: a.deliveriesIn(signformstest.DeliveryPending, signformstest.DeliverySending), Failed: a.deliveriesIn(signformstest.DeliveryDead),
	}
}

// Empty reports whether the sandbox has no records yet.
func (a *API) Empty() bool {
	s := a.Status()
	return s.Templates+s.Forms+s.Documents+s.Webhooks == 0
}

func count[T any](all []T, match func(T) bool) (n int) {
	for _, v := range all {
		if match(v) {
			n++
		}
	}
	return n
}

// deliveriesIn counts the deliveries with one of the statuses.
func (a *API) deliveriesIn(statuses ...signformstest.DeliveryStatus) int {
	return count(a.server.Deliveries(), func(d signformstest.Delivery) bool {
		for _, status := range statuses {
			if d.Status == status {
				return true
			}
		}
		return false
	})
}
