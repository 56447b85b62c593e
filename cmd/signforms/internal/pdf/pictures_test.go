package pdf_test

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

func finishedWithPicture(t *testing.T, picture []byte) ([]byte, error) {
	t.Helper()
	original, err := pdf.Draw("Lease", nil)
	require.NoError(t, err)
	return pdf.Finish(original, []pdf.Mark{{Page: 1, Width: 0.5, Height: 0.1, Image: picture}}, certificate(), newSealer(t))
}

// TestPicturesOfSigners: a picture is drawn if its pixels are not too many, and is whole for other readers then.
func TestPicturesOfSigners(t *testing.T) {
	for name, picture := range map[string]image.Image{
		"as large as may be, 16 bits": image.NewNRGBA64(image.Rect(0, 0, 2000, 2000)),
		"wide and flat":               image.NewGray(image.Rect(0, 0, 4_000_000, 1)),
	} {
		var file bytes.Buffer
		require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, picture))
		finished, err := finishedWithPicture(t, file.Bytes())
		require.NoError(t, err, name)
		require.Contains(t, tool(t, "pdfimages", "-list", save(t, finished)), "image", name)
		_, err = finishedWithPicture(t, file.Bytes()[:300])
		require.ErrorContains(t, err, "the picture of a signature: ", "%s, cut short", name)
	}
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 2001, 2000))))
	_, err := finishedWithPicture(t, file.Bytes())
	require.ErrorContains(t, err, "the picture of a signature: ")
}

// TestHostilePictures claim many pixels, or unpack to more than they claim. What cannot be seen is left out.
func TestHostilePictures(t *testing.T) {
	for name, refused := range map[string]bool{"60000-x-60000.png": true, "one-pixel-of-500-mb.png": true, "a-text-of-500-mb.png": false} {
		_, err := finishedWithPicture(t, readFile(t, filepath.Join("../pdfprocess/testdata/hostile", name)))
		require.Equal(t, refused, err != nil, "%s: %v", name, err)
	}
}
