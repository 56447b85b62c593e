package control

import (
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (a *API) getCredentials(r *http.Request) (any, error) {
	return a.Credentials(), readQuery(r).check()
}

// Credentials returns the credentials of the sandbox.
func (a *API) Credentials() wire.Credentials {
	return wire.Credentials{BaseURL: a.server.PublicURL, APIKey: a.server.APIKey, WorkspaceID: a.server.WorkspaceID, WebhookSecret: a.server.WebhookSecret}
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
func (a *API) Status() wire.Status {
	n := a.server.Counts()
	return wire.Status{
		Version: a.Version, URL: a.server.PublicURL, Data: a.Data, Clock: a.clock(),
		Templates: n.Templates, Forms: n.Forms, Documents: n.Documents + n.FromTemplates, Webhooks: n.Webhooks,
		Pending: n.Undelivered(),
		Failed:  n.Deliveries[refserver.DeliveryDead],
	}
}

// Empty reports whether the sandbox has no records yet.
func (a *API) Empty() bool {
	s := a.Status()
	return s.Templates+s.Forms+s.Documents+s.Webhooks == 0
}
