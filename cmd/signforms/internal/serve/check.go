package serve

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/hosting"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
)

// Check returns the command check.
func Check() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Examine a sandbox's data file",
		Long: `Check examines a data file of serve with SQLite's integrity_check, reads its records as serve does, and compares
every PDF and picture with its SHA-256. It prints each problem on a line, and exits with 1 when there is one. A file in
use is refused: stop the sandbox, or check a copy made by backup. A file that cannot be written is refused too.`,
		Example: "  signforms check sandbox.db",
		Args:    cli.ExactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return report(cmd, args[0])
		},
	}
}

// Backup returns the command backup.
func Backup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE COPY",
		Short: "Copy a sandbox's data file, also while it is in use",
		Long: `Backup copies a data file of serve to a new file, with all that was saved when the command began. The sandbox goes on
meanwhile. COPY must not exist, nor a -wal, -shm or -journal beside it. The copy is examined as by check: when that
finds a problem, the command exits with 1, and the copy stays. A workspace without a lifetime has a file of its own.`,
		Example: "  signforms backup sandbox.db sandbox-monday.db",
		Args:    fileAndCopy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sqlitestore.Backup(cmd.Context(), args[0], args[1]); err != nil {
				return err
			}
			return report(cmd, args[1])
		},
	}
}

func fileAndCopy(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return errors.New("needs two arguments: FILE COPY")
	}
	return nil
}

// report examines a file and prints what it finds.
func report(cmd *cobra.Command, file string) error {
	problems := 0
	found, err := sqlitestore.Check(cmd.Context(), file, func(text string) {
		problems++
		fmt.Fprintln(cmd.OutOrStdout(), cli.Plain(text))
	}, hosting.CheckValues)
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("%s has %s", file, cli.Count(problems, "problem", "problems"))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is whole: %s, %s\n", file, cli.Count(found.Records, "record", "records"),
		cli.Count(found.Files, "PDF or picture", "PDFs and pictures"))
	return nil
}
