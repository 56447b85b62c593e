package signformstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestSpellingsOfTheDescription: by default the service takes them and says so; where the profile has a spelling, it takes that alone.
func TestSpellingsOfTheDescription(t *testing.T) {
	ask := func(w *world, method, path, body string) (int, Request) {
		req, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("x-api-key", w.APIKey)
		req.Header.Set("Content-Type", "application/json")
		resp, err := w.HTTPClient().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		requests := w.Requests()
		return resp.StatusCode, requests[len(requests)-1]
	}
	send := func(fields string) func(*world) string {
		return func(w *world) string {
			return `{"signingType":"FORM_TEMPLATE","documentId":"` + w.form + `",` + fields + `}`
		}
	}
	none := func(*world) string { return "" }
	receivers := `[{"name":"Ann","email":"ann@example.com"}]`
	published := map[signforms.Operation]signforms.Endpoint{
		signforms.OpSend:          {Names: map[string]string{"receiversList": "receiversList"}},
		signforms.OpListDocuments: {Values: map[string]map[string]string{"sortOrder": {"asc": "asc"}, "status": {"VOID": "VOID"}}},
	}
	for _, c := range []struct {
		method, path string
		body         func(*world) string
		notes        []string
		strict       int // the status with the profile
	}{
		{method: "GET", path: "/get-documents?sortOrder=ascending", body: none, notes: []string{"took sortOrder ascending for asc"}, strict: 400},
		{method: "GET", path: "/get-documents?sortOrder=descending", body: none, notes: []string{"took sortOrder descending for desc"}, strict: 400},
		{method: "GET", path: "/get-documents?status=voided", body: none, notes: []string{"took status voided for VOID"}, strict: 400},
		{method: "GET", path: "/get-documents?sortOrder=asc&status=VOID", body: none, strict: 200},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receivers":` + receivers), notes: []string{"took receivers for receiversList"}, strict: 400},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receiversList":` + receivers), strict: 200},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receivers":[],"receiversList":` + receivers), strict: 200,
			notes: []string{`ignored body field "receivers"`}},
		{method: "HEAD", path: "/get-documents", body: none, notes: []string{"answered HEAD as GET"}, strict: 200},
	} {
		w := newWorld(t, signforms.OpListDocuments, signforms.Endpoint{})
		status, r := ask(w, c.method, c.path, c.body(w))
		require.Equal(t, http.StatusOK, status, c.path)
		require.Equal(t, c.notes, r.Notes, c.path)
		for _, note := range c.notes {
			require.Contains(t, r.String(), note)
		}
		strict := &world{Server: NewServer(t, &Options{Profile: Profile{Endpoints: published}})}
		strict.form = strict.AddForm(Form{Title: "Intake", Fields: []Field{{Question: "Name?"}}})
		status, _ = ask(strict, c.method, c.path, c.body(strict))
		require.Equal(t, c.strict, status, c.path)
	}
	w := newWorld(t, signforms.OpListDocuments, signforms.Endpoint{})
	_, r := ask(w, "POST", "/void-document", `{"documentId":"`+w.documents[0]+`","receivers":[]}`)
	require.Equal(t, []string{`ignored body field "receivers"`}, r.Notes, "another operation has no receivers")
}

// TestStatusInProgressAsFilter: answers may have another literal than the filter takes.
func TestStatusInProgressAsFilter(t *testing.T) {
	srv := NewServer(t, &Options{Profile: Profile{InProgress: "OPEN", Endpoints: map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {Values: map[string]map[string]string{"status": {"PENDING": "waiting"}}}}}})
	srv.AddDocument(Document{Name: "Lease", Signers: []Signer{{Name: "Ann", Email: "ann@example.com"}}})
	page, err := srv.Client().Documents.List(t.Context(), signforms.DocumentListParams{Status: signforms.StatusPending})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, signforms.DocumentStatus("OPEN"), page.Items[0].Status)
}

// TestFaultsFindIdsUnderOtherNames: a fault of one document meets its requests, whatever the service calls their inputs.
func TestFaultsFindIdsUnderOtherNames(t *testing.T) {
	for _, place := range []signforms.Endpoint{{Inputs: signforms.InputsQuery}, {Inputs: signforms.InputsBody}} {
		w := newWorld(t, signforms.OpVoidDocument, at(place, signforms.Endpoint{Names: map[string]string{"documentId": "id"}}))
		w.Fail(Fault{DocumentID: w.documents[0], Status: http.StatusTeapot})
		_, err := w.Client().Documents.Void(t.Context(), signforms.PDFDocument(w.documents[3]))
		require.NoError(t, err)
		_, err = w.Client().Documents.Void(t.Context(), signforms.PDFDocument(w.documents[0]))
		require.ErrorContains(t, err, "418")
	}
}

// TestRefusalsNameInputsAsTheServiceDoes sends what is wrong in every way that the service has words for.
func TestRefusalsNameInputsAsTheServiceDoes(t *testing.T) {
	srv := NewServer(t, &Options{Profile: Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{
		signforms.OpSend: {Names: map[string]string{"receiversList": "people", "receiversList.email": "mail", "customVariables.varName": "key", "signingType": "kind"},
			Values: map[string]map[string]string{"signingType": {"FORM_TEMPLATE": "form"}}},
	}}})
	form := srv.AddForm(Form{Title: "Intake", Fields: []Field{{Question: "Name?"}}})
	for body, want := range map[string]string{
		`{"kind":"x","documentId":"` + form + `"}`:                                                                                              "kind must be PDF_TEMPLATE or form; people is required",
		`{"kind":"form","documentId":"` + form + `","people":[{"name":"Ann"}],"customVariables":[{}]}`:                                          "people[0].mail is required; customVariables[0].key is required",
		`{"kind":"form","documentId":"` + form + `","people":[{"name":"Ann","mail":7}],"pdfData":"x"}`:                                          "people[0].mail must be a string; pdfData must not be given with kind form",
		`{"kind":"form","documentId":"` + form + `","people":[{"name":"Ann","mail":"a@b.c"}],"customVariables":[{"key":"fee","varValue":"1"}]}`: "customVariables[0].key",
		`{"kind":"form","documentId":"` + form + `","people":{}}`:                                                                               "people must be an array of objects",
	} {
		req, err := http.NewRequest("POST", srv.URL+"/pdf-template-lambda", strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{"X-Api-Key": {srv.APIKey}, "Content-Type": {"application/json"}}
		resp, err := srv.HTTPClient().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var answer struct{ Message string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		require.Equal(t, 400, resp.StatusCode)
		require.Contains(t, answer.Message, want)
	}
}
