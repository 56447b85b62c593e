package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// newManual returns a command for those who pack the program.
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:    "manual FOLDER",
		Short:  "Write manual pages and completions of shells",
		Long:   "Write a manual page of each command to FOLDER/man/man1, and the completions of shells to FOLDER/completions.",
		Hidden: true,
		Args:   cli.ExactlyOne("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, pages, completions := cmd.Root(), filepath.Join(args[0], "man", "man1"), filepath.Join(args[0], "completions")
			if err := errors.Join(os.MkdirAll(pages, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
				return err
			}
			return errors.Join(writePages(root, pages),
				root.GenBashCompletionFileV2(filepath.Join(completions, "signforms.bash"), true),
				root.GenZshCompletionFile(filepath.Join(completions, "_signforms")),
				root.GenFishCompletionFile(filepath.Join(completions, "signforms.fish"), true),
				root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "signforms.ps1")))
		},
	}
}

// writePages writes the page of a command, and those of the commands below it.
func writePages(cmd *cobra.Command, folder string) error {
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, child := range cmd.Commands() {
		if child.Hidden || child.Name() == "help" {
			continue
		}
		if err := writePages(child, folder); err != nil {
			return err
		}
		others = append(others, pageName(child))
	}
	return os.WriteFile(filepath.Join(folder, pageName(cmd)+".1"), []byte(manPage(cmd, others)), 0o644)
}

func manPage(cmd *cobra.Command, others []string) string {
	var b strings.Builder
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"signforms %s\" \"signforms\"\n.ad l\n", strings.ToUpper(name), version())
	section := func(heading, text string) { fmt.Fprintf(&b, ".SH %s\n%s\n", heading, roff(text)) }
	lines := func(heading, text string) { fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", heading, roff(text)) }
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	section("SYNOPSIS", cmd.UseLine())
	section("DESCRIPTION", cmp.Or(cmd.Long, cmd.Short+"."))
	if cmd.HasExample() {
		lines("EXAMPLES", cmd.Example)
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		lines("OPTIONS", flags.FlagUsagesWrapped(76))
	}
	section("SEE ALSO", strings.Join(others, "(1), ")+"(1)")
	return b.String()
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// roff escapes what a manual page would read otherwise. Empty lines and lines that are set in keep their ends. A hyphen becomes a
// minus, so that flags can be copied.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimRight(text, "\n")), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
