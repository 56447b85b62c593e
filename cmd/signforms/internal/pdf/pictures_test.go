package pdf_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
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

// TestPicturesOfSigners: a picture is drawn and is whole for other readers then, or is refused.
func TestPicturesOfSigners(t *testing.T) {
	for name, picture := range map[string]image.Image{
		"16 bits":       image.NewNRGBA64(image.Rect(0, 0, 200, 200)),
		"wide and flat": image.NewGray(image.Rect(0, 0, 100_000, 1)),
	} {
		var file bytes.Buffer
		require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, picture))
		finished, err := finishedWithPicture(t, file.Bytes())
		require.NoError(t, err, name)
		require.Regexp(t, `rgb +3 +8 +image`, tool(t, "pdfimages", "-list", save(t, finished)), name)
		_, err = finishedWithPicture(t, file.Bytes()[:file.Len()/2])
		require.ErrorContains(t, err, "the picture of a signature: ", "%s, cut short", name)
	}
}

// TestPixelsOfPictures reads heads of pictures: without pixels, each is refused for their number or for their lack.
func TestPixelsOfPictures(t *testing.T) {
	for _, c := range []struct {
		width, height uint32
		want          string
	}{
		{2000, 2000, "unexpected EOF"},
		{2001, 2000, "it has 2001 × 2000 pixels"},
		{4_000_000, 1, "unexpected EOF"},
		{4_000_001, 1, "it has 4000001 × 1 pixels"},
	} {
		var file bytes.Buffer
		require.NoError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))))
		head := file.Bytes()[:33]
		binary.BigEndian.PutUint32(head[16:], c.width)
		binary.BigEndian.PutUint32(head[20:], c.height)
		binary.BigEndian.PutUint32(head[29:], crc32.ChecksumIEEE(head[12:29]))
		_, err := finishedWithPicture(t, head)
		require.ErrorContains(t, err, "the picture of a signature: "+c.want)
	}
}

// TestHostilePictures claim many pixels, or unpack to more than they claim. What cannot be seen is left out.
func TestHostilePictures(t *testing.T) {
	for name, refused := range map[string]bool{"60000-x-60000.png": true, "one-pixel-of-500-mb.png": true, "a-text-of-500-mb.png": false} {
		_, err := finishedWithPicture(t, readFile(t, filepath.Join("../pdfprocess/testdata/hostile", name)))
		require.Equal(t, refused, err != nil, "%s: %v", name, err)
	}
}
