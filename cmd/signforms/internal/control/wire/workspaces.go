package wire

import (
	"fmt"
	"regexp"
	"time"
)

// WorkspacePrefix is the path below which every workspace has its control interface and its console, after its id or
// name and a slash: /_/w/ID/api/v1. Without it the first workspace is meant.
const WorkspacePrefix = "/_/w/"

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

// MaxWorkspaceName is how many characters the name of a workspace may have.
const MaxWorkspaceName = 100

// A name stands in paths.
var workspaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckWorkspace refuses a text that cannot be the id or name of a workspace.
func CheckWorkspace(idOrName string) error {
	if !workspaceName.MatchString(idOrName) || len(idOrName) > MaxWorkspaceName {
		return fmt.Errorf("%.64q is no id or name of a workspace", idOrName)
	}
	return nil
}
