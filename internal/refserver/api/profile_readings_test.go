package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

// TestProfile_readings sends one request to a service with a reading and to one without it: the first answers as the reading
// says, the second otherwise.
func TestProfile_readings(t *testing.T) {
	list := func(pairs ...string) func(*request) {
		return func(r *request) {
			r.Query = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				r.Query[pairs[i]] = pairs[i+1]
			}
		}
	}
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
		{name: "oldest first", profile: api.Profile{OldestFirst: true}, from: "list_documents", change: list("limit", "2"), status: 200,
			want: "14e5 5369 of 8"},
		{name: "key status", profile: api.Profile{KeyStatus: 401}, from: "list_documents", change: header("x-api-key", "wrong"),
			status: 401, want: "The API key is not valid"},
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

func TestProfile_errorLayouts(t *testing.T) {
	for _, row := range []struct {
		layout api.ErrorLayout
		want   string
	}{
		{layout: api.LayoutMessage, want: `{"message":"page must be at least 1","code":"invalid_input"}`},
		{layout: api.LayoutError, want: `{"error":"page must be at least 1"}`},
		{layout: api.LayoutDataMessage, want: `{"data":{"message":"page must be at least 1","code":"invalid_input"}}`},
		{layout: api.LayoutDataError, want: `{"data":{"error":"page must be at least 1"}}`},
	} {
		t.Run(fmt.Sprint(row.layout), func(t *testing.T) {
			w := load(t, "list_documents").with(query("page", "0")).send(newServer(t, withProfile(api.Profile{ErrorLayout: row.layout})))
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.Equal(t, row.want, w.Body.String())
		})
	}
}
