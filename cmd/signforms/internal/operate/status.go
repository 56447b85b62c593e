package operate

import (
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// Status returns the command status.
func Status() *cobra.Command {
	var env bool
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "status",
		Short: "Show what a running sandbox holds",
		Long: "Show where a running sandbox is and what it holds. With --env, print the variables with which clients and\n" +
			"receivers find it, for eval in a shell; they hold secrets.",
		Args: cli.NoArgs,
	}, func(cmd *cobra.Command, _ []string, c *wire.Client) (any, func(io.Writer), error) {
		if env {
			return credentialLines(cmd, c)
		}
		var s wire.Status
		if err := c.Get(cmd.Context(), "/status", nil, &s); err != nil {
			return nil, nil, err
		}
		return s, func(w io.Writer) { cli.PrintRows(w, statusRows(s)...) }, nil
	})
	cmd.Flags().BoolVar(&env, "env", false, "print the variables for clients and receivers")
	return cmd
}

func credentialLines(cmd *cobra.Command, c *wire.Client) (any, func(io.Writer), error) {
	var found wire.Credentials
	if err := c.Get(cmd.Context(), "/credentials", nil, &found); err != nil {
		return nil, nil, err
	}
	lines, err := sandbox.ShellLines(found)
	return found, func(w io.Writer) { io.WriteString(w, lines) }, err
}

func statusRows(s wire.Status) [][]string {
	return [][]string{
		{"API", s.URL},
		{"data", s.Data},
		{"clock", s.Clock.Now.Format(time.RFC3339) + sandbox.ClockNote(s.Clock)},
		{"templates", strconv.Itoa(s.Templates)},
		{"forms", strconv.Itoa(s.Forms)},
		{"documents", strconv.Itoa(s.Documents)},
		{"webhooks", strconv.Itoa(s.Webhooks)},
		{"deliveries", strconv.Itoa(s.Pending) + " pending, " + strconv.Itoa(s.Failed) + " given up"},
		{"version", s.Version},
	}
}
