package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/signforms/signforms-go/bench"
)

// webhookTables prints one table for each kind of rows. A cell holds the values for the payloads in order, separated by slashes.
func webhookTables(w io.Writer, found []bench.Measurement) {
	var names []string
	for _, p := range bench.Payloads() {
		names = append(names, p.Name)
	}
	fmt.Fprintf(w, "\nCells are for %s. Times are in HMACs over the same bytes, medians of the rounds; ± is half the distance between the quartiles of CPU time.\n",
		strings.Join(names, " / "))
	for _, kind := range bench.Kinds() {
		rows := byRow(found, kind)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n| %s | time | CPU time | ± | allocations | KB allocated | clock | decodes | copies of the body | repeats |\n", kind)
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
		for _, cells := range rows {
			work := cells[0].Row.Work
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", rowName(cells[0].Row),
				join(cells, func(m bench.Measurement) string { return fmt.Sprintf("%.2f", m.Wall) }),
				join(cells, func(m bench.Measurement) string { return fmt.Sprintf("%.2f", m.CPU) }),
				join(cells, func(m bench.Measurement) string { return fmt.Sprintf("%.0f%%", 100*m.Spread) }),
				join(cells, func(m bench.Measurement) string { return fmt.Sprintf("%.0f", m.Allocs) }),
				join(cells, func(m bench.Measurement) string { return fmt.Sprintf("%.1f", m.Bytes/1000) }),
				work.Clock, work.Decode, work.Copies, work.Repeat)
		}
	}
}

func rowName(row bench.Row) string {
	if row.Ours {
		return "**" + row.Name + "**"
	}
	return row.Name
}

// byRow groups the measurements of one kind by row. It keeps the order of the rows and of the measurements.
func byRow(found []bench.Measurement, kind bench.Kind) [][]bench.Measurement {
	var rows [][]bench.Measurement
	index := map[string]int{}
	for _, m := range found {
		if m.Row.Kind != kind {
			continue
		}
		i, ok := index[m.Row.Name]
		if !ok {
			i = len(rows)
			index[m.Row.Name] = i
			rows = append(rows, nil)
		}
		rows[i] = append(rows[i], m)
	}
	return rows
}

func join(cells []bench.Measurement, text func(bench.Measurement) string) string {
	var texts []string
	for _, m := range cells {
		texts = append(texts, text(m))
	}
	return strings.Join(texts, " / ")
}

// clientTable prints the costs of the SDK as ratios to the same by hand.
func clientTable(w io.Writer, calls []bench.CallCost, others []bench.ClientMeasurement) {
	fmt.Fprint(w, "\n| SDK over net/http and encoding/json by hand, loopback | time | CPU time | allocations (by hand) |\n|---|---|---|---|\n")
	for _, c := range calls {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.0f (%.0f) |\n", c.Name, c.Wall, c.CPU, c.Allocs, c.HandAllocs)
	}
	for _, m := range others {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | |\n", m.Name, m.Wall, m.CPU)
	}
}

// telemetryTable prints the costs of what module otel reports as ratios to the same without it.
func telemetryTable(w io.Writer, found []bench.ClientMeasurement) {
	fmt.Fprint(w, "\n| module otel over the same without it | time | CPU time |\n|---|---|---|\n")
	for _, m := range found {
		fmt.Fprintf(w, "| %s | %.2f | %.2f |\n", m.Name, m.Wall, m.CPU)
	}
}
