package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
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
			require.Equal(t, tc.status, record.StatusCode)
			require.Equal(t, tc.rule, record.Rule)
			require.Equal(t, tc.code, record.Code)
		})
	}
}

func TestRefusal_access(t *testing.T) {
	const forbidden = "forbidden"
	requireRefusals(t, []refusal{
		{name: "no key", from: "list_documents", change: func(r *request) { delete(r.Header, "x-api-key") }, status: 403, code: forbidden,
			text: "The header x-api-key is missing", rule: "api key"},
		{name: "wrong key", from: "void_document", change: header("x-api-key", "Example-api-key"), status: 403, code: forbidden,
			text: "The API key is not valid", rule: "api key"},
		{name: "other workspace", from: "send_template", change: header("workspaceid", "b0fdb7c2-0000-4000-8000-000000000000"), status: 403, code: forbidden,
			text: "The header workspaceid names another workspace than that of the API key", rule: "workspace"},
		{name: "no key before the body", from: "send_form", change: func(r *request) { delete(r.Header, "x-api-key"); r.Body = json.RawMessage("{") }, status: 403, code: forbidden,
			text: "The header x-api-key is missing", rule: "api key"},
	})
	w := load(t, "get_document").with(func(r *request) { delete(r.Header, "workspaceid") }).send(newServer(t, nil))
	require.Equal(t, http.StatusOK, w.Code, "the header workspaceid is optional")
}

func TestRefusal_hintForPathsAndMethods(t *testing.T) {
	path := func(p string) func(*request) { return func(r *request) { r.Path = p } }
	const missing = "not_found"
	requireRefusals(t, []refusal{
		{name: "plural", from: "list_respondents", change: path("/get-template-respondents"), status: 404, code: missing,
			text: "No such path. Did you mean GET /get-template-respondent?", rule: "path"},
		{name: "version", from: "list_documents", change: path("/v1/get-documents"), status: 404, code: missing,
			text: "No such path. Did you mean GET /get-documents?", rule: "path"},
		{name: "slash", from: "void_document", change: path("/void-document/"), status: 404, code: missing,
			text: "No such path. Did you mean POST /void-document?", rule: "path"},
		{name: "case", from: "send_reminder", change: path("/SEND-REMINDER"), status: 404, code: missing,
			text: "No such path. Did you mean POST /send-reminder?", rule: "path"},
		{name: "long prefix", from: "list_documents", change: path("/prod/eu/v2/service/get-document"), status: 404, code: missing,
			text: "No such path. Did you mean GET /get-documents?", rule: "path"},
		{name: "shouted", from: "send_form", change: path("/V2/GET-FORM-RESPONSE"), status: 404, code: missing,
			text: "No such path. Did you mean GET /get-form-responses?", rule: "path"},
		{name: "other word", from: "send_form", change: path("/form-responses"), status: 404, code: missing,
			text: "No such path. Did you mean GET /get-form-responses?", rule: "path"},
	})
	srv := newServer(t, nil)
	for _, row := range []struct{ path, want string }{
		{path: "/get-documents", want: "GET"}, {path: "/get-template-respondent", want: "GET"}, {path: "/get-form-responses", want: "GET"},
		{path: "/void-document", want: "POST"}, {path: "/send-reminder", want: "POST"}, {path: "/pdf-template-lambda", want: "POST"},
	} {
		t.Run(row.path, func(t *testing.T) {
			for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
				t.Run(method, func(t *testing.T) {
					w := httptest.NewRecorder()
					srv.ServeHTTP(w, httptest.NewRequest(method, row.path, nil))
					if method == row.want || method == "HEAD" && row.want == "GET" {
						require.Equal(t, http.StatusForbidden, w.Code)
						return
					}
					require.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s %s", method, row.path)
					require.Equal(t, row.want, w.Header().Get("Allow"))
					require.JSONEq(t, `{"message":"Method \"`+method+`\" is not allowed here: use `+row.want+`","code":"method_not_allowed"}`, w.Body.String())
				})
			}
		})
	}
}

func TestRefusal_body(t *testing.T) {
	const invalid = "invalid_input"
	requireRefusals(t, []refusal{
		{name: "no media type", from: "void_document", change: func(r *request) { delete(r.Header, "Content-Type") }, status: 415, code: "unsupported_media_type",
			text: "The body must be application/json, but there is no Content-Type", rule: "media type"},
		{name: "form", from: "send_form", change: header("Content-Type", "application/x-www-form-urlencoded"), status: 415, code: "unsupported_media_type",
			text: `The body must be application/json, not "application/x-www-form-urlencoded"`, rule: "media type"},
		{name: "empty", from: "send_template", change: raw(""), status: 400, code: invalid,
			text: "The body is empty: it must be a JSON object", rule: "input"},
		{name: "cut", from: "send_template", change: raw(`{"signingType":`), status: 400, code: invalid,
			text: "The body is not JSON: it ends too early", rule: "input"},
		{name: "syntax", from: "send_reminder", change: raw(`{"a":1,}`), status: 400, code: invalid,
			text: "The body is not JSON: there is a mistake at byte 8", rule: "input"},
		{name: "array", from: "send_template", change: raw(`[{}]`), status: 400, code: invalid,
			text: "The body must be a JSON object, but is of type array", rule: "input"},
		{name: "null", from: "send_template", change: raw(`null`), status: 400, code: invalid,
			text: "The body is null: it must be a JSON object", rule: "input"},
		{name: "more", from: "void_document", change: raw(`{} {}`), status: 400, code: invalid,
			text: "The body has something after its JSON object", rule: "input"},
		{name: "too large", from: "send_template", change: raw(strings.Repeat("A", api.MaxBody+1)), status: 413, code: "too_large",
			text: "The body is larger than 10 MiB", rule: "size"},
	})
	largest := strings.Repeat("A", api.MaxBody)
	srv := newServer(t, nil)
	w := load(t, "send_template").with(raw(largest)).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code, "10 MiB are read, and what is in them is judged")
	require.Len(t, srv.last().Body, 64<<10, "the record holds the beginning")
	w = load(t, "void_document").with(header("Content-Type", "application/json; charset=utf-8")).send(newServer(t, nil))
	require.Equal(t, http.StatusOK, w.Code)
}

func TestRefusal_missingRecords(t *testing.T) {
	const missing, unknownUUID, unknownObjectID = "not_found", "00000000-0000-4000-8000-000000000000", "000000000000000000000000"
	requireRefusals(t, []refusal{
		{name: "void", from: "void_document", change: both("documentId", unknownUUID), status: 404, code: missing,
			text: "No such document", rule: "exists"},
		{name: "void a template", from: "void_document", change: both("documentId", template), status: 404, code: missing,
			text: "No such document: it is a template's, and sending it makes documents: name one by its createdDocumentId", rule: "exists"},
		{name: "void of another template", from: "void_template_document", change: both("documentId", unusedTemplate), status: 404,
			code: missing, text: "No such document: it is of another template", rule: "exists"},
		{name: "remind", from: "send_reminder_template_document", change: both("responseId", unknownObjectID), status: 404,
			code: missing, text: "No such document", rule: "exists"},
		{name: "send template", from: "send_template", change: body("documentId", form), status: 404, code: missing,
			text: "No such template: it is the id of a form", rule: "exists"},
		{name: "send form", from: "send_form", change: body("documentId", template), status: 404, code: missing,
			text: "No such form: it is the id of a template", rule: "exists"},
		{name: "send a form of any shape", from: "send_form", change: body("documentId", "form 1"), status: 404, code: missing,
			text: "No such form", rule: "exists"},
		{name: "respondents", from: "list_respondents", change: query("templateId", unknownUUID), status: 404, code: missing,
			text: "No such template", rule: "exists"},
		{name: "respondent", from: "get_respondent", change: query("respondentDocumentId", unknownObjectID), status: 404, code: missing,
			text: "No such document", rule: "exists"},
		{name: "respondent of another", from: "get_respondent_both", change: query("templateId", unusedTemplate), status: 404,
			code: missing, text: "No such document: it is of another template", rule: "exists"},
		{name: "responses", from: "list_responses", change: query("formId", "no form"), status: 404, code: missing,
			text: "No such form", rule: "exists"},
		{name: "response", from: "get_response", change: query("responseId", unknownUUID), status: 404, code: missing,
			text: "No such response", rule: "exists"},
		{name: "id with a letter that no UUID has", from: "void_document", change: both("documentId", "g0000000-0000-4000-8000-000000000000"),
			status: 404, code: missing, text: "No such document", rule: "exists"},
		{name: "response id with a letter that no UUID has", from: "get_response", change: query("responseId", "g0000000-0000-4000-8000-000000000000"),
			status: 404, code: missing, text: "No such response", rule: "exists"},
		{name: "below another prefix", from: "void_document", change: func(r *request) {
			r.Path = "/signature" + r.Path
			both("documentId", unknownUUID)(r)
		}, status: 404, code: missing, text: "No such document", rule: "exists"},
		{name: "response id of a document", from: "get_response", change: query("responseId", created), status: 404, code: missing,
			text: "No such response: it is the id of a document from a template", rule: "exists"},
	})
}

func TestRefusal_byStatus(t *testing.T) {
	var refusals []refusal
	for id, status := range map[string]string{completed: "SIGNED", paid: "PAID", declined: "DECLINED", expired: "EXPIRED", deleted: "DELETED"} {
		refusals = append(refusals, refusal{name: "void " + status, from: "void_document", change: both("documentId", id), status: 409, code: "invalid_status",
			text: "A document that is " + status + " cannot be voided", rule: "status"})
	}
	for id, status := range map[string]string{completed: "SIGNED", voided: "VOID", expired: "EXPIRED", declined: "DECLINED", deleted: "DELETED"} {
		refusals = append(refusals, refusal{name: "remind " + status, from: "send_reminder", change: both("documentId", id), status: 409, code: "invalid_status",
			text: "A document that is " + status + " cannot be reminded", rule: "status"})
	}
	refusals = append(refusals, refusal{name: "void a template's document", from: "void_template_document", change: both("responseId", createdEarlier), status: 409,
		code: "invalid_status", text: "A document that is SIGNED cannot be voided", rule: "status"})
	requireRefusals(t, refusals)

	for _, id := range []string{inProgress, voided, draft} {
		t.Run(id, func(t *testing.T) {
			w := load(t, "void_document").with(both("documentId", id)).send(newServer(t, nil))
			require.Equal(t, http.StatusOK, w.Code, "void %s", id)
		})
	}
	for _, id := range []string{inProgress, paid, draft} {
		t.Run(id, func(t *testing.T) {
			w := load(t, "send_reminder").with(both("documentId", id)).send(newServer(t, nil))
			require.Equal(t, http.StatusOK, w.Code, "remind %s", id)
		})
	}
}
