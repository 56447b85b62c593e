package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// hasty does not wait between the requests of probe.
var hasty = replaced{sleep: func(context.Context, time.Duration) error { return nil }}

// testService is a reference service with some records. The environment of the test names it.
type testService struct {
	*signformstest.Server
	lease, notice, old   string // PDF documents: Ann has signed and Ben has not; pending; signed
	offer, survey        string // a template, a form
	sent, response       string // a document made from the template, a response to the form
	state                string // the folder for files that are kept between runs
	names                []string
	requestsBefore, mail int
}

// newService starts a service with records in it. Its clock stands still.
func newService(t *testing.T, o *signformstest.Options) *testService {
	t.Helper()
	if o == nil {
		o = &signformstest.Options{}
	}
	o.Seed, o.StartTime = cmp.Or(o.Seed, 7), time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	s := &testService{Server: signformstest.NewServer(t, o), state: filepath.Join(t.TempDir(), "state")}
	s.use(t)
	ann, ben := signformstest.Signer{Name: "Ann", Email: "ann@example.com"}, signformstest.Signer{Name: "Ben", Email: "ben@example.com"}
	s.old = s.AddDocument(signformstest.Document{Name: "Old lease", Signers: []signformstest.Signer{ann}})
	require.NoError(t, s.Signer(s.old, "ann@example.com").Sign())
	s.Advance(time.Hour)
	s.lease = s.AddDocument(signformstest.Document{Name: "Lease, flat 7", Signers: []signformstest.Signer{ann, ben}})
	require.NoError(t, s.Signer(s.lease, "ann@example.com").Sign())
	s.Advance(time.Hour)
	s.notice = s.AddDocument(signformstest.Document{Name: "Notice\x1b[31m\tred", Signers: []signformstest.Signer{ben}})
	s.offer = s.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer", Colour: "blue"}, {Title: "Seller"}}, Variables: []string{"[price]"}})
	result, err := s.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: s.offer, Receivers: []signforms.Receiver{
		{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}, {Name: "Ben", Email: "ben@example.com", RoleTitle: "Seller"}}})
	require.NoError(t, err)
	s.sent = result.DocumentID
	s.survey = s.AddForm(signformstest.Form{Title: "Survey", Questions: []signformstest.Question{{Question: "How was it?"}, {Question: "Why?"}}})
	s.response, err = s.SubmitForm(s.survey, signformstest.Submission{RespondentEmail: "cem@example.com", Answers: map[string]string{"How was it?": "=good, \"very\""}})
	require.NoError(t, err)
	s.names = []string{s.old, "OLD", s.lease, "LEASE", s.notice, "NOTICE", s.offer, "OFFER", s.sent, "SENT", s.survey, "SURVEY", s.response, "RESPONSE",
		s.URL, "URL", s.state, "STATE"}
	s.requestsBefore, s.mail = len(s.Requests()), len(s.Messages())
	return s
}

// use sets the environment to the service's address and keys.
func (s *testService) use(t *testing.T) {
	t.Helper()
	t.Setenv("SIGNFORMS_BASE_URL", s.URL)
	t.Setenv("SIGNFORMS_API_KEY", s.APIKey)
	t.Setenv("SIGNFORMS_WORKSPACE_ID", s.WorkspaceID)
	t.Setenv("SIGNFORMS_API_KEY_FILE", "")
	t.Setenv("SIGNFORMS_LIMIT_STORE", "")
	t.Setenv("XDG_STATE_HOME", s.state)
}

var (
	someUUID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	someObjectID = regexp.MustCompile(`\b[0-9a-f]{24}\b`)
)

// named replaces ids by names.
func (s *testService) named(text string) string {
	text = strings.NewReplacer(s.names...).Replace(text)
	return someObjectID.ReplaceAllString(someUUID.ReplaceAllString(text, "UUID"), "OBJECTID")
}

// ids replaces names by ids.
func (s *testService) ids(args string) []string {
	var pairs []string
	for i := 0; i < len(s.names); i += 2 {
		pairs = append(pairs, s.names[i+1], s.names[i])
	}
	return strings.Fields(strings.NewReplacer(pairs...).Replace(args))
}

// run runs a command line in which names stand for ids. It replaces ids by names in the output.
func (s *testService) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var all []string
	for _, a := range args {
		all = append(all, s.ids(a)...)
	}
	stdout, stderr, code = execute(t, all...)
	return s.named(stdout), s.named(stderr), code
}

// asked returns the methods and paths of the requests since newService.
func (s *testService) asked() (all []string) {
	for _, r := range s.Requests()[s.requestsBefore:] {
		all = append(all, r.Method+" "+r.Path)
	}
	return all
}

// reminded returns how many reminders were mailed.
func (s *testService) reminded() (n int) {
	for _, m := range s.Messages() {
		if m.Kind == "reminder" {
			n++
		}
	}
	return n
}

// altered sets the environment to a proxy in front of the service, which changes the answers to these requests.
func altered(t *testing.T, s *testService, concerns func(*http.Request) bool, change func(body string) string) {
	t.Helper()
	target, err := url.Parse(s.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ModifyResponse: func(res *http.Response) error {
		if !concerns(res.Request) {
			return nil
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		text := change(string(body))
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
		res.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return nil
	}}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
}

// ofDocuments is whether a request lists PDF documents.
func ofDocuments(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/get-documents") && r.URL.Query().Get("documentType") != "PDF_TEMPLATE"
}
