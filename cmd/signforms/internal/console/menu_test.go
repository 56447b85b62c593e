package console_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// On a narrow screen the menu opens with a button, without a script too. On a wide screen it is always there.
func TestMenuFoldsOnANarrowScreen(t *testing.T) {
	for _, c := range []struct {
		screen browsertest.Screen
		folds  bool
	}{{browsertest.Screen{Width: 320, Touch: true}, true}, {browsertest.Screen{Width: 768, Dark: true}, true}, {browsertest.Screen{Width: 1280}, false}} {
		t.Run(strconv.Itoa(c.screen.Width), func(t *testing.T) {
			service := newConsole(t)
			p := browsertest.Open(t, c.screen)
			p.Go(service.URL + "/_/clock")
			shown := func(selector string) bool {
				return browsertest.Eval[bool](p, "document.querySelector("+strconv.Quote(selector)+").checkVisibility()")
			}
			require.Equal(t, c.folds, shown(".menu"))
			require.Equal(t, !c.folds, shown("#menu nav"))
			p.RequireAccessible()
			if c.folds {
				p.Click(".menu")
				p.Wait("document.querySelector('#menu nav').checkVisibility()")
				p.RequireAccessible()
			}
			p.Shot("menu")
			p.Click("#menu a[href$='documents']")
			p.WaitText("No documents here")
			require.Equal(t, !c.folds, shown("#menu nav"))
			p.RequireAccessible()
			p.Shot("documents")
		})
	}
}
