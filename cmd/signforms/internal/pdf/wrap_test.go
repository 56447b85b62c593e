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
