// Package assets holds the scripts and fonts of other projects that the pages use, exactly as they were published.
// LIST.md names each with its version, licence and SHA-256.
package assets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

//go:embed LIST.md
var list string

//go:embed files
var embedded embed.FS

// Version changes whenever an asset does. Put it into assets' addresses, so that browsers may keep them for ever.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(list))
	return hex.EncodeToString(sum[:6])
})

// Handler serves the assets at the root of its path, such as /pdf.min.mjs. It lists no folders.
func Handler() http.Handler {
	files, err := fs.Sub(embedded, "files")
	if err != nil {
		panic("assets: " + err.Error())
	}
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Path == "" || strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		serve.ServeHTTP(w, r)
	})
}
