package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
)

// defaultAddr is where serve listens, and defaultSandbox where the other commands look for it.
const (
	defaultAddr    = "127.0.0.1:4874"
	defaultSandbox = "http://" + defaultAddr
)

// sandbox is the running sandbox that a command acts on.
type sandbox struct {
	url, token string
	json       bool
}

// newSandboxCommand returns a command that acts on a running sandbox. work returns what --json prints, and a function that
// prints it for people.
func newSandboxCommand(cmd *cobra.Command, work func(cmd *cobra.Command, args []string, c *control.Client) (any, func(io.Writer), error)) *cobra.Command {
	var s sandbox
	f := cmd.Flags()
	f.StringVar(&s.url, "url", defaultSandbox, "where the sandbox is")
	f.StringVar(&s.token, "token", "", "the token that the sandbox was started with")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := control.NewClient(s.url, s.token)
		if err != nil {
			return usageError("--url: %w", err)
		}
		result, text, err := work(cmd, args, client)
		if err != nil {
			return s.explain(err)
		}
		if s.json {
			return printJSON(cmd.OutOrStdout(), result)
		}
		text(cmd.OutOrStdout())
		return nil
	}
	bindEnv(sandboxEnv, cmd)
	f.BoolVar(&s.json, "json", false, "print JSON") // has no variable: the one of serve would change what $(signforms documents add …) prints
	return cmd
}

// explain adds to an error what the user can do about it.
func (s *sandbox) explain(err error) error {
	return explain(err, s.url, s.token, "--url", "--token or ")
}

// shownURL returns an address without its password.
func shownURL(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	return text
}

// explain adds to an error what the user can do about it. addressFlag and tokenFlag are the flags that it names.
func explain(err error, address, token, addressFlag, tokenFlag string) error {
	refused, answered := errors.AsType[*control.Error](err)
	switch {
	case errors.Is(err, control.ErrNoSandbox):
		return fmt.Errorf("%w; start one with signforms serve, or say with %s or $%sURL where it is", err, addressFlag, sandboxEnv)
	case !answered || refused.Status != http.StatusUnauthorized:
		return err
	case token != "":
		return fmt.Errorf("the sandbox at %s has another token: correct %s$%sTOKEN", shownURL(address), tokenFlag, sandboxEnv)
	}
	return fmt.Errorf("the sandbox at %s wants its token: set %s$%sTOKEN", shownURL(address), tokenFlag, sandboxEnv)
}

func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if lines, ok := v.(jsonLines); ok {
		for _, line := range lines {
			if err := out.Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// jsonLines are records that --json prints one per line.
type jsonLines []any

func lines[T any](items []T) (all jsonLines) {
	for _, item := range items {
		all = append(all, item)
	}
	return all
}

// printTable prints records in the format of the lists of the service.
func printTable[T any](cmd *cobra.Command, columns []column[T], items []T) {
	p := newPrinter(cmd, output{}, columns, func(v T) any { return v }, len(items))
	for _, item := range items {
		p.print(item) // an error of a closed pipe cannot be shown
	}
	p.end()
}

// printRows prints lines of cells in columns.
func printRows(w io.Writer, rows ...[]string) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(out, "\t")
			}
			fmt.Fprint(out, plain(cell))
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}
