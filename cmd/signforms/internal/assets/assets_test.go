package assets_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/assets"
)

func TestAssetsAreAsListed(t *testing.T) {
	list, err := os.ReadFile("SHA256SUMS")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^([0-9a-f]{64})  [^/]+/(?:build/|dist/)?(\S+)$`).FindAllStringSubmatch(string(list), -1) {
		listed[row[2]] = row[1]
	}
	require.NoError(t, fs.WalkDir(os.DirFS("files"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile("files/" + name)
		require.NoError(t, err)
		if original, compressed := strings.CutSuffix(name, ".gz"); compressed {
			name, data = original, decompressed(t, data)
		}
		sum := sha256.Sum256(data)
		require.Equal(t, listed[name], hex.EncodeToString(sum[:]), name)
		delete(listed, name)
		return nil
	}))
	require.Empty(t, listed, "listed, but not there")
}

func decompressed(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	return plain
}

func TestHandler(t *testing.T) {
	const script, binary, none = "text/javascript; charset=utf-8", "application/octet-stream", "text/plain; charset=utf-8"
	for _, c := range []struct {
		path, accepts, contentType, encoding string
		code                                 int
	}{
		{path: "/pdf.min.mjs", accepts: "gzip, br", contentType: script, encoding: "gzip", code: http.StatusOK},
		{path: "/pdf.min.mjs", contentType: script, code: http.StatusOK},
		{path: "/htmx.min.js", accepts: "gzip", contentType: script, encoding: "gzip", code: http.StatusOK},
		{path: "/cmaps/78-H.bcmap", accepts: "gzip", contentType: binary, code: http.StatusOK},
		{path: "/htmx.min.js.gz", contentType: none, code: http.StatusNotFound},
		{path: "/cmaps/", contentType: none, code: http.StatusNotFound},
		{path: "/", contentType: none, code: http.StatusNotFound},
		{path: "/../assets.go", contentType: none, code: http.StatusNotFound},
	} {
		t.Run(c.path+" "+c.accepts, func(t *testing.T) {
			w := httptest.NewRecorder()
			assets.Handler().ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: c.path}, Header: http.Header{"Accept-Encoding": {c.accepts}}})
			require.Equal(t, c.code, w.Code)
			require.Equal(t, c.contentType, w.Header().Get("Content-Type"))
			require.Equal(t, c.encoding, w.Header().Get("Content-Encoding"))
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			if c.code == http.StatusOK {
				require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
			}
			if c.path == "/pdf.min.mjs" {
				body := w.Body.Bytes()
				if c.encoding == "gzip" {
					body = decompressed(t, body)
				}
				require.True(t, bytes.Contains(body, []byte("getDocument")))
			}
		})
	}
}
