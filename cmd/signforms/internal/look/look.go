// Package look is what all pages share: the style sheet, and the headers that keep a page to itself.
package look

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
)

// Style is the style sheet.
//
//go:embed style.css
var Style string

// Version changes whenever one of the texts does. Put it into their addresses, so that browsers may keep them for ever.
func Version(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Static returns a handler of one text that never changes under its address.
func Static(contentType, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write([]byte(text)) // whoever asked has gone
	})
}

// Secure sets the headers of a page: scripts, styles and everything else come from the page's own origin only, none of them
// is written into the page, no address leaks to other sites, and nothing is kept by caches. frames are the origins that may
// show the page in a frame; none: nobody may.
func Secure(h http.Header, frames []string) {
	ancestors := "'none'"
	if len(frames) > 0 {
		ancestors = strings.Join(frames, " ")
	}
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "+
		"form-action 'self'; frame-ancestors "+ancestors)
	if len(frames) == 0 {
		h.Set("X-Frame-Options", "DENY")
	}
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// SecureFile sets the headers of an uploaded file: it is shown as what it is, runs nothing, and goes into no frame of others.
func SecureFile(h http.Header, frames []string) {
	Secure(h, frames)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	h.Del("X-Frame-Options")
}
