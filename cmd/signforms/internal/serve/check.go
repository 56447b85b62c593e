package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Check returns the command check.
func Check() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Examine a sandbox's data file",
		Long: `Check reads a whole data file of serve: its pages, the key that seals, every record, every PDF and picture. It prints
each problem on a line, and exits with 1 when there is one. What makes the start fail, check finds too. It changes
nothing.

A file in use is refused: stop the sandbox, or check a copy made by backup. A file that was not closed, as after a
crash, or is of an older version, is first copied to the folder for temporary files.`,
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
finds a problem, the command exits with 1, and the copy stays.`,
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
	problem := func(text string) {
		problems++
		fmt.Fprintln(cmd.OutOrStdout(), cli.Plain(text))
	}
	e, err := sqlitestore.Examine(cmd.Context(), file, problem)
	if err != nil {
		return err
	}
	defer e.Close()
	found, err := examine(cmd.Context(), e, problem)
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("%s has %s", e.Path(), cli.Count(problems, "problem", "problems"))
	}
	info, err := os.Stat(e.Path())
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is whole: %s, %s, %s\n", e.Path(), cli.Count(found.Records, "record", "records"),
		cli.Count(len(found.Files), "PDF or picture", "PDFs and pictures"), cli.Count(int(info.Size()), "byte", "bytes"))
	return nil
}

func examine(ctx context.Context, e *sqlitestore.Examination, problem func(string)) (refserver.Contents, error) {
	if err := e.Pages(ctx); err != nil {
		return refserver.Contents{}, err
	}
	found, err := refserver.CheckRecords(ctx, e, problem)
	if err != nil {
		return found, err
	}
	if err := examineOthers(ctx, e, problem, &found); err != nil {
		return found, err
	}
	key, err := e.Key(ctx)
	if err == nil && len(key) > 0 {
		_, err = readKey(e.Path(), key)
	}
	if err != nil {
		problem(err.Error())
	}
	return found, e.Blobs(ctx, func(hash string) {
		if _, belongs := found.Files[hash]; !belongs {
			problem("file " + hash + " belongs to no record")
		}
	})
}

// examineOthers adds what the workspaces after the first hold.
func examineOthers(ctx context.Context, e *sqlitestore.Examination, problem func(string), found *refserver.Contents) error {
	all, err := e.Workspaces(ctx)
	if err != nil {
		return err
	}
	for id, data := range all {
		told := func(text string) { problem("workspace " + id + ": " + text) }
		if err := json.Unmarshal(data, new(saved)); err != nil {
			told(err.Error())
		}
		own, err := refserver.CheckRecords(ctx, e.Workspace(id), told)
		if err != nil {
			return err
		}
		found.Records += own.Records
		for hash, whole := range own.Files {
			found.Files[id+"/"+hash] = whole
		}
	}
	return nil
}
