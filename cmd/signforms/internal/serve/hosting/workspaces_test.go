package hosting

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/guard"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// open starts the workspaces of a data file, in memory without a path, as serve --plain-pdfs does. Requests go through a client.
func open(t testing.TB, path string, network *refserver.Network) (*Workspaces, *http.Client) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := Config{
		Service: refserver.Options{Network: network, Logger: log}, Version: "test", PlainPDFs: true,
		Files: sqlitestore.Options{},
		Guard: guard.New(guard.Options{Addr: "127.0.0.1:0"}),
	}
	if path != "" {
		var err error
		c.Store, err = sqlitestore.Open(t.Context(), path, c.Files)
		require.NoError(t, err)
	}
	all, err := New(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { all.Close() })
	require.NoError(t, all.Start(t.Context()))
	all.Open()
	return all, &http.Client{Transport: asLocalhost{all.first.server.HTTPClient().Transport}}
}

// asLocalhost sends requests under the name localhost.
type asLocalhost struct{ http.RoundTripper }

func (l asLocalhost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = "localhost"
	return l.RoundTripper.RoundTrip(r)
}

func create(t testing.TB, all *Workspaces, in wire.NewWorkspace) *wire.CreatedWorkspace {
	t.Helper()
	made, err := all.Create(t.Context(), in)
	require.NoError(t, err)
	return made
}

// ask makes a request and returns the status and the body of the answer.
func ask(t testing.TB, client *http.Client, method, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// item decodes an answer of the control interface and returns its only item.
func item(t testing.TB, client *http.Client, url string) map[string]any {
	t.Helper()
	status, text := ask(t, client, "GET", url, "")
	require.Equal(t, http.StatusOK, status, text)
	var page struct{ Items []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(text), &page))
	require.Len(t, page.Items, 1, text)
	return page.Items[0]
}

var lease = &wire.Seed{
	Templates: []wire.Template{{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}}},
	Forms:     []wire.Form{{Form: refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}}}},
	Documents: []wire.Document{{Document: refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}}}},
}

// TestEverythingFindsItsWorkspace: keys, links, PDFs, relays and control paths lead to the workspace that they belong to.
func TestEverythingFindsItsWorkspace(t *testing.T) {
	all, client := open(t, "", nil)
	ann, bob := create(t, all, wire.NewWorkspace{Name: "ann", Seed: lease}), create(t, all, wire.NewWorkspace{Name: "bob", Seed: lease})
	base := ann.BaseURL

	for _, w := range []*wire.CreatedWorkspace{ann, bob} {
		id := w.Seeded.Documents[0]
		_, text := ask(t, client, "GET", base+"/get-documents", "", "x-api-key", w.APIKey, "workspaceid", w.WorkspaceID)
		require.Contains(t, text, id)
		for _, path := range []string{wire.WorkspacePrefix + w.ID, wire.WorkspacePrefix + w.Name} {
			require.Equal(t, id, item(t, client, base+path+"/api/v1/documents")["id"])
		}
		require.Equal(t, base+"/_/w/"+w.ID+"/api/v1", w.ControlURL)
		require.Equal(t, id, item(t, client, base+wire.WorkspacePrefix+strings.ToUpper(w.ID)+"/api/v1/documents")["id"])
		link := item(t, client, w.ControlURL+"/messages")["link"].(string)
		status, text := ask(t, client, "GET", link, "")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, text, "<title>Lease</title>")

		status, text = ask(t, client, "GET", base+"/documents/"+prefixOf(w.ID)+id+".pdf", "")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, text, "%PDF")
		require.Contains(t, openDocument(t, client, base, w), "/documents/"+prefixOf(w.ID)+id+".pdf")

		sdk, err := signforms.New(base, w.APIKey, &signforms.Options{WorkspaceID: w.WorkspaceID, Transport: client.Transport})
		require.NoError(t, err)
		_, err = sdk.Forms.Send(t.Context(), signforms.FormSendParams{
			FormID: w.Seeded.Forms[0], Receivers: []signforms.Receiver{{Name: "Cy", Email: "cy@example.com"}}, Mail: signforms.Mail{Subject: "s", Message: "m"},
		})
		require.NoError(t, err)
		form := item(t, client, w.ControlURL+"/messages?to=cy@example.com")["link"].(string)
		status, text = ask(t, client, "GET", form, "")
		require.Equal(t, http.StatusOK, status, form)
		require.Contains(t, text, "Intake")
	}

	status, text := ask(t, client, "GET", base+"/get-documents", "", "x-api-key", ann.APIKey, "workspaceid", bob.WorkspaceID)
	require.Equal(t, http.StatusForbidden, status, text)
	status, text = ask(t, client, "POST", base+"/void-document?documentType=PDF&documentId="+bob.Seeded.Documents[0], "", "x-api-key", ann.APIKey)
	require.Equal(t, http.StatusNotFound, status, text)
	for _, key := range []string{"", "wrong", prefixOf(ann.ID) + "wrong", "ffffffff_wrong"} {
		status, text = ask(t, client, "GET", base+"/get-documents", "", "x-api-key", key)
		require.Equal(t, http.StatusForbidden, status, text)
	}
	// The short path means the first workspace, whatever else the request holds.
	_, text = ask(t, client, "GET", base+wire.Prefix+"/documents", "", "x-api-key", ann.APIKey)
	require.JSONEq(t, `{"items":[],"total":0}`, text)
	require.Equal(t, http.StatusOK, must(ask(t, client, "GET", base+"/_/w/"+all.first.server.WorkspaceID+"/api/v1/status", "")))
	require.Equal(t, http.StatusNotFound, must(ask(t, client, "GET", base+"/_/w/nobody/api/v1/status", "")))
}

// TestConsolesOfWorkspaces: the pages of a workspace lead to its own pages, act in it alone, and to those of the others.
func TestConsolesOfWorkspaces(t *testing.T) {
	all, client := open(t, "", nil)
	base := all.first.server.URL
	_, text := ask(t, client, "GET", base+"/_/", "")
	require.NotContains(t, text, "<summary>Workspace", "there is one only")
	ann, bob := create(t, all, wire.NewWorkspace{Name: "ann", Seed: lease}), create(t, all, wire.NewWorkspace{Seed: lease})
	_, err := all.first.server.AddDocument(refserver.Document{Name: "Of the first", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, err)
	for path, names := range map[string][2]string{"/_/documents": {"Of the first", "Lease"}, "/_/w/ann/documents": {"Lease", "Of the first"}} {
		status, text := ask(t, client, "GET", base+path, "")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, text, names[0])
		require.NotContains(t, text, ">"+names[1]+"<")
		require.Contains(t, text, `<a href="/_/"`)
		require.Contains(t, text, `<a href="/_/w/`+ann.ID+`/"`)
		require.Contains(t, text, `>`+bob.ID+`</a>`)
	}
	own := "/_/w/" + ann.ID + "/"
	_, text = ask(t, client, "GET", base+own+"documents", "")
	for _, link := range []string{`<summary>Workspace: ann</summary>`, `href="` + own + `documents/` + ann.Seeded.Documents[0] + `"`, `href="` + own + `settings"`, `data-events="` + own + `api/v1/events"`, `hx-get="` + own + `documents"`} {
		require.Contains(t, text, link)
	}
	require.NotContains(t, strings.ReplaceAll(text, `href="/_/" >first`, ""), `href="/_/"`, "no other link leads to the first")
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := http.NewRequestWithContext(t.Context(), "POST", base+own+"settings/reset", strings.NewReader("sure=true"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Regexp(t, "^"+own+`settings\?at=\d+&done=reset$`, answer.Header.Get("Location"))
	_, kept := all.named("ann").server.FindDocument(ann.Seeded.Documents[0])
	require.False(t, kept)
	require.Equal(t, 1, all.named("ann").server.Counts().Documents, "that of the seed, again")
	require.Equal(t, 1, all.first.server.Counts().Documents)
	require.Equal(t, 1, all.named(bob.ID).server.Counts().Documents)
	answer, err = client.Get(base + "/_/w/ann")
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, "/_/w/ann/", answer.Header.Get("Location"))
}

func must(status int, _ string) int { return status }

// openDocument returns the list of documents, as a client gets it.
func openDocument(t *testing.T, client *http.Client, base string, w *wire.CreatedWorkspace) string {
	t.Helper()
	_, text := ask(t, client, "GET", base+"/get-documents", "", "x-api-key", w.APIKey)
	return text
}

// TestWorkspacesShareNothing: what is done in one leaves the other as it was.
func TestWorkspacesShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		all, client := open(t, "", network)
		defer all.Close()
		ann, bob := create(t, all, wire.NewWorkspace{Seed: lease}), create(t, all, wire.NewWorkspace{Seed: lease})
		hung, release := context.WithCancel(t.Context())
		defer release()
		receiver := network.Serve("hung.test", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hung.Done():
			case <-r.Context().Done():
			}
		}))
		post := func(w *wire.CreatedWorkspace, path, body string) (int, string) {
			return ask(t, client, "POST", w.ControlURL+path, body)
		}
		before := state(t, client, bob)
		require.Equal(t, http.StatusCreated, must(post(ann, "/webhooks", `{"url":"`+receiver+`","event":"new_signature_completed"}`)))
		require.Equal(t, http.StatusCreated, must(post(ann, "/faults/requests", `{"status":503}`)))
		require.Equal(t, http.StatusOK, must(post(ann, "/documents/"+ann.Seeded.Documents[0]+"/sign", `{"signer":"ann@example.com"}`)))
		require.Equal(t, http.StatusGatewayTimeout, must(post(ann, "/clock/settle", `{"timeout":"1s"}`)), "its receiver is slow")
		require.Equal(t, http.StatusOK, must(post(bob, "/clock/settle", `{"timeout":"1s"}`)))
		const relay = "abcdefghijklmnopqrst"
		require.Equal(t, http.StatusOK, must(post(ann, "/relays/"+relay, "")))
		_, hooks := ask(t, client, "GET", ann.ControlURL+"/webhooks", "")
		require.Contains(t, hooks, ann.BaseURL+control.RelayPrefix+prefixOf(ann.ID)+relay)
		_, text := ask(t, client, "POST", ann.BaseURL+control.RelayPrefix+prefixOf(ann.ID)+relay, "{}")
		require.Contains(t, text, "listen is not connected")
		_, text = ask(t, client, "POST", ann.BaseURL+control.RelayPrefix+prefixOf(bob.ID)+relay, "{}")
		require.Contains(t, text, "listen is not connected", "the other has no such relay")
		require.Equal(t, before, state(t, client, bob))
		require.Equal(t, http.StatusOK, must(ask(t, client, "GET", bob.BaseURL+"/get-documents", "", "x-api-key", bob.APIKey)), "the fault is the other's")
		release()
		for range 5 { // its limit is its own
			remind(t, client, bob, http.StatusOK)
		}
		remind(t, client, bob, http.StatusTooManyRequests)
		require.Equal(t, http.StatusOK, must(post(bob, "/clock/advance", `{"by":"2h"}`)))
		remind(t, client, bob, http.StatusOK)
		require.Contains(t, state(t, client, ann), `"ahead":"0s"`)
		require.Equal(t, http.StatusOK, must(post(ann, "/reset", "")))
		require.Contains(t, state(t, client, bob), `"ahead":"2h0m0s"`)
		remind(t, client, bob, http.StatusOK)
	})
}

func remind(t *testing.T, client *http.Client, w *wire.CreatedWorkspace, want int) {
	t.Helper()
	status, text := ask(t, client, "POST", w.BaseURL+"/send-reminder?documentType=PDF&documentId="+w.Seeded.Documents[0], "", "x-api-key", w.APIKey)
	require.Equal(t, want, status, text)
}

// state returns what a workspace holds, without its time.
func state(t *testing.T, client *http.Client, w *wire.CreatedWorkspace) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/clock", "/documents", "/deliveries", "/messages", "/requests", "/faults", "/webhooks"} {
		_, text := ask(t, client, "GET", w.ControlURL+path, "")
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &fields))
		delete(fields, "now")
		out, err := json.Marshal(fields)
		require.NoError(t, err)
		all.Write(out)
	}
	return all.String()
}

// TestRemovingAWorkspace ends its streams and requests, deletes its records, and leaves the others alone.
func TestRemovingAWorkspace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	all, client := open(t, path, nil)
	gone, stays := create(t, all, wire.NewWorkspace{Name: "gone", Seed: lease}), create(t, all, wire.NewWorkspace{Name: "stays", Seed: lease})
	_, err := all.first.server.AddDocument(lease.Documents[0].Document)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, must(ask(t, client, "POST", gone.ControlURL+"/relays/abcdefghijklmnopqrst", "")))
	removed := all.named("gone")
	var streams []*http.Response
	for _, path := range []string{"/events", "/relays/abcdefghijklmnopqrst/attempts"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", gone.ControlURL+path, nil)
		require.NoError(t, err)
		stream, err := client.Do(r)
		require.NoError(t, err)
		defer stream.Body.Close()
		streams = append(streams, stream)
	}
	status, text := ask(t, client, "DELETE", gone.BaseURL+wire.Prefix+"/workspaces/gone", "")
	require.Equal(t, http.StatusNoContent, status, text)
	for _, stream := range streams {
		_, err = io.ReadAll(stream.Body) // would wait for ever
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusForbidden, must(ask(t, client, "GET", gone.BaseURL+"/get-documents", "", "x-api-key", gone.APIKey)))
	require.Equal(t, http.StatusNotFound, must(ask(t, client, "GET", gone.ControlURL+"/status", "")))
	status, text = ask(t, client, "GET", gone.BaseURL+"/_/w/gone%3Ci%3E/documents", "")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, text, "there is no workspace &#34;gone&lt;i&gt;&#34;: it may have been removed")
	require.Contains(t, text, `<a href="/_/">`)
	require.Equal(t, http.StatusNotFound, must(ask(t, client, "DELETE", gone.BaseURL+wire.Prefix+"/workspaces/gone", "")))
	require.Equal(t, http.StatusConflict, must(ask(t, client, "DELETE", gone.BaseURL+wire.Prefix+"/workspaces/"+all.first.server.WorkspaceID, "")))
	for _, path := range []string{"/clock/advance", "/reset", "/templates"} { // that found it before it was removed
		answer, in := httptest.NewRecorder(), map[string]string{"/clock/advance": `{"by":"1h"}`, "/templates": `{"name":"Lease"}`}[path]
		removed.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "POST", wire.Prefix+path, strings.NewReader(in)))
		require.Equal(t, http.StatusNotFound, answer.Code, path)
		require.Contains(t, answer.Body.String(), "the workspace was removed", path)
	}
	for _, path := range []string{"/void-document", "/send-reminder"} { // of the service, that found it before it was removed
		answer := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", path+"?documentType=PDF&documentId="+gone.Seeded.Documents[0], nil)
		r.Header.Set("x-api-key", gone.APIKey)
		removed.ServeHTTP(answer, r)
		require.Equal(t, http.StatusServiceUnavailable, answer.Code, path)
		require.Contains(t, answer.Body.String(), "was not made", path)
	}
	require.Equal(t, stays.Seeded.Documents[0], item(t, client, stays.ControlURL+"/documents")["id"])
	create(t, all, wire.NewWorkspace{Name: "gone"}) // the name is free again

	all.Close()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+gone.ID+"*"))
	require.NoError(t, err)
	require.Empty(t, left)
	all, client = open(t, path, nil)
	require.Len(t, all.List(), 3)
	require.Equal(t, 1, all.first.server.Counts().Documents)
	require.Equal(t, stays.Seeded.Documents[0], item(t, client, all.first.server.URL+"/_/w/stays/api/v1/documents")["id"])
}

// TestWorkspacesSurviveARestart, with their names, keys, seeds and clocks. One that was not made to its end does not, nor one with a
// lifetime. What is in a file of another kind stays.
func TestWorkspacesSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	all, _ := open(t, path, nil)
	made := create(t, all, wire.NewWorkspace{Name: "ann", Seed: lease})
	create(t, all, wire.NewWorkspace{Name: "short", Lifetime: wire.Duration(time.Hour), Seed: lease})
	foreign := all.data.pathOf("22222222-97c3-4607-ae29-45b744403546")
	other, err := sqlitestore.Open(t.Context(), foreign, sqlitestore.Options{})
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, all.named("ann").server.Advance(t.Context(), 72*time.Hour))
	half := newWorkspace("11111111-97c3-4607-ae29-45b744403546", saved{CreatedAt: time.Now()})
	half.store, err = all.data.create(t.Context(), half.id)
	require.NoError(t, err)
	require.NoError(t, all.save(t.Context(), half, false))
	require.NoError(t, all.start(half, all.behind(half)))
	half.server.Close()
	require.NoError(t, half.store.Close())
	want := all.List()
	all.Close()

	all, client := open(t, path, nil)
	got := all.List()
	require.Len(t, got, 2)
	require.False(t, got[1].UsedAt.Before(want[1].UsedAt), "the start counts as a use")
	got[1].UsedAt, got[1].ControlURL, want[1].ControlURL = want[1].UsedAt, "", ""
	require.Equal(t, want[1], got[1])
	require.NoFileExists(t, all.data.pathOf(half.id))
	require.FileExists(t, foreign)
	w := all.named("ann")
	require.Greater(t, time.Until(w.server.Now()), 71*time.Hour)
	require.Equal(t, made.APIKey, w.server.APIKey)
	status, text := ask(t, client, "GET", w.server.URL+"/get-documents", "", "x-api-key", made.APIKey)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, made.Seeded.Documents[0])
	status, text = ask(t, client, "POST", w.server.URL+"/_/w/ann/api/v1/reset", "")
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, 1, w.server.Counts().Documents, "its seed again")
}

// TestFilesOfAWorkspaceInMemory: they are bounded together, and what is refused changes nothing.
func TestFilesOfAWorkspaceInMemory(t *testing.T) {
	m := &memoryFiles{}
	half := bytes.Repeat([]byte{'x'}, maxMemoryFiles/2)
	save := func(id string, data []byte) error {
		return m.Save(t.Context(), []refserver.Record{{Kind: "document", ID: id, Data: half}, {Kind: refserver.BlobKind, ID: id, Data: data}})
	}
	require.NoError(t, save("a", half))
	require.NoError(t, save("a", half), "the same again")
	require.NoError(t, save("b", half))
	err := save("c", []byte("x"))
	require.ErrorContains(t, err, "64 MiB")
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	_, err = m.Blob(t.Context(), "c")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, save("b", nil))
	require.NoError(t, save("c", []byte("x")))
	content, err := m.Blob(t.Context(), "c")
	require.NoError(t, err)
	require.Equal(t, "x", string(content))
}

// TestUnusedWorkspaceEnds: one with a lifetime ends when nothing but its own relays has called it for so long.
func TestUnusedWorkspaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		all, client := open(t, "", network)
		defer all.Close()
		short := create(t, all, wire.NewWorkspace{Name: "short", Lifetime: wire.Duration(time.Hour)})
		create(t, all, wire.NewWorkspace{Name: "stays"})
		for _, use := range []func() int{
			func() int {
				return must(ask(t, client, "GET", short.BaseURL+"/get-documents", "", "x-api-key", short.APIKey))
			},
			func() int { return must(ask(t, client, "GET", short.ControlURL+"/status", "")) },
		} {
			time.Sleep(59 * time.Minute)
			require.Equal(t, http.StatusOK, use())
		}
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", short.ControlURL+"/events", nil)
		require.NoError(t, err)
		stream, err := client.Do(r)
		require.NoError(t, err)
		go io.Copy(io.Discard, stream.Body)
		time.Sleep(3 * time.Hour)
		require.Len(t, all.List(), 3, "a stream is a use as long as it lasts")
		leave()
		stream.Body.Close()
		require.NoError(t, all.named("short").server.Advance(t.Context(), 48*time.Hour))
		time.Sleep(59 * time.Minute)
		require.Len(t, all.List(), 3, "its own clock does not count")
		ask(t, client, "POST", short.BaseURL+control.RelayPrefix+prefixOf(short.ID)+"abcdefghijklmnopqrst", "{}")
		time.Sleep(time.Minute + time.Second)
		require.Len(t, all.List(), 2, "what comes from itself is no use")
		require.Nil(t, all.named("short"))
		time.Sleep(24 * time.Hour)
		require.NotNil(t, all.named("stays"))
	})
}

// TestWorkspacesAreBounded: the number, names and lifetimes.
func TestWorkspacesAreBounded(t *testing.T) {
	all, client := open(t, "", nil)
	make := func(body string) (int, string) {
		return ask(t, client, "POST", all.first.server.URL+wire.Prefix+"/workspaces", body)
	}
	for body, want := range map[string]string{
		`{"name":"a/b"}`: "letters, digits", `{"name":"-a"}`: "letters, digits", `{"name":"` + strings.Repeat("x", 101) + `"}`: "100 at most",
		`{"name":"5f2f1c1e-97c3-4607-ae29-45b744403546"}`: "not begin like an id",
		`{"lifetime":"999ms"}`:                            "at least 1s", `{"lifetime":"-1h"}`: "at least 1s",
		`{"seed":{"documents":[{"name":"x"}]}}`: `"path":"documents[0]"`,
	} {
		status, text := make(body)
		require.Equal(t, http.StatusUnprocessableEntity, status, text)
		require.Contains(t, text, want)
	}
	require.Len(t, all.List(), 1, "a wrong seed leaves nothing behind")
	require.Equal(t, http.StatusCreated, must(make(`{"name":"ann"}`)))
	status, text := make(`{"name":"ann"}`)
	require.Equal(t, http.StatusConflict, status, text)
	for len(all.List()) <= maxWorkspaces {
		create(t, all, wire.NewWorkspace{})
	}
	status, text = make("")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, "there are 500 workspaces, which is the maximum")
	require.NoError(t, all.Remove(t.Context(), "ann"))
	require.Equal(t, http.StatusCreated, must(make("")))
}

// TestIdleWorkspaceIsSmall measures the memory of workspaces that hold nothing.
func TestIdleWorkspaceIsSmall(t *testing.T) {
	all, _ := open(t, filepath.Join(t.TempDir(), "sandbox.db"), nil)
	create(t, all, wire.NewWorkspace{})
	before, many := live(), 40
	for range many {
		create(t, all, wire.NewWorkspace{})
	}
	each := (live() - before) / int64(many)
	t.Log("bytes of each:", each)
	require.Less(t, each, int64(100<<10))
	runtime.KeepAlive(all)
}

// live returns the bytes of the heap and the stacks that are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func BenchmarkCreateWorkspace(b *testing.B) {
	for name, seed := range map[string]*wire.Seed{"empty": nil, "100documents": hundred()} {
		b.Run(name, func(b *testing.B) {
			all, _ := open(b, filepath.Join(b.TempDir(), "sandbox.db"), nil)
			for b.Loop() {
				w := create(b, all, wire.NewWorkspace{Seed: seed})
				b.StopTimer()
				require.NoError(b, all.Remove(b.Context(), w.ID))
				b.StartTimer()
			}
		})
	}
}

func hundred() *wire.Seed {
	seed := &wire.Seed{}
	for range 100 {
		seed.Documents = append(seed.Documents, lease.Documents...)
	}
	return seed
}
