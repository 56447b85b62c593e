package console_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
)

// call makes a request to the API, with the key if it has no other header.
func call(t *testing.T, service *servicetest.Server, path string, header ...string) {
	t.Helper()
	req, err := http.NewRequest("GET", service.URL+path, nil)
	require.NoError(t, err)
	if header == nil {
		header = []string{"X-Api-Key", service.APIKey}
	}
	req.Header.Set(header[0], header[1])
	resp, err := service.HTTPClient().Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// Each request can be found by paging, each miss among the misses, and each has a page.
func TestRequestsHavePagesAndMisses(t *testing.T) {
	service := newConsole(t)
	for i := range 130 {
		path := "/get-documents"
		if i%2 == 0 {
			path = "/get-document"
		}
		call(t, service, fmt.Sprintf("%s?page=%d", path, i+1))
	}
	follow := func(path string, want int) {
		t.Helper()
		var seen []string
		for pages := 0; ; pages++ {
			page := get(t, service, path)
			for _, found := range regexp.MustCompile(`href="/_/(requests/\d+)"`).FindAllStringSubmatch(page, -1) {
				seen = append(seen, found[1])
			}
			require.Contains(t, page, fmt.Sprintf("to %d of %d<", len(seen), want))
			older := regexp.MustCompile(`href="(\?offset=[^"]*)">Older`).FindStringSubmatch(page)
			if older == nil {
				require.Equal(t, (want-1)/50, pages)
				break
			}
			path = "requests" + strings.ReplaceAll(older[1], "&amp;", "&")
		}
		require.Len(t, seen, want)
		require.Contains(t, get(t, service, seen[0]), fmt.Sprintf("page: %d<", map[int]int{130: 130, 65: 129}[want]))
	}
	follow("requests", 130)
	follow("requests?only=refused", 65)
	for _, unknown := range []string{"0", "131", "-1", "x", "99999999999999999999"} {
		require.Contains(t, get(t, service, "requests/"+unknown), "There is no such record", unknown)
	}
}

// The page of a request says what was close and why it did not match, and has the answer. It shows no key, wherever it was put.
func TestTheNearMissOfARequest(t *testing.T) {
	service := newConsole(t)
	for i, c := range []struct {
		path   string
		header []string
		wants  []string
	}{
		{path: "/v1/documents", wants: []string{"No operation has this path.", "Did you mean GET /get-documents?", ">404<", `&#34;code&#34;: &#34;not_found&#34;`}},
		{path: "/void-document", wants: []string{"The operation has another method.", "<dd>void document</dd>", "Allow: POST"}},
		{path: "/get-documents", header: []string{"Authorization", "Bearer " + service.APIKey},
			wants: []string{"The API key is missing or wrong.", "missing: <code>x-api-key</code>", "Authorization: (hidden)"}},
		{path: "/get-documents?apiKey=" + service.APIKey, header: []string{"Key", service.APIKey}, wants: []string{"apiKey: (hidden)", "Key: (hidden)"}},
		{path: "/get-documents?documentType=PDF&docmentId=1", wants: []string{"What was wrong", "ignored query parameter &#34;docmentId&#34;", ">200<", "documentType: PDF"}},
	} {
		call(t, service, c.path, c.header...)
		page := get(t, service, fmt.Sprintf("requests/%d", i+1))
		for _, want := range c.wants {
			require.Contains(t, page, want, c.path)
		}
		require.NotContains(t, page, service.APIKey, c.path)
	}
	for _, query := range []string{"access_token=other&page=1&author=Ann", "access_token=other&page=1&author=Ann&x=%zz"} {
		call(t, service, "/get-documents?"+query)
		requests := service.Requests()
		page := get(t, service, fmt.Sprintf("requests/%d", len(requests)))
		require.NotContains(t, page, "other")
		require.Contains(t, page, "access_token")
		require.Contains(t, page, "Ann")
	}
	call(t, service, "/get-documents?documentType=PDF")
	require.NotContains(t, get(t, service, "requests/8"), "What was wrong")
}

// A query that cannot be read is sent again as it was.
func TestAMalformedQueryIsSentAgainAsItWas(t *testing.T) {
	service := newConsole(t)
	call(t, service, "/get-documents?page=1&x=%zz")
	page := get(t, service, "requests/1")
	require.Contains(t, page, "<h3>Query</h3><pre tabindex=\"0\">page=1&amp;x=%zz</pre>")
	require.Contains(t, page, "/get-documents?page=1&amp;x=%zz")
	call(t, service, "/get-documents?page=1&x=%7A")
	require.Empty(t, service.Requests()[1].RawQuery)
	require.Contains(t, get(t, service, "requests/2"), "page: 1\nx: z")
}

// A body of which the log has a part only is not sent again.
func TestACutBodyIsNotReplayed(t *testing.T) {
	service := newConsole(t)
	for i, size := range []int{64 << 10, 64<<10 + 1} {
		for chunked := range 2 {
			var body io.Reader = strings.NewReader(strings.Repeat("x", size))
			if chunked == 1 {
				body = io.MultiReader(body)
			}
			req, err := http.NewRequest("POST", service.URL+"/void-document", body)
			require.NoError(t, err)
			req.Header = http.Header{"X-Api-Key": {service.APIKey}, "Content-Type": {"application/json"}}
			resp, err := service.HTTPClient().Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			page := get(t, service, fmt.Sprintf("requests/%d", 2*i+chunked+1))
			require.Equal(t, i > 0, strings.Contains(page, "The log cannot send it again"), "%d %d", size, chunked)
			require.Equal(t, i == 0, strings.Contains(page, "curl -X"))
			if i == 1 {
				require.Contains(t, page, "The log has the first 65536 bytes of 65537 that were announced or read.")
			}
		}
	}
}
