package operate

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/seedfile"
)

// Seed returns the command seed.
func Seed() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "seed FILE",
		Short: "Add the records of a seed file to a running sandbox",
		Long: "Add the templates, forms, documents and webhooks of a YAML file to a running sandbox. A file with a mistake adds\n" +
			"nothing. docs/sandbox.md has a link to an example.",
		Args: cli.ExactlyOne("FILE"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		file, err := seedfile.Read(args[0])
		if err != nil {
			return nil, nil, cli.ExitWith(cli.ExitFailure, err)
		}
		var made wire.Seeded
		if err := c.Post(cmd.Context(), "/seed", file.Seed, &made); err != nil {
			return nil, nil, file.Explain(err)
		}
		return made, func(w io.Writer) { cli.PrintRows(w, seededRows(made)...) }, nil
	})
}

func seededRows(made wire.Seeded) [][]string {
	rows := [][]string{}
	for _, kind := range []struct {
		name string
		ids  []string
	}{{"templates", made.Templates}, {"forms", made.Forms}, {"documents", made.Documents}, {"webhooks", made.Webhooks}} {
		rows = append(rows, []string{kind.name, strconv.Itoa(len(kind.ids))})
	}
	for _, key := range slices.Sorted(maps.Keys(made.Keys)) {
		rows = append(rows, []string{key, made.Keys[key]})
	}
	return rows
}

// Reset returns the command reset.
func Reset() *cobra.Command {
	var yes bool
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "reset --yes",
		Short: "Empty a running sandbox, down to the seed of serve",
		Long: "Remove every record, log, delivery and fault of a running sandbox, and apply its seed again. The API keys, the\n" +
			"webhook secret and the clock stay.",
		Args: cli.NoArgs,
	}, func(cmd *cobra.Command, _ []string, c *wire.Client) (any, func(io.Writer), error) {
		if !yes {
			return nil, nil, cli.UsageError("reset removes everything: add --yes")
		}
		var made wire.Seeded
		err := c.Post(cmd.Context(), "/reset", nil, &made)
		return made, func(w io.Writer) { cli.PrintRows(w, seededRows(made)...) }, err
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "really remove everything")
	return cmd
}
