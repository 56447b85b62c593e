package signpages_test

import (
	"fmt"
	"testing"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// TestDraw_withTheKeyboardOpen shows the dialog on phones whose keyboard leaves little of the screen. Nothing covers an
// input or a button, and "Use" and "Cancel" can be clicked.
func TestDraw_withTheKeyboardOpen(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 390, Touch: true})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	for _, size := range [][2]int{{390, 420}, {360, 380}, {412, 470}, {320, 300}, {740, 320}} {
		t.Run(fmt.Sprintf("%d×%d", size[0], size[1]), func(t *testing.T) {
			p.Show(browsertest.Screen{Width: size[0], Height: size[1], Touch: true})
			open := func() {
				browsertest.Eval[bool](p, "document.querySelector('[data-draw]').click() ?? true")
				p.Wait("document.querySelector('#draw').open")
			}
			open()
			p.Wait(`(() => {
				const controls = [...document.querySelectorAll("#draw :is(canvas, label, input, button)")];
				return controls.every((e) => {
					e.scrollIntoView({ block: "nearest" });
					const b = e.getBoundingClientRect(), clear = (o) => o === e || [o.getBoundingClientRect()].every((c) =>
						c.right <= b.left || c.left >= b.right || c.bottom <= b.top || c.top >= b.bottom);
					return b.width > 20 && b.left >= 0 && b.right <= innerWidth && controls.every(clear) &&
						e.contains(document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2)) || e.matches("canvas");
				});
			})()`)
			p.Shot(fmt.Sprintf("draw-%d-%d", size[0], size[1]))
			name := fmt.Sprintf("Ann %d", size[0])
			p.Set("#draw-typed", name)
			p.Click("#draw-use")
			p.Wait(fmt.Sprintf("!document.querySelector('#draw').open && document.querySelector('#f0').value === %q", name))
			open()
			p.Set("#draw-typed", "Nobody")
			p.Click("#draw-cancel")
			p.Wait(fmt.Sprintf("!document.querySelector('#draw').open && document.querySelector('#f0').value === %q", name))
		})
	}
}
