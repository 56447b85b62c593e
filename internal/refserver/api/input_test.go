package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestList_refusesInputs(t *testing.T) {
	const invalid = "invalid_input"
	one := func(name, from, field, value, text string) refusal {
		return refusal{name: name, from: from, change: query(field, value), status: 400, code: invalid, text: text, rule: "input"}
	}
	requireRefusals(t, []refusal{
		one("type", "list_documents", "documentType", "pdf", "documentType must be PDF or PDF_TEMPLATE"),
		one("status of a template", "list_templates", "status", "SIGNED", "status must not be given with documentType PDF_TEMPLATE"),
		one("status", "list_documents", "status", "signed",
			"status must be one of DRAFT, PENDING, SIGNED, PAID, DECLINED, EXPIRED, DELETED, VOID"),
		one("id", "get_document", "documentId", created, "documentId must be a UUID"),
		one("braced id", "get_document", "documentId", "{"+inProgress+"}", "documentId must be a UUID"),
		one("from", "list_documents", "dateFrom", "2026-11-1", "dateFrom must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02"),
		one("no such day", "list_documents", "dateTo", "2026-02-30", "dateTo must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02"),
		one("to", "list_documents", "dateTo", "1795168800", "dateTo must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02"),
		one("zero time", "list_documents", "dateTo", "0001-01-01T00:00:00Z", "dateTo must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02"),
		one("order of dates", "list_documents", "dateFrom", "2026-11-20T00:00:00.000Z", "dateFrom must not be after dateTo"),
		one("archive", "list_documents", "archive", "yes", "archive must be true or false"),
		one("sort", "list_documents", "sortOrder", "DESC", "sortOrder must be desc or asc"),
		one("page 0", "list_documents", "page", "0", "page must be at least 1"),
		one("page", "list_documents", "page", "one", "page must be a whole number"),
		one("limit 0", "list_documents", "limit", "0", "limit must be at least 1"),
		one("limit 101", "list_documents", "limit", "101", "limit must be at most 100"),
		one("huge page", "list_responses", "page", "99999999999999999999", "page must be a whole number"),
		{name: "two mistakes", from: "list_documents", change: func(r *request) { r.Query["page"], r.Query["archive"] = "-1", "maybe" }, status: 400, code: invalid,
			text: "page must be at least 1; archive must be true or false", rule: "input"},
		one("template id", "list_respondents", "templateId", "x", "templateId must be a UUID"),
		one("respondent id", "get_respondent", "respondentDocumentId", inProgress, "respondentDocumentId must have 24 hexadecimal digits"),
		{name: "no respondent", from: "get_respondent", change: without("respondentDocumentId"), status: 400, code: invalid,
			text: "templateId or respondentDocumentId is required", rule: "input"},
		one("id with too few digits", "get_document", "documentId", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d1", "documentId must be a UUID"),
		one("response id", "get_response", "responseId", "zdd62ad605997389b3a3dd", "responseId must be a UUID or have 24 hexadecimal digits"),
		{name: "no response", from: "get_response", change: without("responseId"), status: 400, code: invalid,
			text: "formId or responseId is required", rule: "input"},
	})
}

func TestVoidAndRemind_refuseInputs(t *testing.T) {
	const invalid = "invalid_input"
	requireRefusals(t, []refusal{
		{name: "no id", from: "void_document", change: without("documentId"), status: 400, code: invalid,
			text: "documentId is required", rule: "input"},
		{name: "type", from: "void_document", change: both("documentType", "FORM"), status: 400, code: invalid,
			text: "documentType must be PDF or PDF_TEMPLATE", rule: "input"},
		{name: "no response id", from: "void_template_document", change: without("responseId"), status: 400, code: invalid,
			text: "responseId is required", rule: "input"},
		{name: "response id", from: "send_reminder_template_document", change: both("responseId", template), status: 400, code: invalid,
			text: "responseId must have 24 hexadecimal digits", rule: "input"},
		{name: "places differ", from: "void_document", change: query("documentId", completed), status: 400, code: invalid,
			text: "documentId is given twice with different values", rule: "input"},
		{name: "type of a field", from: "void_document", change: body("documentId", 7), status: 400, code: invalid,
			text: "documentId must be a string", rule: "input"},
		{name: "type of the only one", from: "void_document", change: func(r *request) { r.Query = nil; r.Body = replaceIn(r.Body, "documentId", 7) }, status: 400, code: invalid,
			text: "documentId must be a string", rule: "input"},
		{name: "nothing", from: "void_document", change: func(r *request) { r.Query, r.Body = nil, nil }, status: 400, code: invalid,
			text: "documentId is required", rule: "input"},
		{name: "other case", from: "void_document", change: func(r *request) { r.Query, r.Body = nil, []byte(`{"documentid":"x","documentType":"PDF"}`) }, status: 400, code: invalid,
			text: "documentId is required", rule: "input"},
	})
}

// TestVoidAndRemind_inputsInQueryOrBody shows that query and body each do alone, and that a null is like a missing field.
func TestVoidAndRemind_inputsInQueryOrBody(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*request)
	}{
		{name: "query", change: func(r *request) { r.Body = nil; delete(r.Header, "Content-Type") }},
		{name: "body", change: func(r *request) { r.Query = nil }},
		{name: "half", change: func(r *request) {
			r.Query = map[string]string{"documentId": inProgress}
			r.Body = []byte(`{"documentType":"PDF"}`)
		}},
		{name: "no type", change: without("documentType")},
		{name: "null", change: body("documentId", nil)},
		{name: "upper", change: func(r *request) { r.Query["documentId"], r.Body = strings.ToUpper(inProgress), nil }},
		{name: "response", change: both("responseId", "ignored")},
		{name: "unknown", change: both("reason", "ignored")},
		{name: "both same", change: func(*request) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := load(t, "void_document").with(row.change).send(newServer(t, nil))
			require.Equal(t, http.StatusOK, w.Code, "%s: %s", row.name, w.Body)
		})
	}
}

func TestSend_refusesInputs(t *testing.T) {
	const invalid = "invalid_input"
	receiver := func(fields map[string]any) func(*request) {
		r := map[string]any{"name": "Ann", "email": "ann@example.com", "roleTitle": "Client"}
		for k, v := range fields {
			if r[k] = v; v == nil {
				delete(r, k)
			}
		}
		return body("receiversList", []any{r})
	}
	refusals := []refusal{
		{name: "no type", from: "send_template", change: without("signingType"), status: 400, code: invalid,
			text: "signingType is required", rule: "input"},
		{name: "type", from: "send_template", change: body("signingType", "PDF"), status: 400, code: invalid,
			text: "signingType must be PDF_TEMPLATE or FORM_TEMPLATE", rule: "input"},
		{name: "id in the query", from: "send_template", change: func(r *request) { r.Query["documentId"], r.Body = template, replaceIn(r.Body, "documentId", nil) }, status: 400, code: invalid,
			text: "documentId is required", rule: "input"},
		{name: "id", from: "send_template", change: body("documentId", "form 1"), status: 400, code: invalid,
			text: "documentId must be a UUID", rule: "input"},
		{name: "no receivers", from: "send_form", change: without("receiversList"), status: 400, code: invalid,
			text: "receiversList is required", rule: "input"},
		{name: "empty receivers", from: "send_form", change: body("receiversList", []any{}), status: 400, code: invalid,
			text: "receiversList must have 1 to 100 receivers, has 0", rule: "input"},
		{name: "receivers", from: "send_form", change: body("receiversList", []any{"ann@example.com"}), status: 400, code: invalid,
			text: "receiversList must be an array of objects", rule: "input"},
		{name: "null receiver", from: "send_form", change: body("receiversList", []any{nil}), status: 400, code: invalid,
			text: "receiversList must be an array of objects", rule: "input"},
		{name: "no name", from: "send_template", change: receiver(map[string]any{"name": nil}), status: 400, code: invalid,
			text: "receiversList[0].name is required", rule: "input"},
		{name: "no email", from: "send_template", change: receiver(map[string]any{"email": ""}), status: 400, code: invalid,
			text: "receiversList[0].email is required", rule: "input"},
		{name: "email", from: "send_template", change: receiver(map[string]any{"email": "ann"}), status: 400, code: invalid,
			text: `receiversList[0].email must be an e-mail address alone, as in ann@example.com, not "ann"`, rule: "input"},
		{name: "email type", from: "send_template", change: receiver(map[string]any{"email": []any{}}), status: 400, code: invalid,
			text: "receiversList[0].email must be a string", rule: "input"},
		{name: "no role", from: "send_template", change: receiver(map[string]any{"roleTitle": nil}), status: 400, code: invalid,
			text: "receiversList[0].roleTitle is required", rule: "input"},
		{name: "role", from: "send_template", change: receiver(map[string]any{"roleTitle": "client"}), status: 400, code: invalid,
			text: `receiversList[0].roleTitle "client" must be exactly "Client"`, rule: "input"},
		{name: "mail", from: "send_form", change: body("mailData", "hello"), status: 400, code: invalid,
			text: "mailData must be an object", rule: "input"},
		{name: "subject", from: "send_form", change: body("mailData", map[string]any{"subject": 1}), status: 400, code: invalid,
			text: "mailData.subject must be a string", rule: "input"},
		{name: "variables", from: "send_form", change: body("customVariables", map[string]any{}), status: 400, code: invalid,
			text: "customVariables must be an array of objects", rule: "input"},
		{name: "no variable", from: "send_form", change: body("customVariables", []any{map[string]any{}}), status: 400, code: invalid,
			text: "customVariables[0].varName is required", rule: "input"},
		{name: "brackets", from: "send_form", change: body("customVariables", []any{map[string]any{"varName": "v1"}}), status: 400, code: invalid,
			text: "customVariables[0].varName must be in square brackets, as in [v1]", rule: "input"},
		{name: "pdf of a form", from: "send_form", change: body("pdfData", "data:application/pdf;base64,JVBERi0="), status: 400, code: invalid,
			text: "pdfData must not be given with signingType FORM_TEMPLATE", rule: "input"},
		{name: "bare pdf", from: "send_template", change: body("pdfData", "JVBERi0="), status: 400, code: invalid,
			text: "pdfData must begin with data:application/pdf;base64,", rule: "input"},
		{name: "pdf", from: "send_template", change: body("pdfData", "data:application/pdf;base64,JVBERi0"), status: 400, code: invalid,
			text: "pdfData must hold the PDF in standard base64 with padding", rule: "input"},
	}
	requireRefusals(t, refusals)
	w := load(t, "send_form").with(receiver(map[string]any{"roleTitle": nil})).send(newServer(t, nil))
	require.Equal(t, http.StatusOK, w.Code, "a form needs no roles")
}

// TestRequest_malformedQuery: a lenient parser would drop the broken part, and with it a filter that the client counts on.
func TestRequest_malformedQuery(t *testing.T) {
	for _, query := range []string{"status=SIGNED;page=2", "status=%", "page=1&query=100%zz", "%=1"} {
		t.Run(query, func(t *testing.T) {
			for _, target := range []string{"GET /get-documents", "POST /void-document", "POST /pdf-template-lambda"} {
				t.Run(target, func(t *testing.T) {
					srv := newServer(t, nil)
					method, path, _ := strings.Cut(target, " ")
					r := httptest.NewRequest(method, path, nil)
					r.URL.RawQuery = query
					r.Header.Set("x-api-key", apiKey)
					w := httptest.NewRecorder()
					srv.ServeHTTP(w, r)
					require.Equal(t, http.StatusBadRequest, w.Code, "%s?%s: %s", target, query, w.Body)
					require.JSONEq(t, `{"message":"The query is malformed: its values must be percent-encoded, and its pairs separated by &","code":"invalid_input"}`, w.Body.String())
					require.NotContains(t, srv.last().String(), "SIGNED")
				})
			}
		})
	}
}

// TestRequest_UUIDsHaveNoCase asks for each record by its id in capital letters.
func TestRequest_UUIDsHaveNoCase(t *testing.T) {
	upper := strings.ToUpper
	for _, row := range []struct {
		name   string
		change func(*request)
	}{
		{name: "get_document", change: query("documentId", upper(inProgress))},
		{name: "get_template", change: query("documentId", upper(template))},
		{name: "void_document", change: both("documentId", upper(inProgress))},
		{name: "void_template_document", change: func(r *request) { both("documentId", upper(template))(r); both("responseId", upper(created))(r) }},
		{name: "send_reminder_template_document", change: both("documentId", upper(template))},
		{name: "send_template", change: body("documentId", upper(template))},
		{name: "send_form", change: body("documentId", upper(form))},
		{name: "list_respondents", change: query("templateId", upper(template))},
		{name: "get_respondent", change: query("respondentDocumentId", upper(created))},
		{name: "list_responses", change: query("formId", upper(form))},
		{name: "get_response_uuid", change: query("responseId", upper(responseUUID))},
		{name: "list_documents", change: header("workspaceid", upper(workspace))},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := newServer(t, nil)
			w := load(t, row.name).with(row.change).send(srv)
			require.Equal(t, http.StatusOK, w.Code, "%s: %s", row.name, w.Body)
			require.NotContains(t, w.Body.String(), `"documents":[]`)
			require.NotContains(t, w.Body.String(), upper(template)[:8], "%s: answers spell ids as the service does", row.name)
		})
	}
	w := load(t, "void_document").with(both("documentId", upper(inProgress))).send(newServer(t, nil))
	require.Equal(t, inProgress, parse(t, w.Body.Bytes()).(map[string]any)["documentId"])
	mixed := load(t, "void_document").with(func(r *request) { r.Query["documentId"] = upper(inProgress) })
	require.Equal(t, http.StatusOK, mixed.send(newServer(t, nil)).Code, "the same id in both places")
}

// Answers and records list the first mistakes only: the time grew with the square of their number.
func TestRequest_numberOfErrorsIsBounded(t *testing.T) {
	srv := newServer(t, nil)
	w := load(t, "send_template").with(body("receiversList", make([]struct{}, 2000))).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Equal(t, 99, strings.Count(w.Body.String(), "; "))
	require.Len(t, srv.last().Missing, 100)
	w = load(t, "send_template").with(func(r *request) {
		for i := range 200 {
			r.Body = replaceIn(r.Body, fmt.Sprint("x", i), 1)
		}
	}).send(srv)
	require.Equal(t, http.StatusOK, w.Code)
	require.Len(t, srv.last().Notes, 100)
}
