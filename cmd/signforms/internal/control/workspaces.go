package control

import (
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// Holds reports whether a path belongs to the control interface of any workspace.
func Holds(path string) bool {
	if rest, ok := strings.CutPrefix(path, wire.WorkspacePrefix); ok {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/_/" + rest
	}
	return strings.HasPrefix(path, wire.Prefix)
}

// A name must not look like an id that the program makes.
var workspaceID = regexp.MustCompile(`^[0-9a-fA-F]{8}-`)

// checkNew refuses invalid inputs, but does not check the seed.
func checkNew(in *wire.NewWorkspace) error {
	if n := utf8.RuneCountInString(in.Name); n > wire.MaxWorkspaceName {
		return inputError("name: has %d characters, and may have %d at most: shorten it", n, wire.MaxWorkspaceName)
	}
	if in.Name != "" && (wire.CheckWorkspace(in.Name) != nil || workspaceID.MatchString(in.Name)) {
		return inputError("name: %q must hold letters, digits, dots, dashes and underscores, begin with a letter or digit, and not begin like an id", in.Name)
	}
	if in.Lifetime != 0 && time.Duration(in.Lifetime) < time.Second {
		return inputError("lifetime: must be at least 1s; without one the workspace stays")
	}
	return nil
}

func (a *API) createWorkspace(r *http.Request) (any, error) {
	var in wire.NewWorkspace
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	if err := checkNew(&in); err != nil {
		return nil, err
	}
	out, err := a.Workspaces.Create(r.Context(), in)
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
