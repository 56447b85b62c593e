package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
	"github.com/signforms/signforms-go/cmd/signforms/internal/seedfile"
)

// readSeed reads the file of --seed. It is called before anything is started.
func (f *serveFlags) readSeed() (*seedfile.File, error) {
	if f.seed == "" {
		return &seedfile.File{}, nil
	}
	return seedfile.Read(f.seed)
}

// applySeed adds the seed to a store that has no records yet.
func (f *serveFlags) applySeed(ctx context.Context, api *control.API, seed *seedfile.File) error {
	if seed.Seed == nil || !api.Empty() {
		return nil
	}
	_, err := api.Apply(ctx, seed.Seed)
	return seed.Explain(err)
}

// readyLine is the line that --json prints when the sandbox accepts requests.
type readyLine struct {
	wire.Credentials
	Listening string `json:"listening"` // the base URL without --public-url
	Console   string `json:"consoleUrl"`
	Data      string `json:"data"`
}

// tellReady writes the file of --env-file, the lines for people on stderr, and the line of --json.
func (f *serveFlags) tellReady(stdout, stderr io.Writer, api *control.API) error {
	found := api.Credentials()
	if f.envFile != "" {
		if err := sandbox.WriteEnvFile(f.envFile, found); err != nil {
			return err
		}
	}
	console := found.BaseURL + "/_/"
	closed := ""
	if f.guard().Closed() {
		closed = " (closed: other machines or a proxy may reach it; set --token, or listen on 127.0.0.1)"
	}
	status := api.Status()
	base := found.BaseURL
	if listening := api.Server.URL; listening != found.BaseURL {
		base += ", listening on " + listening
	}
	cli.PrintRows(stderr,
		[]string{"API", base},
		[]string{"API key", found.APIKey},
		[]string{"workspace", found.WorkspaceID},
		[]string{"console", console + closed},
		[]string{"data", status.Data + ", " + cli.Count(status.Documents, "document", "documents")},
		[]string{"clock", status.Clock.Now.Format(time.RFC3339) + sandbox.ClockNote(status.Clock)},
	)
	fmt.Fprintln(stderr, "This is a sandbox, not the real service. Stop it with Ctrl+C.")
	if !f.json {
		return nil
	}
	return json.NewEncoder(stdout).Encode(readyLine{Credentials: found, Listening: api.Server.URL, Console: console, Data: status.Data})
}
