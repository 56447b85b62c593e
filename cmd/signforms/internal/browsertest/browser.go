// Package browsertest lets tests use the pages of the program in a real browser. It needs Chromium:
// the program that SIGNFORMS_CHROMIUM names, or chromium-headless-shell or chromium in the PATH, as
// Debian's packages install them. chromium-headless-shell opens no windows and uses about half of
// the processor time of chromium.
package browsertest

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/axe.min.js
var axe string

// waitLimit is the longest wait for a page. It is long because a machine under load may be slow.
const waitLimit = 60 * time.Second

// Screen is the screen on which a page is displayed.
type Screen struct {
	Width  int // in CSS pixels
	Height int // in CSS pixels, 900 by default
	Dark   bool
	// Touch makes the screen that of a phone: it reacts to touch, and a CSS pixel has three device
	// pixels.
	Touch bool
	// NoScript switches JavaScript off in the page.
	NoScript bool
}

// Screens are the screens on which every page has to look right: each width with each theme.
var Screens = map[string]Screen{
	"phone light": {Width: 360}, "desktop dark": {Width: 1280, Dark: true},
}

// Main runs the tests of a package with one browser for all of them. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	browser.stop()
	os.Exit(code)
}

// browser is the one browser of the test binary. The first page starts it.
var browser chromium

type chromium struct {
	once   sync.Once
	ctx    context.Context
	err    error
	cancel []context.CancelFunc
}

// running starts the browser if it is not running yet, and returns its context.
func (c *chromium) running(t testing.TB) context.Context {
	t.Helper()
	c.once.Do(c.start)
	require.NoError(t, c.err, "starting Chromium: install the package chromium-headless-shell, or name a browser in SIGNFORMS_CHROMIUM")
	return c.ctx
}

func (c *chromium) start() {
	path := os.Getenv("SIGNFORMS_CHROMIUM")
	if path == "" {
		path = "chromium-headless-shell"
		if _, err := exec.LookPath(path); err != nil {
			path = "chromium"
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, // without a sandbox, because tests run as root in containers and open only their own pages
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.DisableGPU,
		chromedp.Flag("site-per-process", true), // as in a desktop browser; without it, chromium-headless-shell would have no targets for frames
		chromedp.WSURLReadTimeout(waitLimit),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	c.ctx, c.cancel = ctx, []context.CancelFunc{stop, stopAllocator}
	c.err = chromedp.Do(ctx)
}

func (c *chromium) stop() {
	for _, cancel := range c.cancel {
		cancel()
	}
}

// Page is one tab.
type Page struct {
	t   testing.TB
	ctx context.Context

	// Close closes the tab.
	Close context.CancelFunc

	mu      sync.Mutex
	errors  []string // errors in the console that are not allowed
	allowed []string // parts of the texts of allowed errors
}

// Open opens a tab with its own cookies, storage and cache. The tab is closed when the test ends.
// An error in its console fails the test, unless it was allowed.
func Open(t testing.TB, screen Screen) *Page {
	t.Helper()
	return open(t, browser.running(t), screen, chromedp.WithNewBrowserContext())
}

// Tabs returns a function that opens tabs like Open. The tabs share cookies, storage and the cache,
// as the tabs of one person do.
func Tabs(t testing.TB) (another func(Screen) *Page) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser.running(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx)) // this tab stays open, so that the others can be closed
	return func(screen Screen) *Page {
		t.Helper()
		return open(t, ctx, screen)
	}
}

func open(t testing.TB, parent context.Context, screen Screen, options ...chromedp.ContextOption) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	p := &Page{t: t, ctx: ctx, Close: cancel}
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx)) // Do opens the tab; if ctx had a deadline, the tab would close at the deadline
	p.Show(screen)
	p.watchConsole()
	return p
}

// Show displays the page on a screen from now on, as when the size of its window changes. The
// caller waits for the effects of the page's scripts.
func (p *Page) Show(screen Screen) {
	p.t.Helper()
	scheme := "light"
	if screen.Dark {
		scheme = "dark"
	}
	width := "innerWidth"
	phone := []chromedp.EmulateViewportOption{}
	if screen.Touch {
		width = "screen.width" // without a viewport setting, a page is wider on a phone
		phone = append(phone, chromedp.EmulateTouch, chromedp.EmulateMobile, chromedp.EmulateScale(3))
	}
	p.do(chromedp.EmulateViewport(int64(screen.Width), int64(cmp.Or(screen.Height, 900)), phone...))
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		if err == nil {
			_, err = cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: screen.NoScript})
		}
		return err
	}))
	p.Wait(fmt.Sprintf("%s === %d && matchMedia('(prefers-color-scheme: %s)').matches", width, screen.Width, scheme))
}

// watchConsole collects the console's errors until the tab is closed.
func (p *Page) watchConsole() {
	messages := chromedp.Console(p.ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError {
				p.mu.Lock()
				p.errors = append(p.errors, m.Text)
				p.mu.Unlock()
			}
		}
	})
	p.t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, text := range p.allowed {
			p.forgetErrors(text)
		}
		require.Empty(p.t, p.errors, "errors in the console")
	})
}

// AllowErrors allows errors in the console that contain text, such as the status of a response that
// a test provokes. It also allows errors that the browser reports later.
func (p *Page) AllowErrors(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, text)
	p.forgetErrors(text)
}

func (p *Page) forgetErrors(text string) {
	p.errors = slices.DeleteFunc(p.errors, func(e string) bool { return strings.Contains(e, text) })
}

// WaitError waits for an error in the console that contains text, and allows it.
func (p *Page) WaitError(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !p.hasError(text) {
		select {
		case <-again.C:
		case <-ctx.Done():
			require.Fail(p.t, "no such error in the console", text)
		}
	}
	p.AllowErrors(text)
}

func (p *Page) hasError(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.errors, "\n"), text)
}

// Frame waits for a frame of another site in the page whose URL contains this text, and returns it.
func (p *Page) Frame(address string) *Page {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		targets, err := chromedp.Targets(ctx)
		for _, target := range targets {
			if target.Type == "iframe" && strings.Contains(target.URL, address) {
				frameContext, cancelFrame := chromedp.NewContext(p.ctx, chromedp.WithTargetID(target.TargetID))
				p.t.Cleanup(cancelFrame)
				require.NoError(p.t, chromedp.Do(frameContext))
				return &Page{t: p.t, ctx: frameContext, Close: cancelFrame}
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			require.Fail(p.t, "no such frame", "%s: %v", address, err)
		}
	}
}

func (p *Page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, steps...))
}

// Go opens a URL and waits until the page is loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// Before runs a script in each page that is opened from now on, before the page's own scripts.
func (p *Page) Before(script string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// Hold stops each timer of this many milliseconds in the pages that are opened from now on. Only
// Release ends such a timer.
func (p *Page) Hold(milliseconds int) {
	p.t.Helper()
	p.Before(fmt.Sprintf(`{
		const [set, clear] = [setTimeout, clearTimeout];
		let last = 0;
		window.held = new Map();
		window.setTimeout = (f, ms, ...more) => (ms === %d ? (held.set(--last, f), last) : set(f, ms, ...more));
		window.clearTimeout = (timer) => held.delete(timer) || clear(timer);
	}`, milliseconds))
}

// Release waits for a held timer and ends it. Then it waits for the effects of the timer, which may
// be to leave the page.
func (p *Page) Release() {
	p.t.Helper()
	p.Wait("window.held?.size")
	Eval[bool](p, `(() => {
		const [[timer, f]] = held;
		held.delete(timer);
		window.released = false;
		(async () => f())().finally(() => (window.released = true));
		return true;
	})()`)
	p.Wait("window.released !== false")
}

// Wait waits until a JavaScript expression is true, even if the page changes meanwhile.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if is {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			p.Shot("failed")
			require.Fail(p.t, "the page never came to this", "%s: %v", expression, err)
		}
	}
}

// WaitText waits until the page shows a text.
func (p *Page) WaitText(text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("document.body && document.body.innerText.includes(%s)", quote(text)))
}

// Text returns the text that the page shows.
func (p *Page) Text() string {
	p.t.Helper()
	return Eval[string](p, "document.body.innerText")
}

// Eval evaluates a JavaScript expression in the page, and waits for a promise.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return value
}

// RequireAccessible fails the test in these cases:
//
//   - axe finds something serious or critical on the page.
//   - A landmark has no name of its own, or a table has an empty header.
//   - The page is wider than the window.
func (p *Page) RequireAccessible() {
	p.t.Helper()
	if !Eval[bool](p, "'axe' in window") {
		Eval[bool](p, axe+"; true")
	}
	findings := Eval[string](p, `axe.run().then(r => JSON.stringify(r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical" || /^(landmark-unique|empty-table-header)$/.test(v.id))
		.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join(" | "))))`)
	require.Equal(p.t, "[]", findings, "findings of axe")
	wider := Eval[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	require.LessOrEqual(p.t, wider, 0, "the page is wider than the window: %s", Eval[string](p, "location.pathname"))
}

// RequireAccessibleOnEveryScreen shows the page on each of Screens, and takes a picture of it. The
// page must be accessible on each. The page stays on the last screen.
func (p *Page) RequireAccessibleOnEveryScreen(name string) {
	p.t.Helper()
	for _, screen := range slices.Sorted(maps.Keys(Screens)) {
		p.Show(Screens[screen])
		p.RequireAccessible()
		p.Shot(screen + "-" + name)
	}
}

// Shot writes a picture of the whole page into the folder that SIGNFORMS_SHOTS names, for people to
// look at. If the variable is not set, Shot does nothing.
func (p *Page) Shot(name string) {
	p.t.Helper()
	folder := os.Getenv("SIGNFORMS_SHOTS")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err)
	name = strings.NewReplacer("/", "-", " ", "-").Replace(p.t.Name() + "-" + name)
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}

// Window returns a PNG of the visible part of the page.
func (p *Page) Window() []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	return picture
}

// quote writes a text as a JavaScript string.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot happen for a string
	}
	return string(quoted)
}
