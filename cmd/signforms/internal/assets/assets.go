// Package assets has the scripts and fonts of other projects that the pages use. They are
// unchanged; the larger ones are compressed. LIST.md lists their packages and licences, and
// SHA256SUMS their checksums.
package assets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
)

//go:embed SHA256SUMS
var sums string

//go:embed files
var embedded embed.FS

// Version changes whenever an asset changes. Put it into the URLs of assets, so that browsers may
// cache them forever.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(sums))
	return hex.EncodeToString(sum[:6])
})

// Handler serves the assets at the root of its path, such as /pdf.min.mjs. It lists no folders.
func Handler() http.Handler {
	files, err := fs.Sub(embedded, "files")
	if err != nil {
		panic("assets: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if compressed, err := fs.ReadFile(files, name+".gz"); err == nil {
			look.ServeCompressed(w, r, contentType(name), compressed)
			return
		}
		plain, err := fs.ReadFile(files, name)
		if err != nil || strings.HasSuffix(name, ".gz") {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.NotFound(w, r)
			return
		}
		look.Keep(w.Header(), contentType(name))
		_, _ = w.Write(plain) // Write fails only if the client has gone
	})
}

// contentType does not use the machine's table of types, which may give scripts a type that browsers do not run.
func contentType(name string) string {
	if ext := path.Ext(name); ext == ".js" || ext == ".mjs" {
		return "text/javascript; charset=utf-8"
	}
	return "application/octet-stream"
}
