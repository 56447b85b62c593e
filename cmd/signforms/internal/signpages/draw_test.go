package signpages_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

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

// On a phone that lies on its side, all of the dialog is on the screen: what scrolls cannot be drawn on.
func TestAreaToDrawInFitsTheScreen(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 320, Touch: true})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	for _, screen := range []browsertest.Screen{{Width: 568, Height: 320, Touch: true}, {Width: 320, Height: 568, Touch: true}, {Width: 844, Height: 390, Touch: true}} {
		p.Show(screen)
		p.Click("[data-draw]")
		p.Wait("document.querySelector('#draw').open")
		require.Zero(t, browsertest.Eval[int](p, "(() => { const d = document.querySelector('#draw'); return d.scrollHeight - d.clientHeight + d.scrollTop })()"), screen)
		area := browsertest.Eval[[3]float64](p, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.top, b.bottom, b.height] })()")
		require.GreaterOrEqual(t, area[0], 0.0, screen)
		require.LessOrEqual(t, area[1], float64(screen.Height), screen)
		require.Greater(t, area[2], 150.0, screen)
		p.Shot(fmt.Sprint("draw", screen.Width))
		p.Click("#draw-cancel")
	}
}

// Whatever the shape of its field, the lines of a drawing are a point wide or more. A canvas that is read back as something else, as in
// browsers that resist fingerprinting, changes nothing.
func TestLinesOfDrawingsCanBeSeen(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Before(`{
		const read = HTMLCanvasElement.prototype.toDataURL;
		HTMLCanvasElement.prototype.toDataURL = function () {
			this.getContext("2d").fillRect(-1e4, -1e4, 2e4, 2e4);
			return read.call(this);
		};
	}`)
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	points := browsertest.Eval[[]float64](p, `(async () => {
		const { picture } = await import(document.querySelector("main").dataset.assets + "/draw.js");
		const drawing = { strokes: [[[0, 100], [700, 100]], [[300, 0], [300, 230]]], size: { width: 734, height: 236 } };
		return Promise.all([[31, 95], [150, 30], [300, 12]].map(async ([w, h]) => {
			const image = new Image();
			image.src = picture(drawing, [w, h]);
			await image.decode();
			const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: image.naturalHeight });
			const context = canvas.getContext("2d");
			context.drawImage(image, 0, 0);
			const x = Math.round(canvas.width / 5); // the line across alone
			const column = context.getImageData(x, 0, 1, canvas.height).data;
			const ink = column.filter((alpha, i) => i % 4 === 3 && alpha > 127).length;
			return ink * Math.min(w / canvas.width, h / canvas.height);
		}));
	})()`)
	for _, wide := range points {
		require.InDelta(t, 1.5, wide, 0.6)
	}
}

// A drawing is as large as it was when the phone has been turned back, or its keyboard closed. A name that was typed and erased takes
// nothing away.
func TestADrawingOutlivesTurningAndTyping(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 900})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Click("[data-draw]")
	p.Wait("document.querySelector('#draw').open")
	resize := func(width, height int) {
		t.Helper()
		browsertest.Eval[bool](p, fmt.Sprintf(`(async () => {
			const area = document.querySelector("#draw .area").style;
			[area.flex, area.maxHeight, area.width, area.height] = ["none", "none", "%dpx", "%dpx"];
			for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
			return true;
		})()`, width, height))
	}
	ink := func() []float64 { // left, top, right, bottom
		t.Helper()
		return browsertest.Eval[[]float64](p, `(() => {
			const canvas = document.querySelector("#draw canvas");
			const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			let [left, top, right, bottom] = [1e9, 1e9, 0, 0];
			for (let i = 3; i < data.length; i += 4) {
				if (!data[i]) continue;
				const [x, y] = [(i >> 2) % width, Math.floor((i >> 2) / width)];
				[left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
			}
			return [left, top, right, bottom];
		})()`)
	}
	drag := func(x1, y1, x2, y2 float64) {
		t.Helper()
		at := browsertest.Eval[[]float64](p, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top] })()")
		p.Drag(at[0]+x1, at[1]+y1, at[0]+x2, at[1]+y2)
	}
	resize(360, 250)
	drag(20, 20, 120, 80)
	before := ink()
	for range 4 {
		resize(360, 120)
		resize(500, 150)
		resize(360, 250)
	}
	require.InDeltaSlice(t, before, ink(), 1)

	resize(500, 150)
	first := ink()
	drag(300, 20, 480, 140) // farther right than the area of before reached
	both := ink()
	require.InDeltaSlice(t, first[:2], both[:2], 1, "the first stroke is where it was")
	resize(360, 250)
	require.Less(t, ink()[2], 360.0, "all of it is seen")
	resize(500, 150)
	require.InDeltaSlice(t, both, ink(), 1)

	p.Type("#draw input", "A")
	require.Zero(t, ink()[2], "the typed name is what counts")
	p.Set("#draw input", "")
	require.InDeltaSlice(t, both, ink(), 1)
	require.False(t, browsertest.Eval[bool](p, "document.querySelector('#draw-undo').disabled || document.querySelector('#draw-use').disabled"))
}
