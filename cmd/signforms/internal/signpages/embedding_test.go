package signpages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
)

// The embedding page of a link that leads nowhere hears why.
func TestEmbeddingPageHearsTheEnd(t *testing.T) {
	var link, script string
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><body><script src="%s"></script><script>
			window.heard = [];
			signforms.embed(document.body, %q, (e) => heard.push(e.event + " " + e.reason + ": " + e.message));</script>`, script, link)
	}))
	t.Cleanup(host.Close)
	service := newLossyService(t, func(string) bool { return false }, host.URL)
	script = service.URL + "/sign/embed.js"
	p := browsertest.Open(t, browsertest.Screen{Width: 800})
	p.AllowErrors("404")
	for says, end := range map[string]func(id string){
		"void: This document is void, so it can no longer be signed.":       func(id string) { require.NoError(t, service.Void(id)) },
		"expired: This document is expired, so it can no longer be signed.": func(id string) { require.NoError(t, service.Expire(id)) },
		"declined: A signer declined, so this document can no longer be signed.": func(id string) {
			require.NoError(t, service.Signer(id, "ann@example.com").Decline("no"))
		},
		"unknown: Nothing is here. Open the link from the mail again, whole and unchanged.": nil,
	} {
		id, links := offer(t, service, "Offer")
		if link = links["sam@example.com"]; end != nil {
			end(id)
		} else {
			link += "x"
		}
		p.Go(host.URL)
		p.Wait("heard.includes(" + strconv.Quote("error "+says) + ")")
		p.Wait("heard.filter((event) => event.startsWith('error')).length === 1")
	}
}

// The embedding page hears what goes wrong, also from a page whose script does not come.
func TestEmbeddingPageHearsFailures(t *testing.T) {
	for lost, says := range map[string]string{
		"/viewed":    "That you have seen the document could not be noted, which signing needs.",
		"/fields.js": "A part of this page could not be loaded. Reload the page.",
		"/sign.js":   "the signing page did not start",
	} {
		t.Run(strings.Trim(lost, "/"), func(t *testing.T) {
			var link, script string
			host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><body><script src="%s"></script><script>
					window.heard = [];
					signforms.embed(document.body, %q, (e) => heard.push(e.event + ": " + e.message));</script>`, script, link)
			}))
			t.Cleanup(host.Close)
			service := newLossyService(t, func(path string) bool { return strings.HasSuffix(path, lost) }, host.URL)
			_, links := offer(t, service, "Offer")
			link, script = links["ann@example.com"], service.URL+"/sign/embed.js"
			p := browsertest.Open(t, browsertest.Screen{Width: 800})
			p.AllowErrors("Failed to load resource")
			p.AllowErrors("Blocked autofocusing")
			p.Hold(10_000)
			p.Go(host.URL)
			p.Release() // a page that has said nothing until now has not started
			p.Wait("heard.includes(" + strconv.Quote("error: "+says) + ")")
		})
	}
}
