package signpages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

func TestDrawnSignature(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.Click("[data-draw]")
	ann.Wait("document.querySelector('#draw').open")
	box := browsertest.Eval[[]float64](ann, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
	ann.Drag(box[0]+20, box[1]+20, box[0]+box[2]/2, box[1]+box[3]-20)
	ann.Click("#draw-use")
	ann.Wait("document.querySelector('.spot.signature image')")
	ann.Type("#f2", "Rome")
	ann.Click("#f4")
	ann.Click("[name=agree]")
	ann.Click("#sign-form button.main")
	ann.WaitText("You have signed.")
	require.True(t, strings.HasPrefix(string(find(t, service, id).Values[0].Image), "\x89PNG"))
}

// A tap is a dot in the drawing: on the dialog's canvas, and in the picture, which is enough for initials and no signature.
func TestTapIsADot(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.Wait("document.querySelector('main').dataset.shown")
	open := func(i int) {
		t.Helper()
		browsertest.Eval[bool](ann, fmt.Sprintf("document.querySelectorAll('[data-draw]')[%d].click() ?? true", i))
		ann.Wait("document.querySelector('#draw').open")
	}
	open(0)
	box := browsertest.Eval[[]float64](ann, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top, b.width] })()")
	at := func(share float64) float64 { return box[0] + 50 + box[2]*share }
	ann.Drag(at(0), box[1]+50, at(0.08), box[1]+50)
	ann.WaitText("Too small for a signature")
	require.True(t, browsertest.Eval[bool](ann, "document.querySelector('#draw-use').disabled"))
	ann.RequireAccessible()
	ann.Click("#draw-undo")
	ann.Drag(at(0), box[1]+50, at(0.12), box[1]+50)
	ann.Wait("!document.querySelector('#draw-use').disabled && document.querySelector('#draw-hint').textContent === ''")
	ann.Click("#draw-use")
	open(1)
	ann.ClickAt(box[0]+100, box[1]+50)
	require.True(t, browsertest.Eval[bool](ann, "document.querySelector('#draw canvas').getContext('2d').getImageData(100 * devicePixelRatio, 50 * devicePixelRatio, 1, 1).data[3] > 0"))
	ann.Click("#draw-use")
	ann.Type("#f2", "Rome")
	ann.Click("#f4")
	ann.Click("[name=agree]")
	ann.Click("#sign-form button.main")
	ann.WaitText("You have signed.")
	require.NotEmpty(t, find(t, service, id).Values[1].Image)
}
