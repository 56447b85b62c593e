package endtoend_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func lease(name string) wire.Document {
	return wire.Document{Document: refserver.Document{Name: name, Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}}}
}

func TestTwoProgramsOnOneFile(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	first := start(t, "--data", data)
	_, err := command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	require.ErrorContains(t, err, "exit status 1")
	require.ErrorContains(t, err, "in use by another process")
	require.ErrorContains(t, err, "set --data or $SIGNFORMS_SANDBOX_DATA")
	require.NoError(t, first.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	first.kill(t)
	start(t, "--data", data) // a killed program leaves no lock
}

// The next change notices that the file was moved away from a running program, which takes no further one. /readyz says so. Nothing acknowledged is lost: a second
// program may open the file, by its new name, when the first one has ended.
func TestFileMovedWhileInUse(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	moved := data + ".moved"
	require.NoError(t, os.Rename(data, moved))
	var refused *wire.Error
	for range 2 {
		require.ErrorAs(t, s.client.Post(t.Context(), "/documents", lease("Lost"), nil), &refused)
		require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	}
	for path, form := range map[string]string{"/get-documents": `{"message":"the service has stopped`, "/_/documents": "<!doctype html>"} {
		answer, err := http.Get(s.Listening + path)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, path)
		require.Contains(t, strings.ToLower(string(text)), form, path)
	}
	_, err := command(t, nil, "ready", "--url", s.Listening)
	require.ErrorContains(t, err, "moved, removed or replaced")
	_, err = command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", moved)
	require.ErrorContains(t, err, "in use by another process")
	s.stop(t)
	require.Contains(t, []int{1, 2}, documents(t, start(t, "--data", moved)), "the change that got 503 may be there")
}

// edit changes one record as another program would.
func edit(t *testing.T, data, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", data)
	require.NoError(t, err)
	defer db.Close()
	changed, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	rows, err := changed.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, rows)
}

// The sandbox's time continues where it was, although the machine's clock was set back by a day.
func TestClockSetBack(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	var before, after wire.Clock
	require.NoError(t, s.client.Post(t.Context(), "/clock/advance", wire.Advance{By: wire.Duration(24 * time.Hour)}, &before))
	s.stop(t)
	// Without the stored advance, the records look like those of a machine whose clock was a day ahead until now.
	edit(t, data, `update record set data = replace(data, '"Offset":86400000000000', '"Offset":0') where kind = 'service'`)

	s = start(t, "--data", data)
	require.NoError(t, s.client.Get(t.Context(), "/clock", nil, &after))
	require.False(t, after.Now.Before(before.Now), "%v is before %v", after.Now, before.Now)
	var made wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Later"), &made))
	var d refserver.DocumentState
	require.NoError(t, s.client.Get(t.Context(), "/documents/"+made.ID, nil, &d))
	require.False(t, d.CreatedAt.Before(before.Now))
}

// token opens the console of a sandbox behind a proxy.
const token = "of-the-test"

// A proxy serves the sandbox as https under another name, and passes that name on or not.
func TestBehindAProxy(t *testing.T) {
	for _, keepHost := range []bool{true, false} {
		t.Run(fmt.Sprintf("keeps the host: %v", keepHost), func(t *testing.T) {
			var behind *url.URL
			proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(behind)
				if keepHost {
					r.Out.Host = r.In.Host
				}
			}})
			defer proxy.Close()
			public := strings.Replace(proxy.URL, "127.0.0.1", "example.com", 1) // the test's certificate is valid for this name too
			s := start(t, "--memory", "--public-url", public, "--token", token)
			var err error
			s.client, err = wire.NewClient(s.Listening, token)
			require.NoError(t, err)
			require.Equal(t, public, s.BaseURL)
			behind = address(t, s)
			client := proxy.Client()
			client.Transport.(*http.Transport).DialContext = nil
			everyLinkIs(t, public, proxy.URL, client, s)
		})
	}
}

// address finds the address on which the program listens. The lines that it prints at the start show only the public URL.
func address(t *testing.T, s *sandbox) *url.URL {
	t.Helper()
	u, err := url.Parse(s.Listening)
	require.NoError(t, err)
	return u
}

func everyLinkIs(t *testing.T, public, proxy string, client *http.Client, s *sandbox) {
	t.Helper()
	var mu sync.Mutex
	var payloads []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		payloads = append(payloads, string(body))
	}))
	defer receiver.Close()
	call := func(method, path, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, proxy+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Host = strings.TrimPrefix(public, "https://")
		request.Header.Set("Origin", public) // as the console's page does
		request.Header.Set("x-api-key", s.APIKey)
		request.Header.Set("workspaceid", s.WorkspaceID)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Less(t, answer.StatusCode, 300, "%s %s: %s", method, path, text)
		return string(text)
	}
	api := wire.Prefix
	call("POST", api+"/seed", `{"documents":[{"key":"lease","name":"Lease","signers":[{"email":"ann@example.com"}]}],
		"webhooks":[{"url":"`+receiver.URL+`","event":"new_signature_completed"}]}`)
	list := call("GET", api+"/documents", "")
	id, _, _ := strings.Cut(strings.SplitN(list, `"id":"`, 2)[1], `"`)
	call("POST", api+"/documents/"+id+"/sign", `{"signer":"ann@example.com"}`)
	call("POST", api+"/clock/settle", "")
	mu.Lock()
	defer mu.Unlock()
	texts := append(payloads, list, call("GET", api+"/messages", ""), call("GET", "/get-documents", ""))
	require.GreaterOrEqual(t, len(texts), 4)
	for _, text := range texts {
		require.Contains(t, text, public+"/")
		require.Equal(t, strings.Count(text, "://"), strings.Count(text, public), "every link: %s", text)
	}
}
