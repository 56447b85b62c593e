package pdf_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestLongWordsTakeTimeByTheirLength checks by the allocations that wrapping a long word takes time in proportion to its length.
func TestLongWordsTakeTimeByTheirLength(t *testing.T) {
	draw := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			_, err := pdf.Draw("Lease", []string{strings.Repeat("é", n)})
			require.NoError(t, err)
		})
	}
	none := draw(0)
	require.Less(t, (draw(8000)-none)/(draw(1000)-none), 11.0)
}

// Counts allocations: a text that fits in no size takes hardly more than one that fits in the largest.
func TestLongValuesAreFittedInFewSteps(t *testing.T) {
	original := readFile(t, "testdata/cairo.pdf")
	stamp := func(height float64, text string) float64 {
		mark := pdf.Mark{Page: 1, Width: 1, Height: height, Text: text}
		return testing.AllocsPerRun(1, func() {
			_, err := pdf.Stamp(original, []pdf.Mark{mark})
			require.NoError(t, err)
		})
	}
	long := strings.Repeat("to ", 400)
	none := stamp(1, "to")
	fits, doesNot := stamp(1, long)-none, stamp(0.01, long)-none
	t.Logf("%.0f and %.0f allocations", fits, doesNot)
	require.Less(t, doesNot/fits, 3.0)
}
