package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

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
