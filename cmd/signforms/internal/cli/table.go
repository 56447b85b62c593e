package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// table prints aligned rows. Its first page sets the widths of all rows.
type table struct {
	w      io.Writer
	width  int
	long   []bool
	times  []bool
	page   int
	rows   [][]string
	widths []int
	split  bool // the first column is on a line of its own
}

func (t *table) row(cells []string) error {
	if t.widths != nil {
		return t.print(cells)
	}
	if t.rows = append(t.rows, cells); len(t.rows) < t.page {
		return nil
	}
	return t.flush()
}

// flush measures and prints the rows of the first page.
func (t *table) flush() error {
	if t.widths != nil || len(t.rows) == 0 {
		return nil
	}
	t.measure()
	for _, row := range t.rows {
		if err := t.print(row); err != nil {
			return err
		}
	}
	t.rows = nil
	return nil
}

// measure sets the widths so that a row fits the terminal, if need be with its first column, an id, on a line of its own. A row that
// does not fit even so is as wide as it is.
func (t *table) measure() {
	for _, t.split = range []bool{false, true, false} {
		if t.fit(); t.over() <= 0 {
			return
		}
	}
}

// fit cuts the long columns, if that is not enough shortens times to days too, or leaves the times out, or cuts the long columns further.
func (t *table) fit() {
	whole := make([]int, len(t.long))
	for i := range whole {
		for _, row := range t.rows {
			whole[i] = max(whole[i], width(row[i]))
		}
	}
	for _, most := range []int{math.MaxInt, dayWidth, 0} {
		t.widths = slices.Clone(whole)
		for i, isTime := range t.times {
			if isTime {
				t.widths[i] = min(whole[i], most)
			}
		}
		if t.shrink(wellCut); t.over() <= 0 {
			return
		}
	}
	t.shrink(leastCut)
}

// over returns by how much a row is wider than the terminal.
func (t *table) over() int {
	sum, widths := -gap-t.width, t.widths
	if t.split {
		sum, widths = sum+len(indent), widths[1:]
	}
	for _, w := range widths {
		if w > 0 {
			sum += w + gap
		}
	}
	return sum
}

// shrink makes the long columns as narrow as needed, but not narrower than least.
func (t *table) shrink(least int) {
	for i, long := range t.long {
		if over := t.over(); long && over > 0 && t.widths[i] > least {
			t.widths[i] = max(t.widths[i]-over, least)
		}
	}
}

func (t *table) print(cells []string) error {
	var b strings.Builder
	for i, c := range cells {
		if t.widths[i] == 0 {
			continue
		}
		switch {
		case t.times[i] && len(c) > t.widths[i]:
			c = c[:t.widths[i]]
		case t.long[i]:
			c = cut(c, t.widths[i])
		}
		if b.WriteString(padded(c, t.widths[i]+gap)); i == 0 && t.split {
			b.Reset()
			b.WriteString(c + "\n" + indent)
		}
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	return err
}

const indent = "  " // of a second line

const (
	gap      = 2  // blanks between columns
	wellCut  = 12 // a long column is first cut to this width
	leastCut = 8  // a long column is never cut below this width
	dayWidth = len("2026-11-21")
)
