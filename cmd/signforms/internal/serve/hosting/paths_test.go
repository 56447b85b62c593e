package hosting

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/guard"
)

// operationsOf returns method and path of every operation of docs/control.yaml.
func operationsOf(t *testing.T) (all [][2]string) {
	t.Helper()
	text, err := os.ReadFile("../../../../../docs/control.yaml")
	require.NoError(t, err)
	path := ""
	for _, m := range regexp.MustCompile(`(?m)^(?:  (/\S+)|    (get|post|delete)):$`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "" {
			path = m[1]
		} else {
			all = append(all, [2]string{strings.ToUpper(m[2]), path})
		}
	}
	require.Greater(t, len(all), 60)
	return all
}

// TestUncleanPathsStayInTheirWorkspace: a path with an empty part, "." or ".." is refused before anything is done. A redirect to the
// clean path would lead out of the workspace.
func TestUncleanPathsStayInTheirWorkspace(t *testing.T) {
	all, client := open(t, "", nil)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ann := create(t, all, wire.NewWorkspace{Name: "ann", Seed: lease})
	bob := create(t, all, wire.NewWorkspace{Name: "bob", Seed: lease})
	_, err := all.first.server.AddDocument(lease.Documents[0].Document)
	require.NoError(t, err)
	first := &wire.CreatedWorkspace{Workspace: all.List()[0]}
	before := state(t, client, first) + state(t, client, ann) + state(t, client, bob)
	unclean := func(method, path string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, all.first.server.URL+path, strings.NewReader("{}"))
		require.NoError(t, err)
		answer, err := client.Do(r)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusNotFound, answer.StatusCode, "%s %s", method, path)
		require.Empty(t, answer.Header.Get("Location"), "%s %s", method, path)
	}
	id := ann.Seeded.Documents[0]
	odd := []string{"", ".", "..", "x/..", "./.", "../..", "%2e", "%2E%2e", "x/%2e%2e", "%2F", "..%2f..", "%2e/%2e%2e/_"}
	bases := []string{wire.WorkspacePrefix + "ann", wire.WorkspacePrefix + ann.ID, wire.WorkspacePrefix + bob.ID, "/_"}
	pick := func(from []string) string { return from[rand.IntN(len(from))] }
	console := [][2]string{{"POST", "/settings/reset"}, {"POST", "/documents/new"}, {"GET", "/documents"}, {"POST", "/clock"}, {"GET", "/"}}
	for _, op := range operationsOf(t) {
		console = append(console, [2]string{op[0], "/api/v1" + op[1]})
	}
	for _, op := range console {
		for range 6 {
			parts := strings.Split(regexp.MustCompile(`{\w+}`).ReplaceAllString(op[1], id), "/")
			at := 1 + rand.IntN(len(parts)-1) // after the first slash, before the last part
			parts[at] = pick(odd) + "/" + parts[at]
			path := pick(bases) + strings.Join(parts, "/")
			if strings.Contains(op[1], "{") && rand.IntN(3) == 0 { // an empty id
				path = pick(bases) + regexp.MustCompile(`{\w+}`).ReplaceAllString(op[1], "")
				if !strings.Contains(path, "//") {
					continue
				}
			}
			unclean(op[0], path)
		}
	}
	link := strings.TrimPrefix(item(t, client, ann.ControlURL+"/messages")["link"].(string), ann.BaseURL+"/sign/")
	for _, path := range []string{"/sign//" + link, "/sign/./" + link + "/decline", "/form/../sign/" + link, "/sign/" + link + "//sign", control.RelayPrefix + "/x"} {
		unclean("POST", path)
	}
	require.Equal(t, before, state(t, client, first)+state(t, client, ann)+state(t, client, bob))
	for method, path := range map[string]string{"POST": "/_/w/ann/api/v1//reset", "DELETE": "/_/api/v1/workspaces/.."} {
		_, text := ask(t, client, method, all.first.server.URL+path, "")
		require.Contains(t, text, `"code":"not_found"`)
		require.Contains(t, text, "there is no "+path+": a path has no empty parts, and no . or .. as a part")
	}
	for _, path := range []string{"/_/api/v1/documents/..%2F..%2F..", "/_/w/ann/api/v1/documents/..%2F..%2F..%2F..", "/_/api/v1/..%2F..", "/_/api/v1", "/_/w/ann/api/v1"} {
		_, text := ask(t, client, "GET", all.first.server.URL+path, "")
		require.Contains(t, text, `"code":"not_found"`, "the control API and an id below it, whatever it leads to")
	}
	_, text := ask(t, client, "GET", all.first.server.URL+"/_/w/ann//documents", "")
	require.Contains(t, text, ` id="main">`, "a page that updates itself finds what to show")
	require.Equal(t, http.StatusOK, must(ask(t, client, "GET", all.first.server.URL+"/_/w/ann/api/v1/documents/"+id, "")))
	_, text = ask(t, client, "GET", all.first.server.URL+"/_/w/ann/api/v1/nothing?x", "")
	require.Contains(t, text, "there is no /_/w/ann/api/v1/nothing; docs")
}

// TestEveryRouteIsGuarded: no operation of the control API, page or act of the console, or page of a signer is reached with another
// host's name, and but for those of signers none without the token, or where there is none and others can reach the sandbox.
func TestEveryRouteIsGuarded(t *testing.T) {
	routes := [][2]string{{"GET", "/sign/x"}, {"POST", "/sign/x/sign"}, {"GET", "/sign/x/document.pdf"}, {"GET", "/form/x"}, {"POST", "/form/x"}}
	forSigners := len(routes)
	for _, base := range []string{"/_", wire.WorkspacePrefix + "ann"} {
		for _, op := range operationsOf(t) {
			routes = append(routes, [2]string{op[0], base + "/api/v1" + regexp.MustCompile(`{\w+}`).ReplaceAllString(op[1], "x")})
		}
		for _, page := range []string{"/", "/documents", "/documents/x", "/documents/x/finished.pdf", "/templates/new", "/settings?secret", "/nothing"} {
			routes = append(routes, [2]string{"GET", base + page}, [2]string{"POST", base + page})
		}
	}
	local := guard.Options{Addr: "127.0.0.1:0"}
	for name, c := range map[string]struct {
		options guard.Options
		host    string
		routes  [][2]string
		want    []int
	}{
		"another host":    {local, "evil.example", routes, []int{http.StatusMisdirectedRequest}},
		"without token":   {guard.Options{Addr: local.Addr, Token: "secret"}, "localhost", routes[forSigners:], []int{http.StatusUnauthorized, http.StatusSeeOther}},
		"no token set":    {guard.Options{Addr: "0.0.0.0:0"}, "localhost", routes[forSigners:], []int{http.StatusForbidden}},
		"through a proxy": {local, "localhost", routes[forSigners:], []int{http.StatusForbidden}}, // from the address of another machine
		"behind a proxy":  {guard.Options{Addr: local.Addr, PublicURL: "https://sandbox.example"}, "sandbox.example", routes[forSigners:], []int{http.StatusForbidden}},
	} {
		h := guard.New(c.options)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Error(name, r.Method, r.URL, "is reached") }))
		for _, route := range c.routes {
			r, answer := httptest.NewRequest(route[0], route[1], nil), httptest.NewRecorder()
			r.Host = c.host
			h.ServeHTTP(answer, r)
			require.Contains(t, c.want, answer.Code, "%s: %s", name, route)
		}
	}
}
