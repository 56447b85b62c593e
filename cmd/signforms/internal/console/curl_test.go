package console_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
)

// textOf returns what the first element shows that begins with start.
func textOf(t *testing.T, page, start string) string {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(start) + `([^<]*)<`).FindStringSubmatch(page)
	require.NotNil(t, found, "%s in %s", start, page)
	return html.UnescapeString(found[1])
}

func get(t *testing.T, service *servicetest.Server, path string) string {
	t.Helper()
	resp, err := service.HTTPClient().Get(service.URL + "/_/" + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(page)
}

// The command of each request is run by shells. It sends the same request again, and runs nothing of what the request holds.
func TestARequestIsReplayedByCurl(t *testing.T) {
	shells := []string{"sh", "bash"}
	for _, program := range append(shells, "curl") {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	folder := t.TempDir()
	harm := "touch " + filepath.Join(folder, "harm")
	for _, c := range []struct {
		name, method, path, body string
		header                   [2]string
	}{
		{name: "query", method: "GET", path: "/get-documents?query=" + "%27%3B" + "x%20%26%0a&documentType=PDF"},
		{name: "head", method: "HEAD", path: "/get-documents?documentType=PDF"},
		{name: "no such path", method: "POST", path: "/it's/../$(" + strings.ReplaceAll(harm, " ", "%20") + ")/%60[1-3]%7Ba,b%7D"},
		{name: "method", method: "`'$!", path: "/send-reminder"},
		{name: "quotes", method: "POST", path: "/void-document", body: `{"documentId":"'; ` + harm + `; echo '","reason":"` + "`" + harm + "`" + `$(` + harm + `) \\ \" !! %s"}`},
		{name: "at", method: "POST", path: "/void-document", body: "@/etc/passwd"},
		{name: "line breaks", method: "POST", path: "/void-document", body: "{\n  \"documentId\": \"x\"\n}\n\n"},
		{name: "option", method: "POST", path: "/void-document", body: "-n"},
		{name: "header", method: "GET", path: "/get-documents", header: [2]string{"X-Odd", "$SIGNFORMS_API_KEY$(" + harm + ")'`" + harm + "`"}},
		{name: "empty header", method: "GET", path: "/get-documents", header: [2]string{"X-Odd", ""}},
		{name: "header name", method: "GET", path: "/get-documents", header: [2]string{"`'$x", "y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := newConsole(t)
			require.False(t, strings.ContainsAny(service.APIKey, "'\\"))
			req, err := http.NewRequest(c.method, service.URL, strings.NewReader(c.body))
			require.NoError(t, err)
			req.URL.Opaque = strings.TrimPrefix(service.URL, "http:") + c.path
			req.Header.Set("X-Api-Key", service.APIKey)
			req.Header.Set("Content-Type", "application/json")
			if c.header[0] != "" {
				req.Header[c.header[0]] = []string{c.header[1]}
			}
			resp, err := service.HTTPClient().Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			first := service.Requests()[0]
			page := get(t, service, "requests/1")
			require.NotContains(t, page, service.APIKey)
			command := textOf(t, page, `<div class="copyable"><pre tabindex="0">`)
			for i, shell := range shells {
				cmd := exec.CommandContext(t.Context(), shell, "-c", command)
				cmd.Dir, cmd.Env = folder, append(os.Environ(), "SIGNFORMS_API_KEY="+service.APIKey, "no_proxy=*")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s\n%s", command, out)
				again := service.Requests()[i+1]
				require.Equal(t, first.StatusCode, again.StatusCode, "%s\n%s", command, out)
				require.Equal(t, []any{first.Method, first.Path, first.Query, string(first.Body), first.Rule, first.Message},
					[]any{again.Method, again.Path, again.Query, string(again.Body), again.Rule, again.Message}, "%s", command)
				for _, name := range []string{"X-Api-Key", "Content-Type", "X-Odd"} {
					require.Equal(t, first.Header.Values(name), again.Header.Values(name), "%s: %s", name, command)
				}
			}
			require.NoFileExists(t, filepath.Join(folder, "harm"))
		})
	}
}

// A terminal obeys control characters while a text is pasted, even inside quotes: there is no command for a request with any.
func TestCommandsHoldNoControlCharacters(t *testing.T) {
	service := newConsole(t)
	for i, body := range []string{"\x15", "\x1b[201~", "\u009b", "\r", "\xff", "\x00", "\u202e", "{}\n"} {
		req, err := http.NewRequest("POST", service.URL+"/void-document", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Api-Key", service.APIKey)
		req.Header.Set("Content-Type", "application/json")
		resp, err := service.HTTPClient().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		page := get(t, service, fmt.Sprintf("requests/%d", i+1))
		require.Equal(t, body == "{}\n", strings.Contains(page, "curl -X"), "%q", body)
		require.Equal(t, body != "{}\n", strings.Contains(page, "There is no command for it"), "%q", body)
	}
}
