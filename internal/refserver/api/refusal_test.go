package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// refusal is one request that is refused, made from one of testdata's.
type refusal struct {
	name   string
	from   string // testdata request
	change func(*request)
	status int
	code   string
	text   string // the whole message
	rule   string // of the record
}

func query(name, value string) func(*request) {
	return func(r *request) { r.Query[name] = value }
}

func without(name string) func(*request) {
	return func(r *request) { delete(r.Query, name); r.Body = replaceIn(r.Body, name, nil) }
}

func body(name string, value any) func(*request) {
	return func(r *request) { r.Body = replaceIn(r.Body, name, value) }
}

// both sets an input in query and body, as void and reminder carry it.
func both(name string, value string) func(*request) {
	return func(r *request) { r.Query[name] = value; r.Body = replaceIn(r.Body, name, value) }
}

func header(name, value string) func(*request) {
	return func(r *request) { r.Header[name] = value }
}

func raw(text string) func(*request) { return func(r *request) { r.Body = json.RawMessage(text) } }

func replaceIn(body json.RawMessage, name string, value any) json.RawMessage {
	if body == nil {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		panic(err)
	}
	if m[name] = value; value == nil {
		delete(m, name)
	}
	out, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return out
}

func requireRefusals(t *testing.T, refusals []refusal) {
	t.Helper()
	for _, tc := range refusals {
		t.Run(tc.name, func(t *testing.T) {
			srv := newServer(t, nil)
			w := load(t, tc.from).with(tc.change).send(srv)
			require.Equal(t, tc.status, w.Code, "%s", w.Body)
			require.Equal(t, map[string]any{"message": tc.text, "code": tc.code}, parse(t, w.Body.Bytes()))
			record := srv.last()
			require.Equal(t, tc.status, record.Status)
			require.Equal(t, tc.rule, record.Rule)
			require.Equal(t, tc.code, record.Code)
		})
	}
}

func TestAccessIsRefused(t *testing.T) {
	const forbidden = "forbidden"
	requireRefusals(t, []refusal{
		{"no key", "list_documents", func(r *request) { delete(r.Header, "x-api-key") }, 403, forbidden,
			"The header x-api-key is missing", "api key"},
		{"wrong key", "void_document", header("x-api-key", "Example-api-key"), 403, forbidden, "The API key is not valid", "api key"},
		{"other workspace", "send_template", header("workspaceid", "b0fdb7c2-0000-4000-8000-000000000000"), 403, forbidden,
			"The header workspaceid names another workspace than that of the API key", "workspace"},
		{"no key before the body", "send_form", func(r *request) { delete(r.Header, "x-api-key"); r.Body = json.RawMessage("{") }, 403, forbidden,
			"The header x-api-key is missing", "api key"},
	})
	w := load(t, "get_document").with(func(r *request) { delete(r.Header, "workspaceid") }).send(newServer(t, nil))
	require.Equal(t, http.StatusOK, w.Code, "the header workspaceid is optional")
}

func TestPathAndMethodSayWhatWasMeant(t *testing.T) {
	path := func(p string) func(*request) { return func(r *request) { r.Path = p } }
	const missing = "not_found"
	requireRefusals(t, []refusal{
		{"plural", "list_respondents", path("/get-template-respondents"), 404, missing, "No such path. Did you mean GET /get-template-respondent?", "path"},
		{"version", "list_documents", path("/v1/get-documents"), 404, missing, "No such path. Did you mean GET /get-documents?", "path"},
		{"slash", "void_document", path("/void-document/"), 404, missing, "No such path. Did you mean POST /void-document?", "path"},
		{"case", "send_reminder", path("/SEND-REMINDER"), 404, missing, "No such path. Did you mean POST /send-reminder?", "path"},
		{"long prefix", "list_documents", path("/prod/eu/v2/service/get-document"), 404, missing, "No such path. Did you mean GET /get-documents?", "path"},
		{"shouted", "send_form", path("/V2/GET-FORM-RESPONSE"), 404, missing, "No such path. Did you mean GET /get-form-responses?", "path"},
		{"other word", "send_form", path("/form-responses"), 404, missing, "No such path. Did you mean GET /get-form-responses?", "path"},
	})
	srv := newServer(t, nil)
	for path, want := range map[string]string{
		"/get-documents": "GET", "/get-template-respondent": "GET", "/get-form-responses": "GET",
		"/void-document": "POST", "/send-reminder": "POST", "/pdf-template-lambda": "POST",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if method == want {
				require.Equal(t, http.StatusForbidden, w.Code)
				continue
			}
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s %s", method, path)
			require.Equal(t, want, w.Header().Get("Allow"))
			require.JSONEq(t, `{"message":"Method \"`+method+`\" is not allowed here: use `+want+`","code":"method_not_allowed"}`, w.Body.String())
		}
	}
}

func TestBodyIsRefused(t *testing.T) {
	const invalid = "invalid_input"
	requireRefusals(t, []refusal{
		{"no media type", "void_document", func(r *request) { delete(r.Header, "Content-Type") }, 415, "unsupported_media_type",
			"The body must be application/json, but there is no Content-Type", "media type"},
		{"form", "send_form", header("Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type",
			`The body must be application/json, not "application/x-www-form-urlencoded"`, "media type"},
		{"empty", "send_template", raw(""), 400, invalid, "The body is empty: it must be a JSON object", "input"},
		{"cut", "send_template", raw(`{"signingType":`), 400, invalid, "The body is not JSON: it ends too early", "input"},
		{"syntax", "send_reminder", raw(`{"a":1,}`), 400, invalid, "The body is not JSON: there is a mistake at byte 8", "input"},
		{"array", "send_template", raw(`[{}]`), 400, invalid, "The body must be a JSON object, but is of type array", "input"},
		{"null", "send_template", raw(`null`), 400, invalid, "The body is null: it must be a JSON object", "input"},
		{"more", "void_document", raw(`{} {}`), 400, invalid, "The body has something after its JSON object", "input"},
		{"too large", "send_template", raw(strings.Repeat("A", api.MaxBody+1)), 413, "too_large",
			"The body is larger than 10 MiB", "size"},
	})
	largest := strings.Repeat("A", api.MaxBody)
	srv := newServer(t, nil)
	w := load(t, "send_template").with(raw(largest)).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code, "10 MiB are read, and what is in them is judged")
	require.Len(t, srv.last().Body, 64<<10, "the record holds the beginning")
	w = load(t, "void_document").with(header("Content-Type", "application/json; charset=utf-8")).send(newServer(t, nil))
	require.Equal(t, http.StatusOK, w.Code)
}

func TestMissingRecords(t *testing.T) {
	const missing, unknownUUID, unknownObjectID = "not_found", "00000000-0000-4000-8000-000000000000", "000000000000000000000000"
	requireRefusals(t, []refusal{
		{"void", "void_document", both("documentId", unknownUUID), 404, missing, "No such document", "exists"},
		{"void a template", "void_document", both("documentId", template), 404, missing, "No such document: this is the id of a template", "exists"},
		{"void of another template", "void_template_document", both("documentId", unusedTemplate), 404, missing, "No such document: it is of another template or form", "exists"},
		{"remind", "send_reminder_template_document", both("responseId", unknownObjectID), 404, missing, "No such document", "exists"},
		{"send template", "send_template", body("documentId", form), 404, missing, "No such template: this is the id of a form", "exists"},
		{"send form", "send_form", body("documentId", template), 404, missing, "No such form: this is the id of a template", "exists"},
		{"send a form of any shape", "send_form", body("documentId", "form 1"), 404, missing, "No such form", "exists"},
		{"respondents", "list_respondents", query("templateId", unknownUUID), 404, missing, "No such template", "exists"},
		{"respondent", "get_respondent", query("respondentDocumentId", unknownObjectID), 404, missing, "No such document", "exists"},
		{"respondent of another", "get_respondent_both", query("templateId", unusedTemplate), 404, missing, "No such document: it is of another template or form", "exists"},
		{"responses", "list_responses", query("formId", "no form"), 404, missing, "No such form", "exists"},
		{"response", "get_response", query("responseId", unknownUUID), 404, missing, "No such response", "exists"},
		{"response id of a document", "get_response", query("responseId", created), 404, missing, "No such response: this is the id of a document from a template", "exists"},
	})
}

// TestOtherWorkspacesAreInvisible asks for every record with the key of a workspace that owns none of them.
func TestOtherWorkspacesAreInvisible(t *testing.T) {
	srv := newServer(t, nil)
	odd := map[string]request{
		"void a template":           load(t, "void_document").with(both("documentId", template)),
		"send a form as a template": load(t, "send_template").with(body("documentId", form)),
	}
	require.NoError(t, srv.store.Update(func(tx *store.Tx) error { tx.PutKey("other key", "other workspace"); return nil }))
	for _, name := range []string{
		"void_document", "void_template_document", "send_reminder", "send_reminder_template_document", "send_template", "send_form",
		"list_respondents", "get_respondent", "get_respondent_both", "list_responses", "get_response", "get_response_uuid",
		"void a template", "send a form as a template",
	} {
		r, isOdd := odd[name]
		if !isOdd {
			r = load(t, name)
		}
		w := r.with(func(r *request) { r.Header["x-api-key"] = "other key"; delete(r.Header, "workspaceid") }).send(srv)
		require.Equal(t, http.StatusNotFound, w.Code, name)
		require.Regexp(t, `^{"message":"No such \w+","code":"not_found"}$`, w.Body.String(), "nothing tells what has the id elsewhere")
	}
	for _, name := range []string{"get_document", "get_template"} {
		w := load(t, name).with(func(r *request) { r.Header["x-api-key"] = "other key"; delete(r.Header, "workspaceid") }).send(srv)
		require.JSONEq(t, `{"message":"Documents fetched successfully","documents":[],"documentsCount":0,"formCount":0,
			"pagination":{"currentPage":1,"totalPages":0,"totalDocuments":0}}`, w.Body.String(), name)
	}
}

func TestStatusRefuses(t *testing.T) {
	var refusals []refusal
	for id, status := range map[string]string{completed: "SIGNED", paid: "PAID", declined: "DECLINED", expired: "EXPIRED", deleted: "DELETED"} {
		refusals = append(refusals, refusal{"void " + status, "void_document", both("documentId", id), 409, "invalid_status",
			"A document that is " + status + " cannot be voided", "status"})
	}
	for id, status := range map[string]string{completed: "SIGNED", voided: "VOID", expired: "EXPIRED", declined: "DECLINED", deleted: "DELETED"} {
		refusals = append(refusals, refusal{"remind " + status, "send_reminder", both("documentId", id), 409, "invalid_status",
			"A document that is " + status + " cannot be reminded", "status"})
	}
	refusals = append(refusals, refusal{"void a template's document", "void_template_document", both("responseId", createdEarlier), 409,
		"invalid_status", "A document that is SIGNED cannot be voided", "status"})
	requireRefusals(t, refusals)

	for _, id := range []string{inProgress, voided, draft} {
		w := load(t, "void_document").with(both("documentId", id)).send(newServer(t, nil))
		require.Equal(t, http.StatusOK, w.Code, "void %s", id)
	}
	for _, id := range []string{inProgress, paid, draft} {
		w := load(t, "send_reminder").with(both("documentId", id)).send(newServer(t, nil))
		require.Equal(t, http.StatusOK, w.Code, "remind %s", id)
	}
}
