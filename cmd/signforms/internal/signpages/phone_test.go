package signpages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// On a phone a page fits the screen until somebody wants it larger, and what has the focus tells its name, which it covers.
func TestAPageFitsAPhone(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 390, Touch: true})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelectorAll('.spot').length === 5")
	const wider = "document.querySelector('.page').getBoundingClientRect().width > innerWidth"
	require.False(t, browsertest.Eval[bool](p, wider))
	p.Click("#zoom")
	require.True(t, browsertest.Eval[bool](p, wider))
	require.Equal(t, "true", browsertest.Eval[string](p, "document.querySelector('#zoom').ariaPressed"))
	p.Click("#zoom")
	require.False(t, browsertest.Eval[bool](p, wider))

	const control = "document.querySelector('.spot input[type=text]')"
	browsertest.Eval[bool](p, control+".focus() ?? true")
	name := browsertest.Eval[string](p, control+".ariaLabel")
	require.NotEmpty(t, name)
	require.Equal(t, name, browsertest.Eval[string](p, "document.querySelector('#now').textContent"))
	require.Equal(t, name, browsertest.Eval[string](p, control+".placeholder"))
	p.Shot("focused")
}

// A name stands in a field only where all of it does. A checkbox has it as a tooltip. A page is a group with a name.
func TestNamesOfSmallFieldsAreNotCut(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelectorAll('.spot').length === 5")
	for _, screen := range []browsertest.Screen{{Width: 1280}, {Width: 390, Touch: true}} {
		p.Show(screen)
		p.Wait(`![...document.querySelectorAll(".spot span")].some((e) => e.checkVisibility({ visibilityProperty: true }) &&
			(e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))`)
	}
	p.Wait(`(document.querySelector(".spot.checkbox").style.width = "12px", !document.querySelector(".spot.checkbox span").checkVisibility({ visibilityProperty: true }))`)
	require.NotEmpty(t, browsertest.Eval[string](p, `document.querySelector(".spot.checkbox").title`))
	require.Regexp(t, `^Page 1 of \d+$`, browsertest.Eval[string](p, `document.querySelector(".spot").closest("[role=group]").ariaLabel`))
}

// A form is sent once, however often its button is pressed before the answer comes, even if a part of the script is not there yet.
func TestAFormIsSentOnce(t *testing.T) {
	late := make(chan struct{})
	service := newLossyService(t, func(path string) bool {
		if strings.HasSuffix(path, "/fields.js") {
			<-late
		}
		return false
	})
	t.Cleanup(func() { close(late) })
	link := formLink(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 390, Touch: true})
	p.Go(link)
	p.Type("#q0", "Ann")
	p.Click("[name=q2][value=green]")
	p.Click("#q4")
	sent := browsertest.Eval[int](p, `new Promise((done) => {
		const button = document.querySelector("button.main");
		let sent = 0;
		document.addEventListener("submit", (event) => (event.preventDefault(), sent++)); // no answer comes
		button.click();
		setTimeout(() => (button.click(), done(sent)), 100);
	})`)
	require.Equal(t, 1, sent)
}
