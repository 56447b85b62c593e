// Package look is what all pages share: the style sheet, and the headers that keep a page to itself.
package look

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Style is the style sheet.
//
//go:embed style.css
var Style string

// StyleHash allows the style sheet inside a page, as a source of a Content-Security-Policy.
var StyleHash = func() string {
	sum := sha256.Sum256([]byte(Style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

// Version changes whenever one of the texts does. Put it into their addresses, so that browsers may keep them for ever.
func Version(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Static returns a handler of one text that never changes under its address.
func Static(contentType, text string) http.Handler {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		panic("look: " + err.Error()) // a buffer takes everything
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ServeCompressed(w, r, contentType, compressed.Bytes())
	})
}

// Keep sets the headers of what never changes under its address.
func Keep(h http.Header, contentType string) {
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
}

// ServeCompressed serves what was compressed by gzip and never changes under its address: as it is to clients that take that,
// which browsers do.
func ServeCompressed(w http.ResponseWriter, r *http.Request, contentType string, compressed []byte) {
	h := w.Header()
	Keep(h, contentType)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(compressed)))
		_, _ = w.Write(compressed) // whoever asked has gone
		return
	}
	plain, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("look: " + err.Error()) // it comes with the program
	}
	_, _ = io.Copy(w, plain) // whoever asked has gone
}

// Guard gives every answer of next the headers of [Secure].
func Guard(next http.Handler, frames []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Secure(w.Header(), frames)
		next.ServeHTTP(w, r)
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

// SecureFile changes the headers of [Secure] to those of an uploaded file: it is shown as what it is, runs nothing, and goes
// into no frame of others.
func SecureFile(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	h.Del("X-Frame-Options")
}
