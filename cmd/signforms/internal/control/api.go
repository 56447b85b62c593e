package control

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/relay"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Config is the configuration of the interface.
type Config struct {
	Server  *refserver.Server
	Version string     // version of the program
	Data    string     // location of the state: the path of a file, or "memory"
	Seed    *wire.Seed // the records after a reset; nil: no records

	Workspaces Workspaces      // the workspaces of the program
	Removed    context.Context // ends when the workspace is removed; nil: never
	Readers    *atomic.Int64   // number of clients that read events or wait, in all workspaces together
	Prefix     string          // beginning of the URLs of the server's relays; see Options.Prefix of the server

	// Inspect returns the content of an uploaded PDF, or why it is refused.
	Inspect func(ctx context.Context, data []byte) (pdf.Content, error)
}

// Workspaces makes and removes the workspaces of the program. Its errors are of the type [*Error].
type Workspaces interface {
	Create(ctx context.Context, in wire.NewWorkspace) (*wire.CreatedWorkspace, error)
	List() []wire.Workspace // the first workspace, then the others in the order in which they were made
	Remove(ctx context.Context, id string) error
}

// API is the interface of one workspace. It is an [http.Handler] for the paths below [Prefix].
type API struct {
	Config
	server *refserver.Server
	relays *relay.Relays

	advancing atomic.Int32 // number of requests that advance the clock or wait to advance it
}

// New returns the interface of a workspace.
func New(c Config) *API {
	c.Readers = cmp.Or(c.Readers, new(atomic.Int64))
	return &API{Config: c, server: c.Server, relays: relay.New()}
}

// rawHandler executes an operation and writes the response itself.
type rawHandler func(*API, http.ResponseWriter, *http.Request)

// created is a response with status 201.
type created struct{ body any }

// handler executes an operation and returns its result. A nil result gives the status 204.
type handler func(*API, *http.Request) (any, error)

// late is a response with status 408.
type late struct{ body any }
