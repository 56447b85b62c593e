package control

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// WorkspacePrefix is the path below which every workspace has its control interface and its console, after its id or name and a
// slash: /_/w/ID/api/v1. Without it the first workspace is meant.
const WorkspacePrefix = "/_/w/"

// Holds reports whether a path is one of the control interface, of whichever workspace.
func Holds(path string) bool {
	if rest, ok := strings.CutPrefix(path, WorkspacePrefix); ok {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/_/" + rest
	}
	return strings.HasPrefix(path, Prefix)
}

// NewWorkspace is the input for a workspace.
type NewWorkspace struct {
	Name     string   `json:"name,omitempty"`     // another name of its id, for paths and commands
	Lifetime Duration `json:"lifetime,omitempty"` // it ends when it was not used for so long, by the wall clock; 0: never
	Seed     *Seed    `json:"seed,omitempty"`     // its records, also after a reset
}

// Workspace is a sandbox of its own. It shares nothing with others but the program's address and bounds.
type Workspace struct {
	ID         string    `json:"id"` // also that of its credentials
	Name       string    `json:"name,omitempty"`
	Lifetime   Duration  `json:"lifetime,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"` // by the wall clock; zero for the first
	UsedAt     time.Time `json:"usedAt"`             // by the wall clock; the start of the program counts
	ControlURL string    `json:"controlUrl"`         // of its control interface
}

// CreatedWorkspace is a new workspace, with what clients and receivers need.
type CreatedWorkspace struct {
	Workspace
	Credentials
	Seeded *Seeded `json:"seeded"` // the ids of what the seed made
}

// Workspaces makes and removes the workspaces of the program. Its errors are of the type [*Error].
type Workspaces interface {
	Create(ctx context.Context, in NewWorkspace) (*CreatedWorkspace, error)
	List() []Workspace // the first, then the others in the order in which they were made
	Remove(ctx context.Context, id string) error
}

// mostName is how many characters the name of a workspace may have.
const mostName = 100

// A name stands in paths, and is none of the ids that the program makes.
var (
	workspaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	workspaceID   = regexp.MustCompile(`^[0-9a-fA-F]{8}-`)
)

// check refuses wrong inputs, but not a wrong seed.
func (in *NewWorkspace) check() error {
	if n := utf8.RuneCountInString(in.Name); n > mostName {
		return inputError("name: has %d characters, and may have %d at most: shorten it", n, mostName)
	}
	if in.Name != "" && (!workspaceName.MatchString(in.Name) || workspaceID.MatchString(in.Name)) {
		return inputError("name: %q must hold letters, digits, dots, dashes and underscores, begin with a letter or digit, and not begin like an id", in.Name)
	}
	if in.Lifetime != 0 && time.Duration(in.Lifetime) < time.Second {
		return inputError("lifetime: must be at least 1s; without one the workspace stays")
	}
	return nil
}

// CheckWorkspace refuses a text that cannot be the id or name of a workspace.
func CheckWorkspace(idOrName string) error {
	if !workspaceName.MatchString(idOrName) || len(idOrName) > mostName {
		return fmt.Errorf("%.64q is no id or name of a workspace", idOrName)
	}
	return nil
}

func (a *API) createWorkspace(r *http.Request) (any, error) {
	var in struct {
		NewWorkspace
		Name     *string   `json:"name"`
		Lifetime *Duration `json:"lifetime"`
	}
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	if in.Name != nil {
		if in.NewWorkspace.Name = *in.Name; *in.Name == "" {
			return nil, inputError("name: is empty: leave it out for a workspace without a name")
		}
	}
	if in.Lifetime != nil {
		if in.NewWorkspace.Lifetime = *in.Lifetime; *in.Lifetime == 0 {
			return nil, inputError("lifetime: must be at least 1s; without one the workspace stays")
		}
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	out, err := a.Workspaces.Create(r.Context(), in.NewWorkspace)
	if err != nil {
		return nil, err
	}
	return created{out}, nil
}

func (a *API) listWorkspaces(r *http.Request) (any, error) {
	return page(readQuery(r), a.Workspaces.List(), every, same)
}

func (a *API) removeWorkspace(r *http.Request) (any, error) {
	return nil, a.Workspaces.Remove(r.Context(), r.PathValue("id"))
}
