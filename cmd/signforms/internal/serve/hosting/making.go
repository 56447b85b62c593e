package hosting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
)

// maxWorkspaces is how many workspaces there may be in addition to the first. An idle workspace
// takes less than 100 KB of memory.
const maxWorkspaces = 500

// saved is the description of a workspace in its file. If Whole is false, the next start deletes
// the workspace: its creation was not completed, or it is being removed.
type saved struct {
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Lifetime  wire.Duration `json:"lifetime,omitempty"`
	CreatedAt time.Time     `json:"createdAt"`
	Seed      *wire.Seed    `json:"seed,omitempty"`
	Whole     bool          `json:"whole"`
}

// addToLists adds a workspace to the lists, but requests do not reach it before open. The caller holds
// mu.
func (ws *Workspaces) addToLists(w *workspace) {
	ws.others = append(ws.others, w)
	ws.byPrefix[prefixOf(w.id)] = w
	if w.Name != "" {
		ws.byName[w.Name] = w
	}
}

func (ws *Workspaces) open(w *workspace) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.byID[w.id] = w
	w.opened = true
	w.used()
	if w.Lifetime > 0 {
		w.timer = time.AfterFunc(time.Duration(w.Lifetime), func() { ws.expire(w) })
	}
}

// removeFromLists removes a workspace from the lists. It reports whether the workspace was in them.
func (ws *Workspaces) removeFromLists(w *workspace) bool {
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
func (ws *Workspaces) Create(ctx context.Context, in wire.NewWorkspace) (*wire.CreatedWorkspace, error) {
	w, err := ws.reserve(saved{Name: in.Name, Lifetime: in.Lifetime, CreatedAt: time.Now().UTC().Truncate(time.Millisecond), Seed: in.Seed})
	if err != nil {
		return nil, err
	}
	seeded, err := ws.make(ctx, w)
	if err != nil {
		ws.removeFromLists(w)
		ws.discard(w)
		return nil, err
	}
	ws.open(w)
	return &wire.CreatedWorkspace{Workspace: ws.describe(w), Credentials: w.api.Credentials(), Seeded: seeded}, nil
}

// reserve adds a new workspace to the lists, with a new id.
func (ws *Workspaces) reserve(s saved) (*workspace, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.others) == maxWorkspaces {
		return nil, refusal(http.StatusServiceUnavailable, "busy", "there are %d workspaces, which is the maximum: remove one, or give them lifetimes", maxWorkspaces)
	}
	if ws.byName[s.Name] != nil {
		return nil, refusal(http.StatusConflict, "refused", "there is a workspace %q already", s.Name)
	}
	for {
		id := uuid.NewString()
		if ws.byPrefix[prefixOf(id)] == nil && prefixOf(id) != prefixOf(ws.first.server.WorkspaceID) {
			w := newWorkspace(id, s)
			ws.addToLists(w)
			return w, nil
		}
	}
}

// make starts a new workspace and adds its seed.
func (ws *Workspaces) make(ctx context.Context, w *workspace) (*wire.Seeded, error) {
	if ws.data != nil && w.Lifetime == 0 {
		err := ws.data.first.Sync(ctx) // a start refuses the files of workspaces beside an empty first file
		if err == nil {
			w.store, err = ws.data.create(ctx, w.id)
		}
		if err != nil {
			err = errors.Join(err, sqlitestore.Delete(ws.data.pathOf(w.id)))
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

// save saves the description of a workspace.
func (ws *Workspaces) save(ctx context.Context, w *workspace, whole bool) error {
	if w.store == nil {
		return nil
	}
	w.saved.ID, w.Whole = w.id, whole
	data, err := json.Marshal(w.saved)
	if err != nil {
		panic(err) // cannot happen: the value was decoded from JSON
	}
	err = ws.data.note(ctx, func(known map[string]string) { delete(known, w.id) })
	if err == nil {
		err = w.store.SetValue(ctx, workspaceValue, string(data))
	}
	if err == nil {
		err = w.store.Sync(ctx) // a start refuses a known workspace whose file is empty
	}
	if err == nil && whole {
		err = ws.data.note(ctx, func(known map[string]string) { known[w.id] = w.Name })
	}
	if err != nil {
		return refusal(http.StatusServiceUnavailable, "storage", "%v; nothing was changed", err)
	}
	return nil
}

// discard ends a workspace that is no longer in the lists, and deletes its file.
func (ws *Workspaces) discard(w *workspace) {
	w.end()
	if w.server != nil {
		w.server.Close()
	}
	if w.store == nil {
		return
	}
	if err := w.store.Remove(); err != nil {
		ws.config.Service.Logger.Error("deleting the file of a workspace that has ended; the next start does it", "workspace", w.id, "error", err)
	}
}

// List implements [control.Workspaces].
func (ws *Workspaces) List() []wire.Workspace {
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
func (ws *Workspaces) consoles() []console.Workspace {
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

func (ws *Workspaces) describe(w *workspace) wire.Workspace {
	return wire.Workspace{
		ID: w.server.WorkspaceID, Name: w.Name, Lifetime: w.Lifetime, CreatedAt: w.CreatedAt, UsedAt: w.usedAt(),
		ControlURL: w.server.PublicURL + wire.WorkspacePrefix + w.server.WorkspaceID + "/api/v1",
	}
}

// Remove implements [control.Workspaces]. As soon as the removal is saved, the workspace is gone.
func (ws *Workspaces) Remove(ctx context.Context, idOrName string) error {
	w := ws.named(idOrName)
	switch {
	case w == nil:
		return ws.data.forget(ctx, idOrName)
	case w == ws.first:
		return refusal(http.StatusConflict, "refused", "the first workspace stays as long as the sandbox: empty it with POST /reset")
	}
	if err := ws.save(ctx, w, false); err != nil {
		return err
	}
	if !ws.removeFromLists(w) {
		return noWorkspace(idOrName) // another call has removed it
	}
	ws.discard(w)
	return nil
}

// expire removes a workspace that was not used for its lifetime.
func (ws *Workspaces) expire(w *workspace) {
	left := time.Duration(w.Lifetime) - time.Since(w.usedAt())
	if left <= 0 {
		if err := ws.Remove(context.Background(), w.id); err == nil {
			return
		}
		left = time.Second // the workspace is gone already, which has stopped the timer, or the data file cannot be written
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if slices.Contains(ws.others, w) {
		w.timer.Reset(left)
	}
}
