package wire

import (
	"fmt"
	"regexp"
	"time"
)

// WorkspacePrefix is the path of workspaces. The id or name of a workspace and a slash follow, and
// then the path of its control interface or its console: /_/w/ID/api/v1. A path without
// WorkspacePrefix belongs to the first workspace.
const WorkspacePrefix = "/_/w/"

// NewWorkspace is the input for a workspace.
type NewWorkspace struct {
	Name     string   `json:"name,omitempty"`     // a name for use in paths and commands in place of the id
	Lifetime Duration `json:"lifetime,omitempty"` // the workspace ends after this time without use, by the wall clock; 0: never
	Seed     *Seed    `json:"seed,omitempty"`     // the records at its start and after a reset
}

// Workspace is a separate sandbox. Workspaces share only the address and the limits of the program.
type Workspace struct {
	ID         string    `json:"id"` // the same as the workspace id in its credentials
	Name       string    `json:"name,omitempty"`
	Lifetime   Duration  `json:"lifetime,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"` // by the wall clock; zero for the first
	UsedAt     time.Time `json:"usedAt"`             // by the wall clock; the start of the program counts
	ControlURL string    `json:"controlUrl"`         // URL of its control interface
}

// CreatedWorkspace is a new workspace with its credentials.
type CreatedWorkspace struct {
	Workspace
	Credentials
	Seeded *Seeded `json:"seeded"` // the ids of the records of the seed
}

// MaxWorkspaceName is the maximum length of the name of a workspace, in characters.
const MaxWorkspaceName = 100

// A name must be usable in paths.
var workspaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckWorkspace refuses a text that cannot be the id or name of a workspace.
func CheckWorkspace(idOrName string) error {
	if !workspaceName.MatchString(idOrName) || len(idOrName) > MaxWorkspaceName {
		return fmt.Errorf("%.64q is not an id or name of a workspace", idOrName)
	}
	return nil
}
