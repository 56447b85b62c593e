package endtoend_test

import (
	"bytes"
	"cmp"
	"database/sql"
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
	require.ErrorContains(t, err, fmt.Sprintf("in use by another process, process %d", first.process.Pid))
	require.ErrorContains(t, err, "set --data or $SIGNFORMS_SANDBOX_DATA")
	require.NoError(t, os.Remove(data+".lock"))
	_, err = command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	require.ErrorContains(t, err, "in use by another process, perhaps by another name")
	require.NoError(t, first.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	first.kill(t)
	start(t, "--data", data) // a killed program leaves no lock
}

// A file that is moved away from a running program takes no further change, and /readyz says so. Nothing acknowledged is lost: a second
// program may open the file, by its new name, when the first one has ended.
func TestFileMovedWhileInUse(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	moved := data + ".moved"
	require.NoError(t, os.Rename(data, moved))
	_, err := command(t, nil, "ready", "--url", s.Listening)
	require.ErrorContains(t, err, "moved, removed or replaced")
	var refused *wire.Error
	require.ErrorAs(t, s.client.Post(t.Context(), "/documents", lease("Lost"), nil), &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	_, err = command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", moved)
	require.ErrorContains(t, err, "in use by another process")
	s.stop(t)
	require.Equal(t, 1, documents(t, start(t, "--data", moved)))
}

// Commit a7e257f wrote the file, with the key that seals PDFs in a file beside it.
func TestFileOfAnOlderVersion(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	var key []byte
	for _, suffix := range []string{"", ".seal.pem"} {
		var err error
		key, err = os.ReadFile(filepath.Join("testdata", "a7e257f.db"+suffix))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(data+suffix, key, 0o600))
	}
	// That version could add keys, and empty workspaces.
	edit(t, data, `insert into api_key values ('k1', '{"v":1,"at":1795357930922,"d":{"APIKey":"added","WorkspaceID":"e2ce3ffd-97c3-4607-ae29-45b744403546"}}')`)
	edit(t, data, `insert into workspace values ('11111111-97c3-4607-ae29-45b744403546', '{"v":1,"at":1795357930922,"d":{"ID":"11111111-97c3-4607-ae29-45b744403546","OwnerID":"o"}}')`)
	edit(t, data, `insert into api_key values ('k2', '{"v":1,"at":1795357930922,"d":{"APIKey":"other","WorkspaceID":"11111111-97c3-4607-ae29-45b744403546"}}')`)
	for range 2 {
		s := start(t, "--data", data)
		for key, documents := range map[string]int{"": 2, "added": 2, "other": 0} {
			with := *s
			with.APIKey, with.WorkspaceID = cmp.Or(key, s.APIKey), ""
			var list struct{ Documents []any }
			require.Equal(t, http.StatusOK, with.call(t, "GET", "/get-documents", nil, &list), key)
			require.Len(t, list.Documents, documents, key)
		}
		var list wire.Page[wire.DocumentRecord]
		require.NoError(t, s.client.Get(t.Context(), "/documents", url.Values{"status": {"SIGNED"}}, &list))
		require.Len(t, list.Items, 1)
		require.Equal(t, http.StatusOK, s.call(t, "GET", "/finished/"+list.Items[0].ID+".pdf", nil, nil))
		s.stop(t)
		require.NoFileExists(t, data+".seal.pem")
		edit(t, data, "update _meta set value = value where name = 'sealing_key' and value = '"+string(key)+"'")
	}
}

// A damaged record is refused like a damaged file: the error says what to do, and the file stays unchanged.
func TestRecordsThatCannotBeRead(t *testing.T) {
	for change, want := range map[string]string{
		`replace(data, '"v":1', '"v":99')`: "this version of the program knows up to 1",
		`substr(data, 1, 50)`:              "put a copy of it back, or move it away",
	} {
		data := filepath.Join(t.TempDir(), "sandbox.db")
		s := start(t, "--data", data)
		require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), nil))
		s.stop(t)
		edit(t, data, "update document set data = "+change)
		resum(t, data)
		before, err := os.ReadFile(data)
		require.NoError(t, err)
		_, err = command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
		require.ErrorContains(t, err, "exit status 1")
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, data)
		after, err := os.ReadFile(data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after), "the file has changed")
	}
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

// resum gives all records the checksums with which a program would have saved them.
func resum(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("sqlite", data)
	require.NoError(t, err)
	defer db.Close()
	total := "0"
	for _, kind := range []string{"api_key", "audit", "document", "message", "service", "workspace"} {
		_, err := db.ExecContext(t.Context(), fmt.Sprintf(`update %[1]s set sum = record_sum('%[1]s', id, data)`, kind))
		require.NoError(t, err)
		total += fmt.Sprintf(" + (select coalesce(sum(sum), 0) from %s)", kind)
	}
	edit(t, data, "update _saved set sums = "+total)
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
	edit(t, data, `update service set data = replace(data, '"Offset":86400000000000', '"Offset":0')`)
	resum(t, data)

	s = start(t, "--data", data)
	require.NoError(t, s.client.Get(t.Context(), "/clock", nil, &after))
	require.False(t, after.Now.Before(before.Now), "%v is before %v", after.Now, before.Now)
	var made wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Later"), &made))
	var d wire.DocumentRecord
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
