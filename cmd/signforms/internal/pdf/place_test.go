package pdf

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlacesInFields: the signing page is held against the same file.
func TestPlacesInFields(t *testing.T) {
	const within = 1e-5
	var want struct {
		Pictures []struct {
			Field, Picture      [2]float64
			X, Y, Width, Height float64
		}
		Ticks []struct {
			Field   [2]float64
			Corners [3][2]float64
			Line    float64
		}
		Texts []struct {
			Height, Largest, Smallest float64
			Lines, Sizes              int
			Baselines                 []float64
		}
	}
	data, err := os.ReadFile("../../../../testdata/stamp.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &want))
	require.NotEmpty(t, want.Pictures)
	for _, c := range want.Pictures {
		at := pictureIn(c.Field[0], c.Field[1], c.Picture[0], c.Picture[1])
		require.InDeltaSlice(t, []float64{c.X, c.Y, c.Width, c.Height}, []float64{at.x, at.y, at.width, at.height}, within, "%v in %v", c.Picture, c.Field)
	}
	require.NotEmpty(t, want.Ticks)
	for _, c := range want.Ticks {
		corners, line := tickIn(c.Field[0], c.Field[1])
		require.InDelta(t, c.Line, line, within)
		for i := range corners {
			require.InDeltaSlice(t, c.Corners[i][:], corners[i][:], within, "%v", c.Field)
		}
	}
	require.NotEmpty(t, want.Texts)
	for _, c := range want.Texts {
		sizes := textSizes(c.Height)
		require.Len(t, sizes, c.Sizes)
		require.InDelta(t, c.Largest, sizes[0], within)
		require.InDelta(t, c.Smallest, sizes[len(sizes)-1], within)
		require.Len(t, c.Baselines, c.Lines)
		for i, y := range c.Baselines {
			require.InDelta(t, y, baseline(c.Height, c.Largest, c.Lines, i), within)
		}
	}
}
