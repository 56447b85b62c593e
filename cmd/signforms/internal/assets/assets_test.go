package assets_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"testing"

	"github.com/signforms/signforms-go/cmd/signforms/internal/assets"
	"github.com/stretchr/testify/require"
)

func TestAssetsAreAsListed(t *testing.T) {
	list, err := os.ReadFile("LIST.md")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(list), -1) {
		listed[row[1]] = row[2]
	}
	require.NoError(t, fs.WalkDir(os.DirFS("files"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile("files/" + name)
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		require.Equal(t, listed[name], hex.EncodeToString(sum[:]), name)
		delete(listed, name)
		return nil
	}))
	require.Empty(t, listed, "listed, but not there")
}

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		path, contentType string
		code              int
	}{
		{path: "/pdf.min.mjs", contentType: "text/javascript; charset=utf-8", code: http.StatusOK},
		{path: "/htmx.min.js", contentType: "text/javascript; charset=utf-8", code: http.StatusOK},
		{path: "/cmaps/78-H.bcmap", contentType: "application/octet-stream", code: http.StatusOK},
		{path: "/cmaps/", contentType: "text/plain; charset=utf-8", code: http.StatusNotFound},
		{path: "/", contentType: "text/plain; charset=utf-8", code: http.StatusNotFound},
		{path: "/../assets.go", contentType: "text/plain; charset=utf-8", code: http.StatusNotFound},
	} {
		t.Run(c.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			assets.Handler().ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: c.path}})
			require.Equal(t, c.code, w.Code)
			require.Equal(t, c.contentType, w.Header().Get("Content-Type"))
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		})
	}
}
