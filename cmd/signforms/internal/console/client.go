package console

import (
	"time"

	"github.com/signforms/signforms-go"
)

// client returns a client of the server. Each client has its own reminder budget, so that the
// service itself refuses reminders beyond the limit.
func (c *console) client() (*signforms.Client, error) {
	return signforms.New(c.server.URL, c.server.APIKey, &signforms.Options{
		WorkspaceID: c.server.WorkspaceID, Transport: c.server.HTTPClient().Transport, Endpoints: c.options.Endpoints,
		RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond, LimitStore: signforms.NewMemoryLimitStore(c.server.Now),
	})
}
