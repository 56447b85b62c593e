package signpages_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// A request that is never answered is given up, and can be made again.
func TestServiceThatHangs(t *testing.T) {
	var hangs, loses atomic.Value
	hangs.Store("nothing")
	loses.Store("/document.pdf")
	release := make(chan struct{})
	service := newLossyService(t, func(path string) bool {
		if strings.HasSuffix(path, hangs.Load().(string)) {
			<-release
		}
		return strings.HasSuffix(path, loses.Load().(string))
	})
	t.Cleanup(func() { close(release) })
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.AllowErrors("Failed to load resource")
	p.Go(links["ann@example.com"])
	p.WaitText("The document cannot be shown here. Try again")
	fill(p)
	soon := func(path string) {
		hangs.Store(path)
		loses.Store("nothing")
		browsertest.Eval[bool](p, `(() => {
			window.own ??= [setTimeout, AbortSignal.timeout];
			window.setTimeout = (f, ms) => own[0].call(window, f, ms > 60000 ? 200 : ms);
			AbortSignal.timeout = () => own[1].call(AbortSignal, 200);
			return true })()`)
	}
	patient := func() {
		hangs.Store("nothing")
		browsertest.Eval[bool](p, "([window.setTimeout, AbortSignal.timeout] = own, true)")
	}
	soon("/document.pdf")
	p.Click("#loading button") // which removes the message
	p.WaitText("The document cannot be shown here. Try again")
	p.Click(sign)
	p.WaitText("The first page must have been shown before you can sign.")
	patient()
	loses.Store("/viewed")
	p.Click("#loading button")
	p.WaitText("could not be noted, which signing needs")
	soon("/viewed")
	p.Click(again) // which removes the message
	p.WaitText("could not be noted, which signing needs")
	patient()
	p.Click(again)
	p.Wait("performance.getEntriesByName(location.href + '/viewed').at(-1)?.responseStatus === 204")
	soon("/sign")
	p.Click(sign)
	p.WaitText("There was no answer, so whether it was done is not known.")
	patient()
	p.Click(again)
	p.WaitText("You have signed.")
}

// After ten seconds without an answer the page says that it still waits, and the document can be asked for again.
func TestSlowService(t *testing.T) {
	var hangs atomic.Value
	hangs.Store("/document.pdf")
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	service := newLossyService(t, func(path string) bool {
		if strings.HasSuffix(path, hangs.Load().(string)) {
			<-release
		}
		return false
	})
	t.Cleanup(answer)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.AllowErrors("Failed to load resource")
	p.Hold(10_000)
	p.Go(links["ann@example.com"])
	p.Release()
	p.WaitText("Still loading …")
	p.RequireAccessible()
	hangs.Store("/sign")
	p.Click("#loading button")
	p.Wait("document.querySelector('main').dataset.shown && document.querySelector('#loading').hidden")
	fill(p)
	p.Click(sign)
	p.Release()
	p.WaitText("Still waiting for an answer …")
	answer()
	p.WaitText("You have signed.")
}

// A page that nobody sees gets no animation frames, without which PDF.js draws nothing. The two minutes do not count then.
func TestPageInTheBackgroundWaits(t *testing.T) {
	_, links := offer(t, newService(t), "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Hold(120_000)
	p.Before("window.waiting = []; const real = requestAnimationFrame; window.requestAnimationFrame = (f) => window.front ? real(f) : waiting.push(f);")
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('.page') && waiting.length > 1")
	require.Zero(t, browsertest.Eval[int](p, "held.size"))
	browsertest.Eval[bool](p, "window.front = true; waiting.forEach(real); true")
	p.Wait("document.querySelector('main').dataset.shown")
	require.Zero(t, browsertest.Eval[int](p, "held.size"))
}
