package refserver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestAPI_spellingsOfTheDescription: the service takes them and says so.
func TestAPI_spellingsOfTheDescription(t *testing.T) {
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
	for _, c := range []struct {
		method, path string
		body         func(*world) string
		notes        []string
	}{
		{method: "GET", path: "/get-documents?sortOrder=ascending", body: none, notes: []string{"took sortOrder ascending for asc"}},
		{method: "GET", path: "/get-documents?sortOrder=descending", body: none, notes: []string{"took sortOrder descending for desc"}},
		{method: "GET", path: "/get-documents?status=voided", body: none, notes: []string{"took status voided for VOID"}},
		{method: "GET", path: "/get-documents?sortOrder=asc&status=VOID", body: none},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receivers":` + receivers), notes: []string{"took receivers for receiversList"}},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receiversList":` + receivers)},
		{method: "POST", path: "/pdf-template-lambda", body: send(`"receivers":[],"receiversList":` + receivers),
			notes: []string{`ignored body field "receivers"`}},
		{method: "HEAD", path: "/get-documents", body: none, notes: []string{"answered HEAD as GET"}},
	} {
		t.Run(c.method, func(t *testing.T) {
			w := newWorld(t, signforms.OpListDocuments, signforms.Endpoint{})
			status, r := ask(w, c.method, c.path, c.body(w))
			require.Equal(t, http.StatusOK, status, c.path)
			require.Equal(t, c.notes, r.Notes, c.path)
			for _, note := range c.notes {
				require.Contains(t, r.String(), note)
			}
		})
	}
	w := newWorld(t, signforms.OpListDocuments, signforms.Endpoint{})
	_, r := ask(w, "POST", "/void-document", `{"documentId":"`+w.documents[0]+`","receivers":[]}`)
	require.Equal(t, []string{`ignored body field "receivers"`}, r.Notes, "another operation has no receivers")
}
