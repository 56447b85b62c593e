package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// maxWorkspaces is how many workspaces there may be after the first. An idle one takes less than 100 KB of memory.
const maxWorkspaces = 500

// workspaces holds the workspaces of the program: the first, which listens, and others behind it. It implements
// [control.Workspaces].
type workspaces struct {
	options refserver.Options // of every workspace; some of the first's are its own
	data    *files            // nil: all is in memory
	control control.Config    // of every workspace
	parts   func(*workspace) parts
	first   *workspace

	mu       sync.RWMutex
	others   []*workspace // in the order in which they were made; nobody finds those that are not open
	byID     map[string]*workspace
	byName   map[string]*workspace
	byPrefix map[string]*workspace
}

// saved is what the file of a workspace after the first says of it. One that is not whole is deleted at the next start: it was not
// made to its end, or is being removed.
type saved struct {
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Lifetime  wire.Duration `json:"lifetime,omitempty"`
	CreatedAt time.Time     `json:"createdAt"`
	Seed      *wire.Seed    `json:"seed,omitempty"`
	Whole     bool          `json:"whole"`
}

// begin starts the first workspace, with options of its own, and the others that have files.
func (ws *workspaces) begin(ctx context.Context, own refserver.Options, seed *wire.Seed) error {
	ws.byID, ws.byName, ws.byPrefix = map[string]*workspace{}, map[string]*workspace{}, map[string]*workspace{}
	ws.first = newWorkspace("", saved{Seed: seed})
	if err := ws.start(ws.first, own); err != nil {
		return err
	}
	ws.byID[strings.ToLower(ws.first.server.WorkspaceID)] = ws.first
	if ws.data == nil {
		return nil
	}
	ws.first.store = ws.data.first
	if err := ws.data.each(ctx, func(store *sqlitestore.Store, was saved) error { return ws.resume(store, was) }); err != nil {
		return err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	slices.SortFunc(ws.others, func(a, b *workspace) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.id, b.id))
	})
	return nil
}

// resume starts a workspace that has a file.
func (ws *workspaces) resume(store *sqlitestore.Store, was saved) error {
	w := newWorkspace(was.ID, was)
	w.store = store
	ws.mu.Lock()
	ws.hold(w)
	ws.mu.Unlock()
	if err := ws.start(w, ws.behind(w)); err != nil {
		return fmt.Errorf("the workspace %s: %w", w.id, err)
	}
	ws.open(w)
	return nil
}

// behind returns the options of a workspace after the first.
func (ws *workspaces) behind(w *workspace) refserver.Options {
	o, id := ws.options, w.id
	o.Behind, o.WorkspaceID, o.Prefix = ws.first.server, id, prefixOf(id)
	switch {
	case w.store != nil:
		o.Storage = w.store
	case w.Lifetime > 0:
		o.Storage = &memoryFiles{}
	}
	return o
}

// start starts the server of a workspace, and makes its control interface.
func (ws *workspaces) start(w *workspace, o refserver.Options) error {
	w.parts = ws.parts(w)
	o.Finish = w.finish
	server, err := refserver.Start(&o)
	if err != nil {
		return err
	}
	c := ws.control
	c.Server, c.Seed, c.Prefix, c.Inspect, c.Workspaces, c.Removed = server, w.Seed, o.Prefix, w.inspect, ws, w.removed
	w.server, w.api = server, control.New(c)
	w.begin(server)
	return nil
}

// hold takes a place for a workspace. Nobody finds it before open. The caller holds mu.
func (ws *workspaces) hold(w *workspace) {
	ws.others = append(ws.others, w)
	ws.byPrefix[prefixOf(w.id)] = w
	if w.Name != "" {
		ws.byName[w.Name] = w
	}
}

func (ws *workspaces) open(w *workspace) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.byID[w.id] = w
	w.opened = true
	w.used()
	if w.Lifetime > 0 {
		w.timer = time.AfterFunc(time.Duration(w.Lifetime), func() { ws.expire(w) })
	}
}

// let gives the place of a workspace up. It reports whether it had one.
func (ws *workspaces) let(w *workspace) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	at := slices.Index(ws.others, w)
	if at < 0 {
		return false
	}
	ws.others = slices.Delete(ws.others, at, at+1)
	delete(ws.byID, w.id)
	delete(ws.byName, w.Name)
	delete(ws.byPrefix, prefixOf(w.id))
	if w.timer != nil {
		w.timer.Stop()
	}
	return true
}

// Create implements [control.Workspaces].
func (ws *workspaces) Create(ctx context.Context, in wire.NewWorkspace) (*wire.CreatedWorkspace, error) {
	w, err := ws.reserve(saved{Name: in.Name, Lifetime: in.Lifetime, CreatedAt: time.Now().UTC().Truncate(time.Millisecond), Seed: in.Seed})
	if err != nil {
		return nil, err
	}
	seeded, err := ws.make(ctx, w)
	if err != nil {
		ws.let(w)
		ws.discard(w)
		return nil, err
	}
	ws.open(w)
	return &wire.CreatedWorkspace{Workspace: ws.describe(w), Credentials: w.api.Credentials(), Seeded: seeded}, nil
}

// reserve takes a place and an id for a new workspace.
func (ws *workspaces) reserve(s saved) (*workspace, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.others) == maxWorkspaces {
		return nil, refusal(http.StatusServiceUnavailable, "busy", "there are %d workspaces, and there may be no more: remove one, or give them lifetimes", maxWorkspaces)
	}
	if ws.byName[s.Name] != nil {
		return nil, refusal(http.StatusConflict, "refused", "there is a workspace %q already", s.Name)
	}
	for {
		id := uuid.NewString()
		if ws.byPrefix[prefixOf(id)] == nil && prefixOf(id) != prefixOf(ws.first.server.WorkspaceID) {
			w := newWorkspace(id, s)
			ws.hold(w)
			return w, nil
		}
	}
}

// make starts a new workspace and adds its seed.
func (ws *workspaces) make(ctx context.Context, w *workspace) (*wire.Seeded, error) {
	if ws.data != nil && w.Lifetime == 0 {
		var err error
		if w.store, err = ws.data.create(ctx, w.id); err != nil {
			return nil, refusal(http.StatusServiceUnavailable, "storage", "%v; nothing was changed", err)
		}
	}
	if err := ws.save(ctx, w, false); err != nil {
		return nil, err
	}
	if err := ws.start(w, ws.behind(w)); err != nil {
		return nil, refusal(http.StatusServiceUnavailable, "storage", "%v; nothing was changed", err)
	}
	seeded, err := w.api.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return seeded, ws.save(ctx, w, true)
}

// save saves what is known of a workspace.
func (ws *workspaces) save(ctx context.Context, w *workspace, whole bool) error {
	if w.store == nil {
		return nil
	}
	w.saved.ID, w.Whole = w.id, whole
	data, err := json.Marshal(w.saved)
	if err != nil {
		panic(err) // cannot happen: it came as JSON
	}
	if err := w.store.SetValue(ctx, workspaceValue, string(data)); err != nil {
		return refusal(http.StatusServiceUnavailable, "storage", "%v; nothing was changed", err)
	}
	return nil
}

// discard ends a workspace that has no place any more, and deletes its file.
func (ws *workspaces) discard(w *workspace) {
	w.end()
	if w.server != nil {
		w.server.Close()
	}
	if w.store == nil {
		return
	}
	if err := w.store.Remove(); err != nil {
		ws.options.Logger.Error("deleting the file of a workspace that has ended; the next start does it", "workspace", w.id, "error", err)
	}
}

// List implements [control.Workspaces].
func (ws *workspaces) List() []wire.Workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	all := []wire.Workspace{ws.describe(ws.first)}
	for _, w := range ws.others {
		if w.opened {
			all = append(all, ws.describe(w))
		}
	}
	return all
}

// consoles returns the consoles of the open workspaces, in the order of List.
func (ws *workspaces) consoles() []console.Workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	all := []console.Workspace{{Name: "first", Base: console.Prefix}}
	for _, w := range ws.others {
		if w.opened {
			all = append(all, console.Workspace{Name: cmp.Or(w.Name, w.id), Base: w.base()})
		}
	}
	return all
}

func (ws *workspaces) describe(w *workspace) wire.Workspace {
	return wire.Workspace{
		ID: w.server.WorkspaceID, Name: w.Name, Lifetime: w.Lifetime, CreatedAt: w.CreatedAt, UsedAt: w.usedAt(),
		ControlURL: w.server.PublicURL + wire.WorkspacePrefix + w.server.WorkspaceID + "/api/v1",
	}
}

// Remove implements [control.Workspaces]. From the moment on in which that is saved, the workspace is gone.
func (ws *workspaces) Remove(ctx context.Context, idOrName string) error {
	w := ws.named(idOrName)
	switch {
	case w == nil:
		return noWorkspace(idOrName)
	case w == ws.first:
		return refusal(http.StatusConflict, "refused", "the first workspace stays as long as the sandbox: empty it with POST /reset")
	}
	if err := ws.save(ctx, w, false); err != nil {
		return err
	}
	if !ws.let(w) {
		return noWorkspace(idOrName) // somebody else was faster
	}
	ws.discard(w)
	return nil
}

// expire removes a workspace that was not used for its lifetime.
func (ws *workspaces) expire(w *workspace) {
	left := time.Duration(w.Lifetime) - time.Since(w.usedAt())
	if left <= 0 {
		if err := ws.Remove(context.Background(), w.id); err == nil {
			return
		}
		left = time.Second // it is gone already, which stopped the timer, or the data file cannot be written
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if slices.Contains(ws.others, w) {
		w.timer.Reset(left)
	}
}

// named returns the open workspace with an id or name, or nil.
func (ws *workspaces) named(idOrName string) *workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	if w := ws.byName[idOrName]; w != nil && w.opened {
		return w
	}
	return ws.byID[strings.ToLower(idOrName)] // a UUID is the same in upper case
}

// opened returns the open workspaces, the first one included.
func (ws *workspaces) opened() []*workspace {
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	return slices.Collect(maps.Values(ws.byID))
}

// servers returns those of the open workspaces.
func (ws *workspaces) servers() (all []*refserver.Server) {
	for _, w := range ws.opened() {
		all = append(all, w.server)
	}
	return all
}

// checkStorage returns why changes cannot be saved, or a file cannot be read.
func (ws *workspaces) checkStorage() error {
	for _, server := range ws.servers() {
		if err := server.CheckStorage(); err != nil {
			return err
		}
	}
	return nil
}

// shutdown lets what is under way end, and closes all servers. It returns the error of ctx when that ends first.
func (ws *workspaces) shutdown(ctx context.Context) error {
	err := ws.first.server.Shutdown(ctx) // nothing arrives any more
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

// close closes all servers, and then their files.
func (ws *workspaces) close() (err error) {
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
