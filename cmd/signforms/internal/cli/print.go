package cli

import (
	"fmt"
	"io"
	"strings"
)

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
