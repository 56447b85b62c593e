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
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const testdata = "../../../testdata"

// server is the API with the records of testdata, and all that a test may want to look at.
type server struct {
	*api.API
	store   *store.Store
	now     time.Time
	records []api.Record
}

func newServer(t testing.TB, change func(*api.Options)) *server {
	t.Helper()
	srv := &server{now: instant("2026-11-19T08:00:00Z")}
	s, ids := seed(t, func() time.Time { return srv.now })
	srv.store = s
	o := api.Options{
		Store: s, IDs: ids, Links: signing.Links{Base: "https://files.example.com"},
		Log: func(r api.Record) { srv.records = append(srv.records, r) },
	}
	if change != nil {
		change(&o)
	}
	srv.API = api.New(o)
	return srv
}

// last is the record of the last request.
func (s *server) last() api.Record { return s.records[len(s.records)-1] }

// request is one of testdata's requests.
type request struct {
	Method, Path  string
	Query, Header map[string]string
	Body          json.RawMessage
}

func load(t testing.TB, name string) request {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testdata, "requests", name+".json"))
	require.NoError(t, err)
	var r request
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

func (r request) send(h http.Handler) *httptest.ResponseRecorder {
	query := url.Values{}
	for k, v := range r.Query {
		query.Set(k, v)
	}
	req := httptest.NewRequest(r.Method, r.Path+"?"+query.Encode(), bytes.NewReader(r.Body))
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func (r request) with(change func(*request)) request {
	change(&r)
	return r
}

func wantAnswer(t testing.TB, name string) any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testdata, "answers", name+".json"))
	require.NoError(t, err)
	return parse(t, raw)
}

func parse(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return v
}

// TestReplay_requests sends every request of testdata word for word. Where the answer depends on the records only, the whole
// of it is compared; where it has new ids in it, its fields and their types are.
func TestReplay_requests(t *testing.T) {
	for _, row := range []struct {
		name  string
		whole bool
	}{
		{name: "get_document", whole: true}, {name: "get_template", whole: true}, {name: "get_respondent", whole: true}, {name: "get_response", whole: true},
		{name: "list_respondents", whole: true},
		{name: "list_responses", whole: true}, {name: "void_document", whole: true}, {name: "void_template_document", whole: true},
		{name: "send_reminder", whole: true}, {name: "send_form", whole: true},
		{name: "list_documents", whole: false}, {name: "list_templates", whole: false}, {name: "send_template", whole: false},
		{name: "send_reminder_template_document", whole: false},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := newServer(t, nil)
			w := load(t, row.name).send(srv)
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			require.Equal(t, "application/json", w.Header().Get("Content-Type"))
			got, want := parse(t, w.Body.Bytes()), wantAnswer(t, row.name)
			if row.whole {
				require.Equal(t, want, got)
			}
			requireShape(t, "$", want, got)
			record := srv.last()
			require.Equal(t, http.StatusOK, record.StatusCode)
			require.Empty(t, record.Missing)
			require.NotContains(t, record.String(), "parameter", "every input of the request is known")
		})
	}
	for _, row := range []struct{ name, answer string }{{name: "get_respondent_both", answer: "get_respondent"},
		{name: "get_response_uuid", answer: "get_response"}} {
		t.Run(row.name, func(t *testing.T) {
			w := load(t, row.name).send(newServer(t, nil))
			require.Equal(t, wantAnswer(t, row.answer), parse(t, w.Body.Bytes()))
		})
	}
}

// TestReplay_isComplete keeps the list above complete.
func TestReplay_isComplete(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata, "requests", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 16, "a request was added to testdata: replay it too")
}

func TestReplay_lists(t *testing.T) {
	srv := newServer(t, nil)
	for _, row := range []struct {
		name  string
		query map[string]string
	}{
		{name: "list_documents", query: map[string]string{"limit": "10"}},
		{name: "list_templates", query: map[string]string{"documentType": "PDF_TEMPLATE"}},
		{name: "list_documents_empty", query: map[string]string{"documentId": "00000000-0000-4000-8000-000000000000"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := load(t, "list_documents").with(func(r *request) { r.Query = row.query }).send(srv)
			require.Equal(t, http.StatusOK, w.Code)
			want := wantAnswer(t, row.name)
			if row.name == "list_documents" { // one of its draft's signers has an empty status there: clients meet it, but nobody knows when
				documents := want.(map[string]any)["documents"].([]any)
				documents[7].(map[string]any)["signers"].([]any)[1].(map[string]any)["status"] = "DRAFT"
			}
			require.Equal(t, want, parse(t, w.Body.Bytes()))
		})
	}
}

func TestReplay_repeatedAndEmptyActs(t *testing.T) {
	srv := newServer(t, nil)
	load(t, "void_document").send(srv)
	w := load(t, "void_document").send(srv)
	require.Equal(t, wantAnswer(t, "void_document_again"), parse(t, w.Body.Bytes()))
	w = load(t, "send_reminder").with(func(r *request) { r.Query["documentId"], r.Body = paid, nil }).send(srv)
	require.Equal(t, wantAnswer(t, "send_reminder_nobody"), parse(t, w.Body.Bytes()))
}

// requireShape checks that got has the fields of want, each of the same JSON type, and no others. An element of an array is
// compared with the one in its place.
func requireShape(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		gotMap, ok := got.(map[string]any)
		require.True(t, ok, "%s is %T, want an object", at, got)
		for k, v := range want {
			require.Contains(t, gotMap, k, at)
			requireShape(t, at+"."+k, v, gotMap[k])
		}
		for k := range gotMap {
			require.Contains(t, want, k, at)
		}
	case []any:
		gotList, ok := got.([]any)
		require.True(t, ok, "%s is %T, want an array", at, got)
		for i, v := range gotList {
			if len(want) > 0 {
				requireShape(t, at+"[]", want[min(i, len(want)-1)], v)
			}
		}
	default:
		require.IsType(t, want, got, at)
	}
}
