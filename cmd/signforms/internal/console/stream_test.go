package console_test

import (
	"bytes"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// streams counts the streams of events of all consoles.
var streams struct {
	opened, open atomic.Int32
	refuse       atomic.Int32 // that many are answered 503
	gone         atomic.Bool  // all are ended and answered 404
	out          atomic.Bool  // all are answered 401
}

func stream(w http.ResponseWriter, r *http.Request, service *servicetest.Server) {
	if streams.refuse.Add(-1) >= 0 {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	if streams.out.Load() {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	if streams.gone.Load() {
		http.NotFound(w, r)
		return
	}
	watcher := service.Watch()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Write([]byte(": open\n\n"))
	http.NewResponseController(w).Flush()
	streams.opened.Add(1)
	streams.open.Add(1)
	defer streams.open.Add(-1)
	for {
		all, more := watcher.Take()
		for _, h := range all {
			w.Write(h.Event)
		}
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-more:
		}
		if more == nil || streams.gone.Load() {
			return
		}
	}
}

// impatient is the script that reads the stream, with a tenth of its waits.
func impatient(t *testing.T) []byte {
	t.Helper()
	script, err := os.ReadFile("static/stream.js")
	require.NoError(t, err)
	return bytes.ReplaceAll(script, []byte("000"), []byte("00"))
}

// hurry makes the clock of a page ten times faster: what has changed is kept back for five seconds from somebody who enters something.
const hurry = "{ const own = Date.now, began = own(); Date.now = () => began + 10 * (own() - began) }"

// oneSigner is a document for one person.
func oneSigner(name string) refserver.Document {
	return refserver.Document{Name: name, Signers: []refserver.Signer{{Email: "ann@example.com"}}}
}

// A browser opens six connections to a host. A stream for each tab would leave none for the seventh.
func TestTabsShareAStream(t *testing.T) {
	service := newConsole(t)
	before := streams.opened.Load()
	open := browsertest.Tabs(t)
	tabs := make([]*browsertest.Page, 7)
	for i := range tabs {
		tabs[i] = open(browsertest.Screen{Width: 1280})
		tabs[i].Go(service.URL + "/_/documents")
	}
	live := func(name string) {
		t.Helper()
		service.AddDocument(oneSigner(name))
		for _, tab := range tabs {
			tab.WaitText(name)
		}
		require.EqualValues(t, 1, streams.opened.Load()-before)
	}
	live("For seven")
	eighth := open(browsertest.Screen{Width: 1280})
	eighth.Go(service.URL + "/_/deliveries")
	eighth.WaitText("Nothing was delivered yet.")

	tabs[0].Close() // it had opened the stream
	tabs = tabs[1:]
	live("For six")
	for _, tab := range append(tabs, eighth) {
		tab.Go("about:blank")
	}
	require.Eventually(t, func() bool { return streams.open.Load() == 0 }, time.Minute, time.Millisecond, "nobody needs the stream any more")
}

func TestListsFollowWhatHappens(t *testing.T) {
	for name, before := range map[string]string{"shared worker": "", "none": "delete self.SharedWorker", "cookies blocked": `
		const refuse = () => { throw new DOMException("The operation is insecure.", "SecurityError") };
		self.SharedWorker = class { constructor() { refuse() } };
		Object.defineProperty(self, "sessionStorage", { get: refuse });`} {
		t.Run(name, func(t *testing.T) {
			service := newConsole(t)
			p := browsertest.Open(t, browsertest.Screen{Width: 1280})
			p.Before(before)
			p.Go(service.URL + "/_/documents")
			id := service.AddDocument(oneSigner("Live"))
			p.WaitText("Live")
			require.NoError(t, service.Void(id))
			p.WaitText("VOID")
			p.Go(service.URL + "/_/documents/" + id)
			require.NoError(t, service.Archive(id))
			p.WaitText("archived")
		})
	}
}

// What a page cannot show is said until it is shown.
func TestAPageSaysThatItMayBeOutOfDate(t *testing.T) {
	defer streams.refuse.Store(0)
	defer streams.out.Store(false)
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.AllowErrors("503")
	p.AllowErrors("401")
	p.Hold(3000)
	streams.refuse.Store(1 << 20)
	p.Go(service.URL + "/_/documents")
	p.Release()
	p.WaitText("so this page may be out of date.")
	require.Regexp(t, `The sandbox has not answered since \d\d:\d\d:\d\d by your clock`, p.Text())
	streams.out.Store(true)
	streams.refuse.Store(0)
	p.WaitText("You are not logged in any more, so this page may be out of date. Log in in another tab.")
	p.RequireAccessible()
	p.Shot("out-of-date")
	streams.refuse.Store(1 << 20)
	p.Release()
	p.WaitText("The sandbox has not answered since")
	streams.refuse.Store(0)
	streams.out.Store(false)
	service.AddDocument(oneSigner("After it"))
	p.WaitText("After it")
	require.NotContains(t, p.Text(), "out of date")
}

// What has changed is not kept back for good from somebody whose focus stays in an input.
func TestSomethingMayHaveChanged(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Before(hurry)
	p.Go(service.URL + "/_/documents")
	p.Type("[name=query]", "Le")
	service.AddDocument(oneSigner("Lease"))
	p.WaitText("Something may have changed since this page was shown.")
	require.NotContains(t, p.Text(), "Lease")
	p.Click(".stale button")
	p.WaitText("Lease")
	require.NotContains(t, p.Text(), "may have changed")
	require.Equal(t, "Le", browsertest.Eval[string](p, "document.querySelector('[name=query]').value"))
}

// What was begun while a page was on its way is not replaced by it.
func TestAPageThatComesLateReplacesNothing(t *testing.T) {
	service := newConsole(t)
	id := service.AddDocument(oneSigner("Lease"))
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Before(hurry)
	p.Before(`
const real = fetch;
self.asked = 0;
self.fetch = async (address, options) => {
	if (options?.headers?.["HX-Request"] && !asked++) await new Promise((go) => (self.go = go));
	return real(address, options);
};`)
	p.Go(service.URL + "/_/documents/" + id)
	p.Wait("self.go")
	p.Click("[popovertarget=ask-void]")
	browsertest.Eval[bool](p, "go() ?? true")
	p.WaitText("Something may have changed")
	require.True(t, browsertest.Eval[bool](p, "document.querySelector('#ask-void').matches(':popover-open') && asked === 1"))
	p.Click("#ask-void [popovertargetaction=hide]")
	p.Wait("asked > 1")
}

// A page that says why something was refused keeps saying so, whatever happens meanwhile.
func TestRefusalStays(t *testing.T) {
	service := newConsole(t)
	open := browsertest.Tabs(t)
	p, other := open(browsertest.Screen{Width: 1280}), open(browsertest.Screen{Width: 1280})
	other.Go(service.URL + "/_/clock")
	p.AllowErrors("422")
	p.Go(service.URL + "/_/clock")
	p.Set("#by", "400d")
	p.Click("button.main")
	p.WaitText("up to 366d")
	for range 2 { // tabs get an event at once, so when the other has shown the second, this one would have shown the first
		service.Advance(time.Hour)
		other.WaitText(service.Now().UTC().Format("2006-01-02 15:"))
	}
	require.Contains(t, p.Text(), "up to 366d")
}

// A shared worker ends with the process of the page that runs it. The other pages take another one.
func TestSilentWorkerIsReplaced(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Before(`
const Real = SharedWorker, often = setInterval;
let made = 0;
self.SharedWorker = class { // the first one says nothing
	constructor(address, options) { return made++ ? new Real(address, options) : { port: new MessageChannel().port1 }; }
};
self.setInterval = (f, every) => { const timer = often(() => made > 1 ? clearInterval(timer) : f(), 10); };`)
	p.Go(service.URL + "/_/documents")
	p.Wait("made > 1")
	service.AddDocument(oneSigner("After it"))
	p.WaitText("After it")
}

// A page whose stream has gone, as its workspace was removed, is loaded again: it says so, or is of the one that has the name now. It is
// loaded once, if only the stream cannot be had.
func TestPageOfAGoneStreamIsLoadedAgain(t *testing.T) {
	defer streams.gone.Store(false)
	service := newConsole(t)
	streams.gone.Store(false)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.AllowErrors("404")
	p.Before(`sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;`)
	p.Go(service.URL + "/_/documents")
	service.AddDocument(oneSigner("Before it"))
	p.WaitText("Before it")
	streams.gone.Store(true)
	service.AddDocument(oneSigner("After it")) // the stream ends
	p.Wait("sessionStorage.loads === '2'")
	p.Go(service.URL + "/_/deliveries")
	p.Go(service.URL + "/_/documents")
	p.WaitText("After it")
	require.Equal(t, "4", browsertest.Eval[string](p, "sessionStorage.loads"), "two of them by the test")
}
