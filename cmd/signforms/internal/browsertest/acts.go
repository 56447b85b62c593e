package browsertest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	browserdomain "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Click waits for the first element that the CSS selector matches, and clicks on it. The click may lead to another
// page.
func (p *Page) Click(selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))); !leftThePage(err) {
		require.NoError(p.t, err, "clicking on %s", selector)
	}
}

// leftThePage reports whether a command failed because its page is being replaced.
func leftThePage(err error) bool {
	if err == nil {
		return false
	}
	for _, text := range []string{"Not attached to an active page", "Cannot find context", "Execution context was destroyed", "navigated or closed"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// Type types into the first element that the CSS selector matches.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// AllowClipboard lets the page read the clipboard.
func (p *Page) AllowClipboard() {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, browserdomain.SetPermission, browserdomain.SetPermissionParams{
			Permission: &browserdomain.PermissionDescriptor{Name: "clipboard-read"}, Setting: browserdomain.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
}

// Set sets the value of an input. It is for inputs such as dates, which are typed differently in each locale.
func (p *Page) Set(selector, value string) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector(%s); e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); return true })()`,
		quote(selector), quote(value)))
}

// Upload chooses a file in a file input.
func (p *Page) Upload(selector, file string) {
	p.t.Helper()
	absolute, err := filepath.Abs(file)
	require.NoError(p.t, err)
	p.do(chromedp.SetUploadFiles(chromedp.CSS(selector), []string{absolute}))
}

// ClickAt clicks on a point of the window.
func (p *Page) ClickAt(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(x, y))
}

// Drag presses the mouse at a point of the window, moves it to another and lets go.
func (p *Page) Drag(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	p.do(chromedp.DragAndDropXY(fromX, fromY, toX, toY, 8))
}

// Stroke draws with a finger through points of the window.
func (p *Page) Stroke(points ...[2]float64) {
	p.t.Helper()
	touch := func(kind input.DispatchTouchEventType, at ...*input.TouchPoint) {
		p.t.Helper()
		p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, at...)})
			return err
		}))
	}
	for i, point := range points {
		kind := input.DispatchTouchEventTypeTouchMove
		if i == 0 {
			kind = input.DispatchTouchEventTypeTouchStart
		}
		touch(kind, &input.TouchPoint{X: point[0], Y: point[1]})
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
}

// Tab presses the tabulator key.
func (p *Page) Tab() {
	p.t.Helper()
	p.do(chromedp.KeyEvent(kb.Tab))
}

// Reach presses the tabulator key until the focus is on an element that the CSS selector matches.
func (p *Page) Reach(selector string) {
	p.t.Helper()
	for range 60 {
		if Eval[bool](p, fmt.Sprintf("document.activeElement.matches(%s)", quote(selector))) {
			return
		}
		p.Tab()
	}
	require.Fail(p.t, "the keyboard does not reach "+selector)
}

// Press presses keys on the element that has the focus.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// PressWithControl presses a key with Control held down.
func (p *Page) PressWithControl(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}
