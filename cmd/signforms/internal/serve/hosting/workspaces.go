// Package hosting runs the workspaces of a sandbox behind one address: the first, which listens,
// and others. Each workspace is a separate reference service, with its own control interface,
// console, pages for signers, and finished PDFs.
//
// Start with [New] and [Workspaces.Start]; from [Workspaces.Open] on requests reach them.
package hosting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/signpages"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Config is the common configuration of the workspaces of a program.
type Config struct {
	Service refserver.Options  // options of the first workspace; all workspaces share its Profile, Keep, DialWebhook and Logger
	Seed    *wire.Seed         // the records of the first workspace after a reset; nil: no records
	Store   *sqlitestore.Store // the file of the first workspace; nil: all state is in memory. The caller closes it
	Files   sqlitestore.Options
	Data    string // location of the first workspace's state, as shown to people
	Version string // version of the program

	Guard     func(http.Handler) http.Handler // middleware before all workspaces
	Frames    []string                        // origins whose pages may embed signing
	PlainPDFs bool                            // do not make finished PDFs
	Profile   []string                        // values of --profile, as shown in the console
	Endpoints map[signforms.Operation]signforms.Endpoint
}

// Workspaces has the workspaces of the program. It implements [control.Workspaces].
type Workspaces struct {
	config   Config
	data     *files // nil: all state is in memory
	finisher *finisher
	first    *workspace
	readers  atomic.Int64  // readers of events; see control.Config
	turns    chan struct{} // turns of uploads

	ready  atomic.Bool
	ending context.Context // when it ends, the streams of events end
	end    context.CancelFunc

	mu       sync.RWMutex
	others   []*workspace // in the order in which they were made; requests reach only open workspaces
	byID     map[string]*workspace
	byName   map[string]*workspace
	byPrefix map[string]*workspace
}

// New returns workspaces that have not started. The caller closes them.
func New(ctx context.Context, c Config) (ws *Workspaces, err error) {
	ws = &Workspaces{config: c, turns: make(chan struct{}, maxUploads), byID: map[string]*workspace{}, byName: map[string]*workspace{}, byPrefix: map[string]*workspace{}}
	ws.ending, ws.end = context.WithCancel(context.Background())
	if c.Store != nil {
		ws.config.Service.Storage = c.Store
		if ws.data, err = openFiles(ctx, c.Store, c.Files, c.Service.Logger); err != nil {
			return nil, err
		}
	}
	ws.config.Service.Middleware = func(http.Handler) http.Handler { return c.Guard(ws) }
	ws.finisher, err = newFinisher(ctx, c.Store, c.Service.Logger)
	return ws, err
}

// Start starts the first workspace, which listens, and the other workspaces that have files.
func (ws *Workspaces) Start(ctx context.Context) error {
	ws.first = newWorkspace("", saved{Seed: ws.config.Seed})
	if err := ws.start(ws.first, ws.config.Service); err != nil {
		return err
	}
	ws.byID[strings.ToLower(ws.first.server.WorkspaceID)] = ws.first
	if ws.data == nil {
		return nil
	}
	ws.first.store = ws.data.first
	if err := ws.data.each(ctx, ws.resume); err != nil {
		return err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	slices.SortFunc(ws.others, func(a, b *workspace) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.id, b.id))
	})
	return nil
}

// First returns the control interface of the first workspace.
func (ws *Workspaces) First() *control.API { return ws.first.api }

// Open lets requests through.
func (ws *Workspaces) Open() { ws.ready.Store(true) }

// resume starts a workspace that has a file.
func (ws *Workspaces) resume(store *sqlitestore.Store, was saved) error {
	w := newWorkspace(was.ID, was)
	w.store = store
	ws.mu.Lock()
	other := ws.byName[w.Name]
	ws.addToLists(w)
	ws.mu.Unlock()
	if other != nil {
		return fmt.Errorf("%w: its workspace is named %q, as is that of %s; move one of the two files away", ErrMisplaced, w.Name, other.store.Path())
	}
	if err := ws.start(w, ws.behind(w)); err != nil {
		return fmt.Errorf("the workspace %s: %w", w.id, err)
	}
	ws.open(w)
	return nil
}

// behind returns the options of a workspace after the first.
func (ws *Workspaces) behind(w *workspace) refserver.Options {
	of := ws.config.Service
	o := refserver.Options{
		Profile: of.Profile, Keep: of.Keep, DialWebhook: of.DialWebhook, Logger: of.Logger,
		Behind: ws.first.server, WorkspaceID: w.id, Prefix: prefixOf(w.id),
	}
	switch {
	case w.store != nil:
		o.Storage = w.store
	case w.Lifetime > 0:
		o.Storage = &memoryFiles{}
	}
	return o
}

// start starts the server of a workspace, and makes its control interface and its pages.
func (ws *Workspaces) start(w *workspace, o refserver.Options) (err error) {
	f := &finisher{sealer: ws.finisher.sealer, pdfs: ws.finisher.pdfs, log: o.Logger}
	if !ws.config.PlainPDFs {
		o.Finish, o.CheckValues = f.finish, f.checkValues
	}
	if w.server, err = refserver.Start(&o); err != nil {
		return err
	}
	f.server = w.server // set before any request arrives
	w.api = control.New(control.Config{
		Server: w.server, Version: ws.config.Version, Data: ws.config.Data, Seed: w.Seed, Workspaces: ws, Removed: w.removed,
		Readers: &ws.readers, Prefix: o.Prefix, Inspect: f.inspect,
	})
	w.people = sync.OnceValue(func() http.Handler {
		return signpages.New(w.server, signpages.Options{Frames: ws.config.Frames, Document: f.standing, Logger: o.Logger})
	})
	w.pages = sync.OnceValue(func() http.Handler {
		return console.New(w.server, console.Options{
			PublicURL: w.server.PublicURL, Events: w.base() + "api/v1/events", Base: w.base(), Workspaces: ws.consoles, Data: ws.config.Data,
			Profile: ws.config.Profile, Endpoints: ws.config.Endpoints, Inspect: f.inspect, Logger: o.Logger,
			Reset: func(ctx context.Context) error { _, err := w.api.Reset(ctx); return err },
		})
	})
	return nil
}

// named returns the open workspace with an id or name, or nil.
func (ws *Workspaces) named(idOrName string) *workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	if w := ws.byName[idOrName]; w != nil && w.opened {
		return w
	}
	return ws.byID[strings.ToLower(idOrName)] // a UUID is the same in upper case
}

// opened returns the open workspaces, including the first.
func (ws *Workspaces) opened() []*workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	return slices.Collect(maps.Values(ws.byID))
}

// servers returns the servers of the open workspaces.
func (ws *Workspaces) servers() (all []*refserver.Server) {
	for _, w := range ws.opened() {
		all = append(all, w.server)
	}
	return all
}

// Shutdown ends the streams of events, waits for other running requests, and closes all servers. If
// ctx ends first, it returns ctx's error.
func (ws *Workspaces) Shutdown(ctx context.Context) error {
	ws.end()
	err := ws.first.server.Shutdown(ctx) // no more requests arrive
	servers := ws.servers()
	ended := make(chan error, len(servers))
	for _, server := range servers {
		go func() { ended <- server.Shutdown(ctx) }()
	}
	for range servers {
		err = errors.Join(err, <-ended)
	}
	return err
}

// Close closes all servers, and then their files.
func (ws *Workspaces) Close() (err error) {
	for _, w := range ws.opened() {
		w.server.Close()
		if w.store != nil {
			err = errors.Join(err, w.store.Close())
		}
	}
	return err
}

func noWorkspace(idOrName string) *wire.Error {
	return refusal(http.StatusNotFound, "not_found", "there is no workspace %.64q: it may have been removed, or have ended unused", idOrName)
}

func refusal(status int, code, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}
