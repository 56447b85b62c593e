package signpages_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// loaded is what a browser measured of a page: milliseconds from the navigation until the first page of the document was drawn,
// and bytes.
type loaded struct {
	Shown                float64
	Transferred, Decoded int
	Each                 []string // what was fetched, when, and its size
}

const measure = `(() => {
	const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
	const sum = (what) => all.reduce((n, e) => n + e[what], 0);
	return {
		Shown: Number(document.querySelector("main").dataset.shown), Transferred: sum("transferSize"), Decoded: sum("decodedBodySize"),
		Each: all.map((e) => e.name.split("/").at(-1) + " " + Math.round(e.startTime) + "-" + Math.round(e.responseEnd) + " ms " + e.transferSize + " B"),
	};
})()`

// loadTwice opens a document of 20 pages with an empty cache, and in a second tab that shares the cache.
func loadTwice(t testing.TB) (cold, warm loaded) {
	t.Helper()
	service := newService(t)
	_, links := offer(t, service, "Offer of 20 pages")
	open := browsertest.Tabs(t)
	load := func() loaded {
		page := open(browsertest.Screen{Width: 1280})
		page.Go(links["sam@example.com"])
		page.Wait("document.querySelector('main').dataset.shown")
		page.Wait("document.querySelectorAll('.page').length >= 20")
		drawn := browsertest.Eval[int](page, "document.querySelectorAll('[data-drawn]').length")
		require.Less(t, drawn, 20, "pages far below are drawn when they come near")
		return browsertest.Eval[loaded](page, measure)
	}
	return load(), load()
}

func TestFirstOf20PagesIsShownSoon(t *testing.T) {
	cold, warm := loadTwice(t)
	t.Logf("first of 20 pages after %.0f ms with an empty cache, %d bytes transferred, %d decoded: %q", cold.Shown, cold.Transferred, cold.Decoded, cold.Each)
	t.Logf("in a second tab after %.0f ms, %d bytes transferred: %q", warm.Shown, warm.Transferred, warm.Each)
	require.Less(t, cold.Transferred, 700_000, "what a signer's browser has to fetch")
	require.Less(t, warm.Transferred, 60_000, "scripts and styles are kept by the browser")
}

// BenchmarkFirstPage reports medians of the time to the first page. Run it with -benchtime 7x on an idle machine.
func BenchmarkFirstPage(b *testing.B) {
	var cold, warm []float64
	for b.Loop() {
		first, second := loadTwice(b)
		cold, warm = append(cold, first.Shown), append(warm, second.Shown)
	}
	slices.Sort(cold)
	slices.Sort(warm)
	b.ReportMetric(cold[len(cold)/2], "ms-cold")
	b.ReportMetric(warm[len(warm)/2], "ms-warm")
	b.Logf("cold %.0f, warm %.0f ms", cold, warm)
}
