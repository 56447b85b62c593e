package control_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// The description lists the routes and nothing else.
func TestDescriptionHasEveryRoute(t *testing.T) {
	var described []string
	for path, item := range description(t).Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	patterns := control.Patterns()
	slices.Sort(described)
	slices.Sort(patterns)
	require.Equal(t, patterns, described)
}

func newAPI(t *testing.T) (*servicetest.Server, *httptest.Server) {
	t.Helper()
	server := servicetest.Start(t, nil)
	return server, newAPIOf(t, server)
}

func TestImpossibleRequestsAreRefused(t *testing.T) {
	_, api := newAPI(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"GET", "/nowhere", "", 404, "not_found", "docs/control.yaml"},
		{"GET", "/templates/" + strings.Repeat("x", 1000), "", 404, "not_found", `there is no template "` + strings.Repeat("x", 64) + `"`},
		{"PUT", "/templates", "", 405, "method", "GET, POST"},
		{"POST", "/webhooks/x/test", "", 404, "not_found", "x"},
		{"DELETE", "/faults/x", "", 404, "not_found", "x"},
		{"POST", "/documents/x/sign", `{"signer":"ann@example.com"}`, 404, "not_found", "x"},
		{"POST", "/documents/x/sign", `{}`, 422, "input", "signer is missing"},
		{"GET", "/templates?colour=red", "", 400, "input", `there is no parameter "colour"; there are limit, name, offset`},
		{"POST", "/templates?x=1", `{"name":"x"}`, 400, "input", `there is no parameter "x": this operation has none`},
		{"GET", "/templates?limit=1001", "", 400, "input", "limit"},
		{"GET", "/forms?limit=1&limit=2", "", 400, "input", "limit is given 2 times"},
		{"GET", "/forms?limit=%zz", "", 400, "input", "cannot be read"},
		{"GET", "/requests?since=yesterday", "", 400, "input", "since"},
		{"GET", "/requests?misses=perhaps", "", 400, "input", "misses"},
		{"GET", "/documents?status=nope", "", 400, "input", "it must be DRAFT, PENDING"},
		{"POST", "/templates", "{", 400, "input", "body"},
		{"POST", "/templates", `{"name":"x","colour":1}`, 400, "input", `unknown field "colour"`},
		{"POST", "/templates", `{"name":"x"} {}`, 400, "input", "goes on"},
		{"POST", "/templates", `{"name":"x"}`, 422, "input", "roles: is empty"},
		{"POST", "/templates", `{"name":"x","roles":[{"title":"Role, Fields and URL"},{"title":"Role, Fields and URL"}]}`, 422, "input",
			`roles[1].title: is "Role, Fields and URL" like that of another role`},
		{"POST", "/templates", `{"name":"x","roles":[{"title":"B"}],"pdf":"aGk="}`, 422, "input", "it does not begin with %PDF"},
		{"POST", "/documents", `{"name":"x","signers":[{"email":"a@b.c"}],"pdf":""}`, 422, "input", "it does not begin with %PDF"},
		{"POST", "/documents", `{"name":"x","signers":[{"email":"a@b.c"}],"fields":[{"name":"S","role":"a@b.c","kind":"signature","page":2,"width":0.1,"height":0.1}]}`,
			422, "input", "fields[0].page is 2: the last page of the PDF is 1"},
		{"POST", "/documents", `{"name":"` + strings.Repeat("x", 1001) + `","signers":[{"email":"a@b.c"}]}`, 422, "input", "name: has 1001 characters"},
		{"POST", "/documents", `{"name":"x","expiresFor":"soon"}`, 400, "input", "72h"},
		{"POST", "/documents", `{"name":"x","signers":[{"email":true}]}`, 400, "input", "cannot be read: signers.email must be text, not bool"},
		{"POST", "/documents", "{\"name\":\"\xff\"}", 400, "input", "the body cannot be read: it is not UTF-8"},
		{"POST", "/seed", "", 400, "input", "the body is empty: send a JSON object"},
		{"POST", "/seed", "null", 400, "input", "must be a JSON object"},
		{"POST", "/seed", `{"forms":[{"title":"A","fields":[{"question":"q"}]},{"title":"B"}]}`, 422, "input", `"path":"forms[1]"`},
		{"POST", "/seed", `{"documents":[{"name":"x","signers":[{"email":"a@b.c"}],"pdf":"aGk="}]}`, 422, "input", "it does not begin with %PDF"},
		{"POST", "/templates", `{"key":"` + strings.Repeat("x", 1001) + `","name":"x","roles":[{"title":"B"}]}`, 422, "input", "key: has 1001 characters"},
		{"POST", "/webhooks", `{"url":"http://x/","event":"nope"}`, 422, "input", "event: must be new_form_response, new_signature_completed or new_template_response"},
		{"POST", "/relays/" + strings.Repeat("x", 1001), "", 422, "input", "letters and digits, and 1000 at most"},
		{"POST", "/faults/requests", `{"status":429,"retryAfter":"1\r\nX: y"}`, 422, "input", "retryAfter: has a control character"},
		{"POST", "/faults/requests", `{"operation":"send"}`, 422, "input", "the fault does nothing"},
		{"POST", "/faults/deliveries", `{"drop":true,"webhookId":"x"}`, 422, "input", `webhookId: there is no webhook "x"`},
		{"POST", "/clock/advance", `{"by":"1000000d"}`, 400, "input", "at most 36500d"},
		{"POST", "/clock/advance", `{}`, 422, "input", `{"by":"72h"}`},
		{"POST", "/clock/settle", `{"timeout":"20m"}`, 422, "input", "10m"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, api.URL+wire.Prefix+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		status, body := exchange(t, request)
		require.Equal(t, c.status, status, "%s %s %s: %s", c.method, c.path, c.body, body)
		require.Contains(t, body, `"code":"`+c.code+`"`, "%s %s", c.method, c.path)
		require.Regexp(t, regexp.QuoteMeta(strings.ReplaceAll(c.says, `"`, `\"`))+"|"+regexp.QuoteMeta(c.says), body)
	}
}

// Without a bound, a clock that is moved past the largest time would stop without an error.
func TestClockGoesAHundredYearsAheadAndNoFurther(t *testing.T) {
	_, api := newAPI(t)
	for _, c := range []struct {
		by     string
		status int
	}{{"36000d", 200}, {"501d", 422}, {"400d", 200}} {
		request, err := http.NewRequestWithContext(t.Context(), "POST", api.URL+wire.Prefix+"/clock/advance", strings.NewReader(`{"by":"`+c.by+`"}`))
		require.NoError(t, err)
		status, body := exchange(t, request)
		require.Equal(t, c.status, status, "%s: %s", c.by, body)
	}
}

func newAPIOf(t *testing.T, server *servicetest.Server) *httptest.Server {
	t.Helper()
	api := httptest.NewServer(control.New(control.Config{
		Server: server.Server, Version: "test", Data: "memory", Workspaces: workspaces{},
		Inspect: func(_ context.Context, data []byte) (pdf.Content, error) { return pdf.Inspect(data) },
	}))
	t.Cleanup(api.Close)
	return api
}

// TestAddDocument_signedPDF: who uploads a PDF with a digital signature learns what becomes of that.
func TestAddDocument_signedPDF(t *testing.T) {
	api := newAPIOf(t, servicetest.Start(t, nil))
	plain, err := pdf.Draw("Lease", nil)
	require.NoError(t, err)
	sealer, err := pdf.NewSealer(time.Now())
	require.NoError(t, err)
	sealed, err := pdf.Finish(plain, nil, pdf.Certificate{Finished: time.Now()}, sealer)
	require.NoError(t, err)
	for path, rest := range map[string]string{"/templates": `"roles":[{"title":"B"}]`, "/documents": `"signers":[{"email":"a@b.c"}]`} {
		for want, file := range map[string][]byte{"": plain, pdf.SignedNotice: sealed} {
			body := `{"name":"x",` + rest + `,"pdf":"` + base64.StdEncoding.EncodeToString(file) + `"}`
			request, err := http.NewRequestWithContext(t.Context(), "POST", api.URL+wire.Prefix+path, strings.NewReader(body))
			require.NoError(t, err)
			status, answer := exchange(t, request)
			require.Equal(t, http.StatusCreated, status, answer)
			var made wire.ID
			require.NoError(t, json.Unmarshal([]byte(answer), &made))
			require.Equal(t, want, made.Notice, path)
		}
	}
}

// TestBusyReadersAreSaidToBeBusy: the client is to try again, and nothing is said against its file.
func TestBusyReadersAreSaidToBeBusy(t *testing.T) {
	api := httptest.NewServer(control.New(control.Config{
		Server: servicetest.Start(t, nil).Server, Version: "test", Data: "memory",
		Inspect: func(context.Context, []byte) (pdf.Content, error) { return pdf.Content{}, pdf.ErrBusy },
	}))
	defer api.Close()
	request, err := http.NewRequestWithContext(t.Context(), "POST", api.URL+wire.Prefix+"/documents",
		strings.NewReader(`{"name":"x","signers":[{"email":"a@b.c"}],"pdf":"aGk="}`))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
}

// TestAnswersHoldTheLinks: whoever calls the control API signs with the links that it answers, so they are not redacted there.
func TestAnswersHoldTheLinks(t *testing.T) {
	server := servicetest.Start(t, nil)
	id := server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	state, ok := server.FindDocument(id)
	require.True(t, ok)
	want := state.Signers[0].Link
	require.Contains(t, string(want), server.URL+"/sign/")
	client, err := wire.NewClient(newAPIOf(t, server).URL, "")
	require.NoError(t, err)
	var document refserver.DocumentState
	require.NoError(t, client.Get(t.Context(), "/documents/"+id, nil, &document))
	require.Equal(t, want, document.Signers[0].Link)
	var messages wire.Page[refserver.Message]
	require.NoError(t, client.Get(t.Context(), "/messages", nil, &messages))
	require.Equal(t, want, messages.Items[0].Link)
}

// sentForm sends a form with the client and returns the token of its link.
func sentForm(t *testing.T, server *servicetest.Server, form string) string {
	t.Helper()
	_, err := server.Client().Forms.Send(t.Context(), signforms.FormSendParams{
		FormID: form, Receivers: []signforms.Receiver{{Name: "Cy", Email: "cy@example.com"}}, Mail: signforms.Mail{Subject: "s", Message: "m"},
	})
	require.NoError(t, err)
	messages := server.Messages()
	link := string(messages[len(messages)-1].Link)
	return link[strings.LastIndex(link, "/")+1:]
}

// failing is an empty storage whose saves have this error.
type failing struct{ err error }

func (failing) Load(context.Context, func(refserver.Record) error) error { return nil }
func (f *failing) Save(context.Context, []refserver.Record) error        { return f.err }
func (failing) Blob(context.Context, string) ([]byte, error)             { return nil, errors.New("no blob") }

// An answer says that nothing was changed only when that is known.
func TestAnAnswerAboutASaveInDoubt(t *testing.T) {
	for fails, want := range map[error]string{refserver.ErrRolledBack: "nothing was changed", errors.New("no answer"): "the service has stopped"} {
		storage := &failing{}
		api := newAPIOf(t, servicetest.Start(t, &refserver.Options{Storage: storage}))
		storage.err = fails
		resp, err := http.Post(api.URL+wire.Prefix+"/api-keys", "application/json", strings.NewReader(`{}`))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode, "%s", body)
		require.Contains(t, string(body), want)
		require.Equal(t, want == "nothing was changed", strings.Contains(string(body), "nothing was changed"), "%s", body)
	}
}

// When the sandbox ends, whoever waits for its clock learns that.
func TestWaitsForTheClockEndWithTheSandbox(t *testing.T) {
	goOn := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-goOn }))
	defer hangs.Close()
	defer close(goOn)
	server := servicetest.Start(t, nil)
	server.AddWebhook(refserver.Webhook{URL: hangs.URL, Event: refserver.SignatureCompleted})
	id := server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, server.Signer(id, "ann@example.com").Sign())
	api := control.New(control.Config{Server: server.Server})
	ended, end := context.WithCancel(t.Context())
	end()
	for path, body := range map[string]string{"/clock/advance": `{"by":"1h"}`, "/clock/settle": ""} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequestWithContext(ended, "POST", wire.Prefix+path, strings.NewReader(body)))
		require.Equal(t, http.StatusServiceUnavailable, w.Code, path)
		require.Contains(t, w.Body.String(), "the sandbox stops", path)
	}
}

const anID = "5f2f1c1e-97c3-4607-ae29-45b744403546"

// workspaces makes none. Those of the program are tested in package serve.
type workspaces struct{}

func (workspaces) Create(_ context.Context, in wire.NewWorkspace) (*wire.CreatedWorkspace, error) {
	return &wire.CreatedWorkspace{
		Workspace:   wire.Workspace{ID: anID, Name: in.Name, Lifetime: in.Lifetime, CreatedAt: time.Now()},
		Credentials: wire.Credentials{WorkspaceID: anID},
		Seeded:      &wire.Seeded{Templates: []string{}, Forms: []string{}, Documents: []string{}, Webhooks: []string{}, Keys: map[string]string{}},
	}, nil
}

func (workspaces) List() []wire.Workspace { return []wire.Workspace{{ID: anID}} }

func (workspaces) Remove(context.Context, string) error { return nil }
