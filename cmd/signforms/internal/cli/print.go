package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// PrintJSON prints what --json of a command on a sandbox prints: one object over several lines, or one line for each of [JSONLines].
func PrintJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if lines, ok := v.(JSONLines); ok {
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
type JSONLines []any

// Lines has --json print each item on a line of its own.
func Lines[T any](items []T) (all JSONLines) {
	for _, item := range items {
		all = append(all, item)
	}
	return all
}

// PrintTable prints records in the format of the lists of the service.
func PrintTable[T any](cmd *cobra.Command, columns []Column[T], items []T) {
	p := NewPrinter(cmd, Output{}, columns, func(v T) any { return v }, len(items))
	for _, item := range items {
		p.Print(item) // an error of a closed pipe cannot be shown
	}
	p.End()
}

// PrintRows prints lines of cells in columns.
func PrintRows(w io.Writer, rows ...[]string) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(out, "\t")
			}
			fmt.Fprint(out, Plain(cell))
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}
