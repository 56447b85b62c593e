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

// newManual returns a command for people who package the program.
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

// writePages writes the manual pages of a command and of the commands below it.
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
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"signforms %s\" \"signforms\"\n.ad l\n.nh\n", strings.ToUpper(name), version())
	section := func(heading, text string) { fmt.Fprintf(&b, ".SH %s\n%s\n", heading, text) }
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	section("SYNOPSIS", roff(cmd.UseLine()))
	section("DESCRIPTION", filled(cmp.Or(cmd.Long, cmd.Short+".")))
	if cmd.HasExample() {
		section("EXAMPLES", ".nf\n"+roff(cmd.Example)+"\n.fi")
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		section("OPTIONS", filled(flags.FlagUsages()))
	}
	section("SEE ALSO", roff(strings.Join(others, "(1), ")+"(1)"))
	return b.String()
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// filled returns a text whose lines the terminal can wrap. Indented lines keep their ends. An
// indented line with three blanks in it is a term with its description, such as that of a flag.
func filled(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		term, description, divided := strings.Cut(strings.TrimSpace(line), "   ")
		switch {
		case line == "":
			lines = append(lines, ".PP")
		case line[0] == ' ' && divided:
			lines = append(lines, ".TP", roff(term), roff(strings.TrimSpace(description)))
		case strings.HasPrefix(line, "   "): // belongs to the previous line
			lines = append(lines, ".br", roff(term))
		case line[0] == ' ':
			lines = append(lines, ".PP", roff(term))
		default:
			lines = append(lines, roff(line))
		}
	}
	return strings.Join(lines, "\n")
}

// copied escapes the characters that a manual page would replace by similar ones, which a shell
// cannot read.
var copied = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes the characters that have a special meaning in a manual page.
func roff(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+copied.Replace(strings.TrimRight(text, "\n")), "\n.", "\n\\&."), "\n")
}
