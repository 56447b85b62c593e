package pdf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/hostile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestPicturesOfSigners: whatever a picture claims, it is drawn or refused, and never takes more memory than its pixels. Those that are
// drawn are whole for other readers.
func TestPicturesOfSigners(t *testing.T) {
	drawn := map[string]bool{"as large as may be": true, "as large as may be, 16 bits": true, "wide and flat": true, "a text of 500 MB": true, "a profile of 500 MB": true}
	original, err := pdf.Draw("Lease", nil)
	require.NoError(t, err)
	for _, f := range hostile.Pictures() {
		finished, err := pdf.Finish(original, []pdf.Mark{{Page: 1, Width: 0.5, Height: 0.1, Image: f.Data}}, certificate(), newSealer(t))
		if !drawn[f.Name] {
			require.ErrorContains(t, err, "the picture of a signature: ", f.Name)
			continue
		}
		require.NoError(t, err, f.Name)
		require.Contains(t, tool(t, "pdfimages", "-list", save(t, finished)), "image", f.Name)
	}
}
