package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRequest sends any method, path, query and body, with a key that is valid. The service always responds with
// JSON, never with an internal error. A refusal has a message and a code.
func FuzzRequest(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(testdata, "requests", "*.json"))
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		var r request
		require.NoError(f, json.Unmarshal(raw, &r))
		query := url.Values{}
		for k, v := range r.Query {
			query.Set(k, v)
		}
		f.Add(r.Method, r.Path, query.Encode(), []byte(r.Body))
	}
	f.Add("GET", "/get-form-responses", "formId="+form+"&page=2147483648&limit=2147483647", []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		srv := newServer(t, nil)
		r := httptest.NewRequest("GET", "/", bytes.NewReader(body))
		r.Method, r.URL.Path, r.URL.RawQuery = method, path, query
		r.Header.Set("x-api-key", apiKey)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		var answer map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%d %q: %v", w.Code, w.Body, err)
		}
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if message, _ := answer["message"].(string); w.Code != http.StatusOK && (message == "" || answer["code"] == "") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		_ = srv.last().String()
	})
}
