package guard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoginReturnsToThePageAskedFor(t *testing.T) {
	h := tokenCheck{token: "right"}.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(r *http.Request) string {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, http.StatusSeeOther, w.Code)
		return w.Header().Get("Location")
	}
	login := func(address string) string {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, address, strings.NewReader(url.Values{"token": {"right"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return ask(r)
	}
	for _, page := range []string{"/_/", "/_/documents?offset=50&query=a%26b", "/_/w/1/requests"} {
		require.Equal(t, page, login(ask(httptest.NewRequest(http.MethodGet, page, nil))))
	}
	require.Equal(t, "/_/settings/reset", login(ask(httptest.NewRequest(http.MethodPost, "/_/settings/reset", nil))), "a GET of it leads to its page")
	form := ask(httptest.NewRequest(http.MethodPost, "/_/settings/reset", nil))
	for address, lost := range map[string]bool{form: true, ask(httptest.NewRequest(http.MethodGet, "/_/", nil)): false} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
		require.Equal(t, lost, strings.Contains(w.Body.String(), "Nothing was done: you are no longer logged in."), address)
	}
	for _, foreign := range []string{
		"https://example.com/_/", "//example.com/_/", `/\example.com/_/`, `\\example.com`, "/_/../..//example.com", "/_/..//example.com", "/_/%2e%2e//example.com",
		"javascript:alert(1)", "example.com/_/", "/sign/abc", "/_/login", "\t//example.com", "/_/\nSet-Cookie: a=b", "",
	} {
		require.Equal(t, "/_/", login(loginPath+"?next="+url.QueryEscape(foreign)), foreign)
	}
}
