package console

import (
	"time"

	"github.com/signforms/signforms-go"
)

// client returns a client of the server. It has a reminder budget of its own, so that the service itself refuses what
// is too much.
func (c *console) client() (*signforms.Client, error) {
	return signforms.New(c.server.URL, c.server.APIKey, &signforms.Options{
		WorkspaceID: c.server.WorkspaceID, Transport: c.server.HTTPClient().Transport, Endpoints: c.options.Endpoints,
		RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond, LimitStore: signforms.NewMemoryLimitStore(c.server.Now),
	})
}
