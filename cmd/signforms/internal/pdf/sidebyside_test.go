package pdf_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestFilesAreFinishedSideBySide finishes files concurrently with one sealer, as a sandbox does. The race detector finds shared data
// that is written.
func TestFilesAreFinishedSideBySide(t *testing.T) {
	sealer := newSealer(t)
	original, err := pdf.Draw("Lease", []string{"One page."})
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := pdf.Finish(original, []pdf.Mark{{Page: 1, X: 0.1, Y: 0.1, Width: 0.3, Height: 0.05, Text: "Zoë", Italic: true}}, certificate(), sealer)
			assert.NoError(t, err)
		})
	}
	all.Wait()
}
