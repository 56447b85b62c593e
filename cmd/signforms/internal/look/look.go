// Package look has the parts that all pages share: the style sheet, the pages of a PDF, and headers
// that isolate a page from other sites.
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

// Pages is the script that shows the pages of a PDF.
//
//go:embed pages.js
var Pages string

// StyleHash is the source expression of a Content-Security-Policy that allows the style sheet
// inside a page.
var StyleHash = func() string {
	sum := sha256.Sum256([]byte(Style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

// Version returns a hash of the texts. Put the hash into their URLs, so that browsers may cache
// them forever.
func Version(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Static returns a handler that serves one text. The text must never change under the same URL.
func Static(contentType, text string) http.Handler {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		panic("look: " + err.Error()) // cannot happen: writing to a buffer never fails
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ServeCompressed(w, r, contentType, compressed.Bytes())
	})
}

// Keep sets the headers of content that never changes under the same URL.
func Keep(h http.Header, contentType string) {
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
}

// ServeCompressed serves content that was compressed with gzip and never changes under the same
// URL. It decompresses the content for clients that do not accept gzip.
func ServeCompressed(w http.ResponseWriter, r *http.Request, contentType string, compressed []byte) {
	h := w.Header()
	Keep(h, contentType)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(compressed)))
		_, _ = w.Write(compressed) // Write fails only if the client has gone
		return
	}
	plain, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("look: " + err.Error()) // cannot happen: the content is part of the program
	}
	_, _ = io.Copy(w, plain) // Copy fails only if the client has gone
}

// Guard adds the headers of [Secure] to every response of next.
func Guard(next http.Handler, frames []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Secure(w.Header(), frames)
		next.ServeHTTP(w, r)
	})
}

// Secure sets the headers of a page. Scripts, styles and all other content may come only from the
// page's own origin, and must not be inline. The page's URL is not sent to other sites, and caches
// store nothing. frames are the origins that may show the page in a frame; if frames is empty, no
// site may.
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

// SecureFile changes the headers of [Secure] to those of an uploaded file. The file runs no scripts, and other sites
// cannot show it in a frame.
func SecureFile(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	h.Del("X-Frame-Options")
}
