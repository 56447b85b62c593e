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
		{"smaller maximum", api.Profile{MaxLimit: 2}, "list_documents", list("limit", "3"), 400, "limit must be at most 2"},
		{"default page above the maximum", api.Profile{MaxLimit: 2}, "list_documents", list(), 200, "602c 3f97 of 8"},
		{"larger maximum", api.Profile{MaxLimit: 500}, "list_documents", list("limit", "500"), 200, "602c 3f97 f5f3 6fcd ef21 c511 5369 14e5 of 8"},
		{"limit cut", api.Profile{CutLimit: true, MaxLimit: 2}, "list_documents", list("limit", "3"), 200, "602c 3f97 of 8"},
		{"oldest first", api.Profile{OldestFirst: true}, "list_documents", list("limit", "2"), 200, "14e5 5369 of 8"},
		{"archived hidden", api.Profile{HideArchived: true}, "list_documents", list("query", "lease"), 200, "602c of 1"},
		{"unknown status ignored", api.Profile{UnknownStatus: api.UnknownStatusIgnored}, "list_documents", list("status", "NEW", "limit", "1"), 200, "602c of 8"},
		{"unknown status empty", api.Profile{UnknownStatus: api.UnknownStatusEmpty}, "list_documents", list("status", "NEW"), 200, "of 0"},
		{"from excluded", api.Profile{DateFrom: api.EndExcluded}, "list_documents", list("dateFrom", "2026-11-17T09:00:00.000Z"), 200, "602c of 1"},
		{"from the day's start", api.Profile{DateFrom: api.EndAtDayStart}, "list_documents", list("dateFrom", "2026-11-17T23:00:00.000Z"), 200, "602c 3f97 of 2"},
		{"to excluded", api.Profile{DateTo: api.EndExcluded}, "list_documents", list("dateTo", "2026-11-02T08:00:00.000Z"), 200, "14e5 of 1"},
		{"to the day's start", api.Profile{DateTo: api.EndAtDayStart}, "list_documents", list("dateTo", "2026-11-02T08:00:00.000Z"), 200, "14e5 of 1"},
		{"to the day's end", api.Profile{DateTo: api.EndAtDayEnd}, "list_documents", list("dateTo", "2026-11-02T07:00:00.000Z"), 200, "5369 14e5 of 2"},
		{"times only", api.Profile{DateFormat: api.TimeOnly}, "list_documents", list("dateTo", "2026-11-02"), 400, "dateTo must be a time as in 2006-01-02T15:04:05.000Z"},
		{"dates only", api.Profile{DateFormat: api.DateOnly}, "list_documents", list("dateTo", "2026-11-02T08:00:00.000Z"), 400, "dateTo must be a date as in 2006-01-02"},
		{"none is missing", api.Profile{None: api.NoneIsMissing}, "list_documents", list("page", "2"), 200, "no list of 8"},
		{"none is null", api.Profile{None: api.NoneIsNull}, "list_documents", list("page", "2"), 200, "null of 8"},
		{"unknown template", api.Profile{UnknownIDEmpty: true}, "list_respondents", query("templateId", responseUUID), 200, "of 0"},
		{"unknown response", api.Profile{UnknownIDEmpty: true}, "get_response", query("responseId", created), 200, "of 0"},
		{"any id", api.Profile{AnyID: true}, "get_document", query("documentId", "x"), 200, "of 0"},
		{"any id to void", api.Profile{AnyID: true}, "void_document", both("documentId", "x"), 404, "No such document"},
		{"bare PDF", api.Profile{BarePDF: true}, "send_template", body("pdfData", "JVBERi0="), 200, ""},
		{"bare PDF alone", api.Profile{BarePDF: true}, "send_template", body("pdfData", "data:application/pdf;base64,JVBERi0="), 400,
			"pdfData must be base64 alone, without data:application/pdf;base64,"},
		{"strict roles", api.Profile{StrictRoles: true}, "send_template", body("receiversList", []any{ann}), 400,
			`receiversList must fill each role of the template once; "Counsel & <Witness> (2) [é 😀]" has 0 receivers`},
		{"key status", api.Profile{KeyStatus: 401}, "list_documents", header("x-api-key", "wrong"), 401, "The API key is not valid"},
		{"ids ignored in a list", api.Profile{IgnoreIDs: true}, "get_document", list("documentId", paid, "limit", "2"), 200, "602c 3f97 of 8"},
		{"ids ignored", api.Profile{IgnoreIDs: true}, "void_document", both("documentId", draft), 200, "602c"},
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

// TestRolesOncePerReceiver shows what is accepted: roles without a receiver, roles with two, and an address twice. Each receiver is a
// signer of its own.
func TestRolesOncePerReceiver(t *testing.T) {
	receiver := func(name, email, role string) any {
		return map[string]any{"name": name, "email": email, "roleTitle": role}
	}
	const counsel = "Counsel & <Witness> (2) [é 😀]"
	for _, c := range []struct {
		name      string
		receivers []any
		noted     bool
	}{
		{"each once", []any{receiver("Ann", "ann@example.com", "Client"), receiver("Ben", "ben@example.com", counsel)}, false},
		{"one of two", []any{receiver("Ben", "ben@example.com", counsel)}, true},
		{"one twice", []any{receiver("Ann", "ann@example.com", "Client"), receiver("Cy", "cy@example.com", "Client"), receiver("Ben", "ben@example.com", counsel)}, true},
		{"one address twice", []any{receiver("Ann", "ann@example.com", "Client"), receiver("Ann", "ann@example.com", counsel)}, false},
	} {
		srv := newServer(t, nil)
		w := load(t, "send_template").with(body("receiversList", c.receivers)).send(srv)
		require.Equal(t, http.StatusOK, w.Code, "%s: %s", c.name, w.Body)
		signers := parse(t, w.Body.Bytes()).(map[string]any)["signers"].([]any)
		links := map[any]bool{}
		for _, s := range signers {
			links[s.(map[string]any)["sentUrl"]] = true
		}
		require.Len(t, links, len(c.receivers), "%s: each has a link of its own", c.name)
		require.Equal(t, c.noted, strings.Contains(srv.last().String(), "not each role of the template has one receiver"), c.name)
	}
}
