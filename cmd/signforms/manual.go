package main

import (
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
			pages := map[string]string{}
			manPages(cmd.Root(), pages)
			for name, script := range map[string]func(*cobra.Command, string) error{
				"signforms.bash": func(c *cobra.Command, path string) error { return c.GenBashCompletionFileV2(path, true) },
				"_signforms":     (*cobra.Command).GenZshCompletionFile,
				"signforms.fish": func(c *cobra.Command, path string) error { return c.GenFishCompletionFile(path, true) },
				"signforms.ps1":  (*cobra.Command).GenPowerShellCompletionFileWithDesc,
			} {
				if err := writeBelow(args[0], "completions/"+name, func(path string) error { return script(cmd.Root(), path) }); err != nil {
					return err
				}
			}
			for name, text := range pages {
				if err := writeBelow(args[0], "man/man1/"+name, func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func writeBelow(folder, name string, write func(path string) error) error {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return write(path)
}

// manPages puts the page of a command, and those of the commands below it, into pages by their file names.
func manPages(cmd *cobra.Command, pages map[string]string) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	name := pageName(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"signforms %s\" \"signforms\"\n", strings.ToUpper(name), version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n.SH DESCRIPTION\n", roff(cmd.UseLine()))
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	prose(&b, text)
	if cmd.HasExample() {
		b.WriteString(".SH EXAMPLES\n")
		prose(&b, cmd.Example)
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, ".SH OPTIONS\n.nf\n%s\n.fi\n", roff(flags.FlagUsagesWrapped(76)))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, child := range cmd.Commands() {
		if !child.Hidden && child.Name() != "help" {
			others = append(others, pageName(child))
		}
		manPages(child, pages)
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s(1)\n", roff(strings.Join(others, "(1), ")))
	pages[name+".1"] = b.String()
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// prose writes a help text: paragraphs are filled, and lines that are set in keep their line ends.
func prose(b *strings.Builder, text string) {
	set := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if in := strings.HasPrefix(line, " "); in != set {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[in])
			set = in
		}
		if line == "" {
			line = ".PP"
		} else {
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	if set {
		b.WriteString(".fi\n")
	}
}

// roff escapes what a manual page would read otherwise. A hyphen becomes a minus, so that flags can be copied.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimRight(text, "\n")), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
