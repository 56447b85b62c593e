package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestPictures makes the pictures of the documentation again, in the folder that SIGNFORMS_PICTURES names:
//
//	SIGNFORMS_PICTURES=$PWD/docs/images go -C cmd/signforms test -run TestPictures .
func TestPictures(t *testing.T) {
	folder := os.Getenv("SIGNFORMS_PICTURES")
	if folder == "" {
		t.Skip("SIGNFORMS_PICTURES names no folder")
	}
	s := serveInProcess(t, "--memory")
	keep := func(p *browsertest.Page, name string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), smaller(t, p.Window()), 0o600))
	}
	desktop := browsertest.Open(t, browsertest.Screen{Width: 1280})
	words := "The seller offers the buyer one bicycle, as seen, for 100 euros. The buyer collects it within 14 days and pays on collection."
	offer, err := pdf.Draw("Offer", slices.Repeat([]string{words}, 3))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "offer.pdf")
	require.NoError(t, os.WriteFile(file, offer, 0o600))
	templateID := addTemplate(t, s, desktop, file, 0.1, 0.36)
	desktop.Go(s.BaseURL + "/_/webhooks/new?url=http://127.0.0.1:9/hook&event=new_template_response")
	desktop.Click("button.main")
	desktop.WaitText("It was added.")
	sent, err := s.client(t).Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: []signforms.Receiver{
		{Name: "Ann Buyer", Email: "ann@example.com", RoleTitle: "Buyer"}, {Name: "Sam Seller", Email: "sam@example.com", RoleTitle: "Seller"},
	}})
	require.NoError(t, err)
	desktop.Go(string(sent.Signers[0].SentURL))
	desktop.Wait("document.querySelector('main').dataset.shown")
	desktop.Set("[data-field] input", "Ann Buyer")
	keep(desktop, "signing")
	phone := browsertest.Open(t, browsertest.Screen{Width: 360})
	phone.Go(string(sent.Signers[0].SentURL))
	phone.Wait("document.querySelector('main').dataset.shown")
	phone.Click("#next")
	keep(phone, "signing-phone")
	desktop.Go(s.BaseURL + "/_/")
	desktop.WaitText("new_template_response")
	keep(desktop, "console")
}

// smaller writes a picture with 256 colours: the most frequent ones, and for each other the nearest of them.
func smaller(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	few := image.NewPaletted(full.Bounds(), colours[:min(len(colours), 256)])
	draw.Draw(few, few.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	return out.Bytes()
}
