package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

// TestProfilesDiffer sends one request to a service with a reading and to one without it: the first answers as the reading
// says, the second otherwise.
func TestProfilesDiffer(t *testing.T) {
	list := func(pairs ...string) func(*request) {
		return func(r *request) {
			r.Query = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				r.Query[pairs[i]] = pairs[i+1]
			}
		}
	}
	ann := map[string]any{"name": "Ann", "email": "ann@example.com", "roleTitle": "Client"}
	for _, c := range []struct {
		name    string
		profile api.Profile
		from    string // testdata request
		change  func(*request)
		status  int
		want    string // what digest says of the answer
	}{
		{name: "smaller maximum", profile: api.Profile{MaxLimit: 2}, from: "list_documents", change: list("limit", "3"), status: 400,
			want: "limit must be at most 2"},
		{name: "default page above the maximum", profile: api.Profile{MaxLimit: 2}, from: "list_documents", change: list(), status: 200,
			want: "602c 3f97 of 8"},
		{name: "larger maximum", profile: api.Profile{MaxLimit: 500}, from: "list_documents", change: list("limit", "500"), status: 200,
			want: "602c 3f97 f5f3 6fcd ef21 c511 5369 14e5 of 8"},
		{name: "limit cut", profile: api.Profile{CutLimit: true, MaxLimit: 2}, from: "list_documents", change: list("limit", "3"),
			status: 200, want: "602c 3f97 of 8"},
		{name: "oldest first", profile: api.Profile{OldestFirst: true}, from: "list_documents", change: list("limit", "2"), status: 200,
			want: "14e5 5369 of 8"},
		{name: "archived hidden", profile: api.Profile{HideArchived: true}, from: "list_documents", change: list("query", "lease"),
			status: 200, want: "602c of 1"},
		{name: "unknown status ignored", profile: api.Profile{UnknownStatus: api.UnknownStatusIgnored}, from: "list_documents",
			change: list("status", "NEW", "limit", "1"), status: 200, want: "602c of 8"},
		{name: "unknown status empty", profile: api.Profile{UnknownStatus: api.UnknownStatusEmpty}, from: "list_documents",
			change: list("status", "NEW"), status: 200, want: "of 0"},
		{name: "from excluded", profile: api.Profile{DateFrom: api.EndExcluded}, from: "list_documents",
			change: list("dateFrom", "2026-11-17T09:00:00.000Z"), status: 200, want: "602c of 1"},
		{name: "from the day's start", profile: api.Profile{DateFrom: api.EndAtDayStart}, from: "list_documents",
			change: list("dateFrom", "2026-11-17T23:00:00.000Z"), status: 200, want: "602c 3f97 of 2"},
		{name: "to excluded", profile: api.Profile{DateTo: api.EndExcluded}, from: "list_documents",
			change: list("dateTo", "2026-11-02T08:00:00.000Z"), status: 200, want: "14e5 of 1"},
		{name: "to the day's start", profile: api.Profile{DateTo: api.EndAtDayStart}, from: "list_documents",
			change: list("dateTo", "2026-11-02T08:00:00.000Z"), status: 200, want: "14e5 of 1"},
		{name: "to the day's end", profile: api.Profile{DateTo: api.EndAtDayEnd}, from: "list_documents",
			change: list("dateTo", "2026-11-02T07:00:00.000Z"), status: 200, want: "5369 14e5 of 2"},
		{name: "times only", profile: api.Profile{DateFormat: api.TimeOnly}, from: "list_documents",
			change: list("dateTo", "2026-11-02"), status: 400, want: "dateTo must be a time as in 2006-01-02T15:04:05.000Z"},
		{name: "dates only", profile: api.Profile{DateFormat: api.DateOnly}, from: "list_documents",
			change: list("dateTo", "2026-11-02T08:00:00.000Z"), status: 400, want: "dateTo must be a date as in 2006-01-02"},
		{name: "none is missing", profile: api.Profile{None: api.NoneIsMissing}, from: "list_documents", change: list("page", "2"),
			status: 200, want: "no list of 8"},
		{name: "none is null", profile: api.Profile{None: api.NoneIsNull}, from: "list_documents", change: list("page", "2"),
			status: 200, want: "null of 8"},
		{name: "unknown template", profile: api.Profile{UnknownIDEmpty: true}, from: "list_respondents",
			change: query("templateId", responseUUID), status: 200, want: "of 0"},
		{name: "unknown response", profile: api.Profile{UnknownIDEmpty: true}, from: "get_response",
			change: query("responseId", created), status: 200, want: "of 0"},
		{name: "any id", profile: api.Profile{AnyID: true}, from: "get_document", change: query("documentId", "x"), status: 200, want: "of 0"},
		{name: "any id to void", profile: api.Profile{AnyID: true}, from: "void_document", change: both("documentId", "x"), status: 404,
			want: "No such document"},
		{name: "bare PDF", profile: api.Profile{BarePDF: true}, from: "send_template", change: body("pdfData", "JVBERi0="), status: 200, want: ""},
		{name: "bare PDF alone", profile: api.Profile{BarePDF: true}, from: "send_template", change: body("pdfData", "data:application/pdf;base64,JVBERi0="), status: 400,
			want: "pdfData must be base64 alone, without data:application/pdf;base64,"},
		{name: "strict roles", profile: api.Profile{StrictRoles: true}, from: "send_template", change: body("receiversList", []any{ann}), status: 400,
			want: `receiversList must fill each role of the template once; "Counsel & <Witness> (2) [é 😀]" has 0 receivers`},
		{name: "key status", profile: api.Profile{KeyStatus: 401}, from: "list_documents", change: header("x-api-key", "wrong"),
			status: 401, want: "The API key is not valid"},
		{name: "ids ignored in a list", profile: api.Profile{IgnoreIDs: true}, from: "get_document",
			change: list("documentId", paid, "limit", "2"), status: 200, want: "602c 3f97 of 8"},
		{name: "ids ignored", profile: api.Profile{IgnoreIDs: true}, from: "void_document", change: both("documentId", draft),
			status: 200, want: "602c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := load(t, c.from).with(c.change).send(newServer(t, withProfile(c.profile)))
			require.Equal(t, c.status, w.Code, "%s", w.Body)
			require.Equal(t, c.want, digest(t, w))
			usual := load(t, c.from).with(c.change).send(newServer(t, nil))
			require.NotEqual(t, fmt.Sprint(c.status, c.want), fmt.Sprint(usual.Code, digest(t, usual)), "the usual reading answers otherwise")
		})
	}
}

// digest is the message of a refusal, and else the first digits of the documents an answer is about, with their total.
func digest(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := parse(t, w.Body.Bytes()).(map[string]any)
	if w.Code != http.StatusOK {
		return m["message"].(string)
	}
	var words []string
	for _, key := range []string{"documents", "respondents", "responses"} {
		list, ok := m[key]
		if ok && list == nil {
			words = append(words, "null")
		}
		for _, d := range listOf(list) {
			id, _ := d.(map[string]any)["documentId"].(string)
			words = append(words, id[:min(len(id), 4)])
		}
	}
	if id, ok := m["documentId"].(string); ok {
		words = append(words, id[:4])
	}
	if m["documents"] == nil && m["documentsCount"] != nil && len(words) == 0 {
		words = append(words, "no list")
	}
	if p, ok := m["pagination"].(map[string]any); ok {
		total := p["totalDocuments"]
		if total == nil {
			total = p["totalPages"]
		}
		words = append(words, fmt.Sprintf("of %v", total))
	}
	return strings.Join(words, " ")
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

func TestErrorLayouts(t *testing.T) {
	for layout, want := range map[api.ErrorLayout]string{
		api.LayoutMessage:     `{"message":"page must be at least 1","code":"invalid_input"}`,
		api.LayoutError:       `{"error":"page must be at least 1"}`,
		api.LayoutDataMessage: `{"data":{"message":"page must be at least 1","code":"invalid_input"}}`,
		api.LayoutDataError:   `{"data":{"error":"page must be at least 1"}}`,
		api.LayoutText:        `page must be at least 1`,
	} {
		w := load(t, "list_documents").with(query("page", "0")).send(newServer(t, withProfile(api.Profile{ErrorLayout: layout})))
		require.Equal(t, http.StatusBadRequest, w.Code)
		require.Equal(t, want, w.Body.String())
		require.Equal(t, layout == api.LayoutText, strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain"))
	}
}

// TestNoneOfEveryList asks each list for what it has none of, in both odd forms of "none".
func TestNoneOfEveryList(t *testing.T) {
	srv := newServer(t, nil)
	for name, key := range map[string]string{"list_documents": "documents", "list_templates": "documents", "list_respondents": "respondents", "list_responses": "responses"} {
		change := query("page", "9")
		require.Equal(t, "[]", rawField(t, load(t, name).with(change).send(srv), key))
		for form, want := range map[api.NoneForm]string{api.NoneIsMissing: "", api.NoneIsNull: "null"} {
			w := load(t, name).with(change).send(newServer(t, withProfile(api.Profile{None: form})))
			require.Equal(t, want, rawField(t, w, key), "%s: %s", name, w.Body)
		}
	}
}

func rawField(t *testing.T, w *httptest.ResponseRecorder, key string) string {
	t.Helper()
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &fields))
	return string(fields[key])
}
