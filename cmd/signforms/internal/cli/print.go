package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// PrintJSON prints what --json of a command on a sandbox prints: one object over several lines, or one line for each of [JSONLines].
func PrintJSON(w io.Writer, v any) error {
	lines, ok := v.(JSONLines)
	if !ok {
		return EncodeJSON(w, v, "  ")
	}
	for _, line := range lines {
		if err := EncodeJSON(w, line, ""); err != nil {
			return err
		}
	}
	return nil
}

// JSONLines are records that --json prints one per line.
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
		p.Print(item) // Stdout keeps the error
	}
	p.End()
}

// PrintRows prints lines of cells in columns.
func PrintRows(w io.Writer, rows ...[]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(Plain(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(padded(Plain(cell), widths[i]+gap))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
