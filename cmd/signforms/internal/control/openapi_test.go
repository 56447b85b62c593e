package control_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	raw, err := openapi3.NewLoader().LoadFromFile("../../../../docs/control.yaml")
	require.NoError(t, err)
	text, err := raw.MarshalJSON()
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(text, &tree))
	closeSchemas(tree)
	text, err = json.Marshal(tree)
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(context.Background()))
	doc.Servers = openapi3.Servers{{URL: wire.Prefix}}
	return doc
}

// closeSchemas forbids further properties in objects with listed properties, because the interface must not send a field that it
// does not describe.
func closeSchemas(node any) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			closeSchemas(child)
		}
	case map[string]any:
		if _, listed := node["properties"].(map[string]any); listed && node["type"] == "object" {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeSchemas(child)
		}
	}
}

// recorder calls the interface and compares each exchange with the description.
type recorder struct {
	t      *testing.T
	base   string
	router routers.Router
	seen   map[string]bool // operations with a success
}

func exchange(t *testing.T, request *http.Request) (status int, body string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// call makes a request, checks that it succeeds, and returns the decoded answer.
func (rec *recorder) call(method, path string, in any) map[string]any {
	rec.t.Helper()
	out := map[string]any{}
	text := rec.do(method, path, in, http.StatusOK, http.StatusCreated, http.StatusNoContent)
	if len(text) > 0 && text[0] == '{' {
		require.NoError(rec.t, json.Unmarshal(text, &out))
	}
	return out
}

func (rec *recorder) do(method, path string, in any, statuses ...int) []byte {
	rec.t.Helper()
	t := rec.t
	var body []byte
	if in != nil {
		var err error
		body, err = json.Marshal(in)
		require.NoError(t, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, rec.base+wire.Prefix+path, bytes.NewReader(body))
	require.NoError(t, err)
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, statuses, answer.StatusCode, "%s %s: %s", method, path, text)

	request.Body, request.URL.Host, request.URL.Scheme = io.NopCloser(bytes.NewReader(body)), "", ""
	route, parameters, err := rec.router.FindRoute(request)
	require.NoError(t, err, "%s %s", method, path)
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	sent := &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route, Options: options}
	if answer.StatusCode < 300 {
		require.NoError(t, openapi3filter.ValidateRequest(t.Context(), sent), "%s %s %s", method, path, body)
		rec.seen[method+" "+route.Path] = true
	}
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		options.ExcludeResponseBody = true
	}
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: sent, Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(text)), Options: options,
	}), "%s %s: %s", method, path, text)
	return text
}

// The test calls every described operation at least once. Every answer must match the description.
func TestAnswersKeepToTheDescription(t *testing.T) {
	doc := description(t)
	router, err := legacy.NewRouter(doc)
	require.NoError(t, err)
	server, api := newAPI(t)
	rec := &recorder{t: t, base: api.URL, router: router, seen: map[string]bool{
		"GET /events": true, "GET /relays/{id}/attempts": true, "POST /relays/{id}/attempts/{attempt}": true, // TestRelay
	}}
	everyOperation(rec, server)
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			require.True(t, rec.seen[method+" "+path], "%s %s was not called", method, path)
		}
	}
	rec.do("GET", "/templates/unknown", nil, http.StatusNotFound)
	rec.do("POST", "/documents/unknown/sign", map[string]any{"signer": "a@b.c"}, http.StatusNotFound)
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func everyOperation(rec *recorder, server *servicetest.Server) {
	rec.call("GET", "/status", nil)
	rec.call("GET", "/credentials", nil)
	rec.call("POST", "/api-keys", nil)
	made := rec.call("POST", "/workspaces", map[string]any{"name": "checkout", "lifetime": "1h", "seed": map[string]any{"forms": []any{}}})
	rec.call("POST", "/workspaces", nil)
	rec.call("GET", "/workspaces", nil)
	rec.call("DELETE", "/workspaces/"+made["id"].(string), nil)
	drawn, err := pdf.Draw("Offer", nil)
	require.NoError(rec.t, err)
	file := base64.StdEncoding.EncodeToString(drawn)
	field := map[string]any{"name": "Signature", "role": "Buyer", "kind": "signature", "required": true, "page": 1, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.1}
	template := rec.call("POST", "/templates", map[string]any{
		"name": "Offer", "roles": []any{map[string]any{"title": "Buyer", "colour": "#1F6FEB"}}, "variables": []string{"[fee]"},
		"expiresFor": "7d", "pdf": file, "fields": []any{field},
	})["id"].(string)
	rec.call("GET", "/templates?name=Off&limit=1", nil)
	rec.call("GET", "/templates/"+template, nil)
	rec.call("GET", "/templates/"+template+"/pdf", nil)
	field["role"] = "ann@example.com"
	document := rec.call("POST", "/documents", map[string]any{
		"name": "Lease", "signers": []any{map[string]any{"name": "Ann", "email": "ann@example.com"}}, "pdf": file, "fields": []any{field},
	})["id"].(string)
	hook := rec.call("POST", "/webhooks", map[string]any{"url": "http://127.0.0.1:9/", "event": "new_signature_completed", "documents": []string{document}})["id"].(string)
	rec.call("POST", "/documents/"+document+"/view", map[string]any{"signer": "ann@example.com", "from": map[string]any{"ip": "203.0.113.9", "userAgent": "x"}})
	link := rec.call("GET", "/documents/"+document, nil)["signers"].([]any)[0].(map[string]any)["link"].(string)
	rec.call("GET", "/links/sign/"+link[strings.LastIndex(link, "/")+1:], nil)
	rec.call("POST", "/documents/"+document+"/sign", map[string]any{"signer": "ann@example.com", "fields": []any{map[string]any{"name": "Signature", "image": pixel}}})
	rec.call("GET", "/documents/"+document+"/pdf", nil)
	rec.call("GET", "/documents?status=SIGNED&type=PDF", nil)
	rec.call("POST", "/documents/"+document+"/pay", nil)
	rec.call("POST", "/documents/"+document+"/archive", nil)
	for _, act := range []string{"decline", "expire", "delete", "void"} {
		id := rec.call("POST", "/documents", map[string]any{"name": act, "signers": []any{map[string]any{"email": "ann@example.com"}}, "draft": true})["id"].(string)
		rec.call("POST", "/documents/"+id+"/send", nil)
		var in any
		if act == "decline" {
			in = map[string]any{"signer": "ann@example.com", "reason": "too much"}
		}
		rec.call("POST", "/documents/"+id+"/"+act, in)
	}
	forms(rec, server)
	webhooks(rec, hook)
	rec.call("POST", "/relays/abcdefghijklmnopqrst", map[string]any{"events": []string{"new_form_response"}})
	rec.call("DELETE", "/relays/abcdefghijklmnopqrst", nil)
	rec.call("GET", "/requests?misses=true", nil)
	rec.call("GET", "/messages?kind=invitation&to=ann@example.com", nil)
	rec.call("GET", "/audit?documentId="+document, nil)
	fault := rec.call("POST", "/faults/requests", map[string]any{"operation": "void document", "status": 503, "retryAfter": "1", "latency": "10ms"})["id"].(string)
	rec.call("POST", "/faults/deliveries", map[string]any{"duplicate": true, "times": 2, "shift": "-10m"})
	rec.call("GET", "/faults", nil)
	rec.call("DELETE", "/faults/"+fault, nil)
	rec.call("DELETE", "/faults", nil)
	rec.call("GET", "/clock", nil)
	rec.call("POST", "/clock/advance", map[string]any{"by": "3d"})
	rec.call("POST", "/clock/settle", map[string]any{"timeout": "30s"})
	finished(rec)
	rec.call("POST", "/reset", nil)
	rec.call("POST", "/seed", map[string]any{
		"documents": []any{map[string]any{"key": "lease", "name": "Lease", "signers": []any{map[string]any{"email": "ann@example.com"}}}},
		"webhooks":  []any{map[string]any{"url": "http://127.0.0.1:9/", "event": "new_signature_completed", "documents": []string{"lease"}}},
	})
}

func forms(rec *recorder, server *servicetest.Server) {
	form := rec.call("POST", "/forms", map[string]any{
		"title": "Intake", "fields": []any{map[string]any{"question": "Name", "required": true}, map[string]any{"question": "Colour", "kind": "choice", "choices": []string{"red", "blue"}}},
	})["id"].(string)
	rec.call("GET", "/forms", nil)
	rec.call("GET", "/forms/"+form, nil)
	response := rec.call("POST", "/forms/"+form+"/submit", map[string]any{"answers": map[string]any{"Name": "Cy"}, "respondentEmail": "cy@example.com"})["formResponseId"].(string)
	rec.call("GET", "/forms/"+form+"/responses", nil)
	rec.call("GET", "/responses/"+response, nil)
	token := sentForm(rec.t, server, form)
	rec.call("GET", "/links/form/"+token, nil)
}

func webhooks(rec *recorder, hook string) {
	rec.call("GET", "/webhooks", nil)
	rec.call("GET", "/webhooks/"+hook, nil)
	delivery := rec.call("POST", "/webhooks/"+hook+"/test", nil)["id"].(string)
	rec.call("POST", "/clock/settle", nil)
	rec.call("GET", "/deliveries?status=pending&webhookId="+hook, nil)
	rec.call("GET", "/deliveries/"+delivery, nil)
	rec.call("POST", "/deliveries/"+delivery+"/resend", nil)
	rec.call("POST", "/clock/settle", nil)
	rec.call("POST", "/webhooks/"+hook+"/resend", map[string]any{"since": "2020-01-01T00:00:00Z"})
	rec.call("POST", "/webhooks/"+hook+"/rotate", nil)
	rec.call("POST", "/webhooks/"+hook+"/disable", nil)
	rec.call("POST", "/webhooks/"+hook+"/enable", nil)
	rec.call("DELETE", "/webhooks/"+hook, nil)
}

// finished gets a finished file from a sandbox that makes them.
func finished(rec *recorder) {
	t := rec.t
	server := servicetest.Start(t, &refserver.Options{Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
		return []byte("%PDF-1.4 finished"), nil
	}})
	id := server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, server.Signer(id, "ann@example.com").Sign())
	require.NoError(t, server.Settle(t.Context()))
	api := newAPIOf(t, server)
	other := &recorder{t: t, base: api.URL, router: rec.router, seen: rec.seen}
	require.Equal(t, "%PDF-1.4 finished", string(other.do("GET", fmt.Sprintf("/documents/%s/finished", id), nil, http.StatusOK)))
}
