package signforms_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// through makes one call with the endpoint of its operation overridden, and returns the request.
func through(t *testing.T, method string, e signforms.Endpoint) clienttest.Sent {
	t.Helper()
	call := clienttest.CallOf(t, method)
	rec := &clienttest.Recorder{Answer: `{"documents":[{"documentId":"` + clienttest.PDFID + `"}],"createdDocumentId":"` + clienttest.CreatedID + `"}`}
	c := clienttest.Scripted(t, rec, func(o *signforms.Options) {
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{call.Op: e}
	})
	require.NoError(t, call.Do(t.Context(), c))
	require.Len(t, rec.Sent, 1)
	return rec.Sent[0]
}

// line is what a request looks like, without the host.
func line(s clienttest.Sent) string {
	return strings.TrimSpace(s.Method + " " + strings.TrimPrefix(s.URL.String(), "https://api.example.com/base") + " " + string(s.Content))
}

func TestEndpoint_override(t *testing.T) {
	const (
		query = "?documentId=" + clienttest.PDFID + "&documentType=PDF"
		body  = ` {"documentId":"` + clienttest.PDFID + `","documentType":"PDF"}`
	)
	for _, c := range []struct {
		name     string
		method   string
		endpoint signforms.Endpoint
		want     string
	}{
		{name: "default", method: "Documents.Void", endpoint: signforms.Endpoint{}, want: "POST /void-document" + query + body},
		{name: "method", method: "Documents.Void", endpoint: signforms.Endpoint{Method: "PUT"}, want: "PUT /void-document" + query + body},
		{name: "path", method: "Documents.Void", endpoint: signforms.Endpoint{Path: "/documents/{documentId}/{documentType}/void"},
			want: "POST /documents/" + clienttest.PDFID + "/PDF/void" + query + body},
		{name: "query only", method: "Documents.Void", endpoint: signforms.Endpoint{Inputs: signforms.InputsQuery}, want: "POST /void-document" + query},
		{name: "body only", method: "Documents.Remind", endpoint: signforms.Endpoint{Inputs: signforms.InputsBody}, want: "POST /send-reminder" + body},
		{name: "GET", method: "Documents.Remind", endpoint: signforms.Endpoint{Method: "GET"}, want: "GET /send-reminder" + query},
		{name: "DELETE, path and query", method: "Documents.Void", endpoint: signforms.Endpoint{Method: "DELETE", Path: "/documents/{documentId}", Inputs: signforms.InputsQuery},
			want: "DELETE /documents/" + clienttest.PDFID + query},
		{name: "list by POST", method: "Documents.Get", endpoint: signforms.Endpoint{Method: "POST", Inputs: signforms.InputsBody}, want: "POST /get-documents" + body},
		{name: "list in both places", method: "Documents.Get", endpoint: signforms.Endpoint{Method: "POST", Inputs: signforms.InputsBoth},
			want: "POST /get-documents" + query + body},
		{name: "escaped already", method: "Documents.Void", endpoint: signforms.Endpoint{Path: "/a%2Fb/%C3%A9", Inputs: signforms.InputsQuery}, want: "POST /a%2Fb/%C3%A9" + query},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, line(through(t, c.method, c.endpoint)))
		})
	}
	sending := through(t, "Templates.Send", signforms.Endpoint{Path: "/send/{signingType}/{documentId}"})
	require.Equal(t, "/base/send/PDF_TEMPLATE/"+clienttest.TemplateID, sending.URL.Path)
	require.JSONEq(t, `{"signingType":"PDF_TEMPLATE","documentId":"`+clienttest.TemplateID+`",
		"receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Client"}]}`, string(sending.Content))
}

func TestEndpoint_pathInputsAreEscaped(t *testing.T) {
	responses := func(path, form string) (clienttest.Sent, error) {
		rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
		c := clienttest.Scripted(t, rec, func(o *signforms.Options) {
			o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpListFormResponses: {Path: path}}
		})
		err := clienttest.Second(c.FormResponses.List(t.Context(), signforms.FormResponseListParams{FormID: form}))
		if err != nil {
			require.Empty(t, rec.Sent)
			return clienttest.Sent{}, err
		}
		return rec.Sent[0], nil
	}
	for _, row := range []struct{ form, want string }{
		{form: "a/b", want: "a%2Fb"}, {form: "../void-document", want: "..%2Fvoid-document"}, {form: "a?b=c#d", want: "a%3Fb=c%23d"},
		{form: "ü %2F", want: "%C3%BC%20%252F"}, {form: "...", want: "..."},
		{form: "\\..\\", want: "%5C..%5C"}, {form: "a\r\nb", want: "a%0D%0Ab"},
	} {
		t.Run(row.form, func(t *testing.T) {
			got, err := responses("/forms/{formId}/responses", row.form)
			require.NoError(t, err)
			require.Equal(t, "/base/forms/"+row.want+"/responses", got.URL.EscapedPath(), "form %q", row.form)
			require.Equal(t, row.form, got.URL.Query().Get("formId"), "it is in the query too")
		})
	}
	for _, form := range []string{".", ".."} {
		t.Run(form, func(t *testing.T) {
			_, err := responses("/forms/{formId}/responses", form)
			clienttest.RequireMatches(t, err, signforms.ErrInvalid)
			require.Zero(t, clienttest.AsError(t, err).Attempts)
			require.ErrorContains(t, err, "would get a . or .. segment from this call's inputs")
			got, err := responses("/form-{formId}", form)
			require.NoError(t, err, "harmless within a segment")
			require.Equal(t, "/base/form-"+form, got.URL.Path)
		})
	}
	_, err := responses("/responses/{responseId}", "form")
	clienttest.RequireMatches(t, err, signforms.ErrInvalid)
	require.EqualError(t, err, "list form responses: invalid input: the path set for this operation needs responseId, which this call does not set")
}

func TestEndpoint_invalid(t *testing.T) {
	for _, c := range []struct {
		op       signforms.Operation
		endpoint signforms.Endpoint
		want     string
	}{
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Method: "get"}, want: `Method "get" is not one of GET, POST, PUT, PATCH, DELETE`},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Inputs: "path"}, want: `Inputs "path" is not query, body or both`},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Method: "GET", Inputs: signforms.InputsBody}, want: "a GET has no body: set Inputs to InputsQuery"},
		{op: signforms.OpListDocuments, endpoint: signforms.Endpoint{Inputs: signforms.InputsBody}, want: "a GET has no body: set Inputs to InputsQuery"},
		{op: signforms.OpSend, endpoint: signforms.Endpoint{Inputs: signforms.InputsQuery}, want: "its inputs are nested and need a body"},
		{op: signforms.OpSend, endpoint: signforms.Endpoint{Method: http.MethodGet}, want: "its inputs are nested and need a body"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "void"}, want: "must begin with a slash"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/void?a=b"}, want: "must begin with a slash and hold no query"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/void#a"}, want: "hold no query, fragment or blank"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/vo id"}, want: "hold no query, fragment or blank"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/void/%zz"}, want: "is not escaped as in a URL"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/void/\x7f"}, want: "is not escaped as in a URL"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/é/{documentId}"}, want: "is not escaped as in a URL"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/a/../b"}, want: "has a . or .. segment"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/a/%2e%2E/b"}, want: "has a . or .. segment"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/{documentID}"}, want: "Path holds {documentID}, which is not an input; it may hold documentId, documentType, responseId"},
		{op: signforms.OpSend, endpoint: signforms.Endpoint{Path: "/{formId}"}, want: "it may hold documentId, signingType"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/{}"}, want: "Path holds {}"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/{documentId"}, want: "has an unpaired brace"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "/documentId}"}, want: "has an unpaired brace"},
		{op: signforms.OpVoidDocument, endpoint: signforms.Endpoint{Path: "{documentId}"}, want: "must begin with a slash"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := signforms.New("https://x", clienttest.APIKey, &signforms.Options{Endpoints: map[signforms.Operation]signforms.Endpoint{c.op: c.endpoint}})
			require.ErrorContains(t, err, `Options.Endpoints["`+string(c.op)+`"] cannot be used: `)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestEndpoint_sharedPath: what one operation does without asking is not done to the path of another.
func TestEndpoint_sharedPath(t *testing.T) {
	for _, c := range []struct {
		name      string
		endpoints map[signforms.Operation]signforms.Endpoint
		refused   bool
	}{
		{name: "void on reminders", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Path: "/send-reminder"}}, refused: true},
		{name: "void on reminders/", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Path: "/Send-Reminder/", Method: "PUT"}}, refused: true},
		{name: "send on reminders", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSend: {Path: "/send-reminder"}}, refused: true},
		{name: "send and list", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSend: {Path: "/d"}, signforms.OpListDocuments: {Path: "/d"}}, refused: false},
		{name: "lists on one path", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpListFormResponses: {Path: "/get-documents"}}, refused: true},
		{name: "void and list, one method", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Path: "/d", Method: "POST"}, signforms.OpListDocuments: {Path: "/d", Method: "POST"}}, refused: true},
		{name: "void and list, two", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Path: "/d/{documentId}", Method: "DELETE"}, signforms.OpListDocuments: {Path: "/d/{documentId}"}}, refused: false},
		{name: "exchanged", endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Path: "/send-reminder"}, signforms.OpRemind: {Path: "/void-document"}}, refused: false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := signforms.New("https://api.example.com", clienttest.APIKey, &signforms.Options{Endpoints: c.endpoints})
			if c.refused {
				require.ErrorContains(t, err, "is that of")
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestEndpoint_JSON(t *testing.T) {
	for _, row := range []struct {
		text string
		want signforms.Endpoint
	}{
		{text: `{}`, want: signforms.Endpoint{}},
		{text: `{"inputs":"query"}`, want: signforms.Endpoint{Inputs: signforms.InputsQuery}},
		{text: `{"path":"/a","inputs":"both"}`, want: signforms.Endpoint{Path: "/a", Inputs: signforms.InputsBoth}},
		{text: `{"method":"POST","inputs":"body","ignoreTotals":true}`, want: signforms.Endpoint{Method: "POST", Inputs: signforms.InputsBody, IgnoreTotals: true}},
	} {
		t.Run(row.text, func(t *testing.T) {
			written, err := json.Marshal(row.want)
			require.NoError(t, err)
			require.Equal(t, row.text, string(written))
			var read signforms.Endpoint
			require.NoError(t, json.Unmarshal([]byte(row.text), &read))
			require.Equal(t, row.want, read)
		})
	}
}
