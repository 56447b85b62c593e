package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

func TestSend_templateIsListed(t *testing.T) {
	srv := newServer(t, nil)
	w := load(t, "send_template").send(srv)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	answer := parse(t, w.Body.Bytes()).(map[string]any)
	id := answer["createdDocumentId"].(string)
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		d, err := tx.Document(id)
		require.NoError(t, err)
		require.Equal(t, template, d.TemplateID)
		require.Equal(t, signing.NewFile([]byte("%PDF-1.4\n%%EOF\n")).SHA256, d.PDF.SHA256)
		require.Equal(t, []signing.Variable{{Name: "[client]", Value: "A & B <c> Ltd"}, {Name: "[fee in €]", Value: "1,250.00"}}, d.Variables)
		require.Equal(t, signing.StatusPending, d.Status)
		messages := mailAbout(tx, id)
		require.Len(t, messages, 1, "with a signing order the first is invited")
		require.Equal(t, "ann@example.com", messages[0].To)
		require.Equal(t, "Please sign, Ann", messages[0].Subject)
		require.Equal(t, "Line one\nLine two: <b>& more</b>", messages[0].Body)
		first := answer["signers"].([]any)[0].(map[string]any)
		require.Equal(t, "https://files.example.com/sign/"+messages[0].Token, first["sentUrl"])
		return nil
	}))
	require.Contains(t, srv.last().Notes, `ignored custom variable "[fee in €]"`)

	w = load(t, "list_respondents").send(srv)
	newest := parse(t, w.Body.Bytes()).(map[string]any)["respondents"].([]any)[0].(map[string]any)
	require.Equal(t, id, newest["respondentDocumentId"])
	w = load(t, "void_template_document").with(both("responseId", id)).send(srv)
	require.Equal(t, http.StatusOK, w.Code)
}

func TestSend_refusedLeavesNothing(t *testing.T) {
	srv := newServer(t, nil)
	receivers := []any{
		map[string]any{"name": "Ann", "email": "ann@example.com", "roleTitle": "Client"},
		map[string]any{"name": "Ben", "email": "ben@example.com", "roleTitle": "Nobody"},
	}
	w := load(t, "send_template").with(body("receiversList", receivers)).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		require.Equal(t, 2, tx.CountRespondents(template, ""))
		return nil
	}))
}

func TestSend_formIsMailed(t *testing.T) {
	srv := newServer(t, nil)
	require.Equal(t, http.StatusOK, load(t, "send_form").send(srv).Code)
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		messages := mailAbout(tx, form)
		require.Len(t, messages, 2)
		require.Equal(t, "Your details, please", messages[0].Subject)
		require.Equal(t, "Client intake", messages[1].Subject, "mailData stands in for a missing subject")
		require.Equal(t, "Please fill in the form.", messages[1].Body)
		return nil
	}))
}

func TestList_formResponses(t *testing.T) {
	srv := newServer(t, nil)
	for _, row := range []struct{ page, want string }{
		{page: "1", want: `{"currentPage":1,"totalPages":2,"totalResponses":2,"hasNextPage":true,"hasPreviousPage":false}`},
		{page: "2", want: `{"currentPage":2,"totalPages":2,"totalResponses":2,"hasNextPage":false,"hasPreviousPage":true}`},
	} {
		t.Run(row.page, func(t *testing.T) {
			w := load(t, "list_responses").with(func(r *request) { r.Query["limit"], r.Query["page"] = "1", row.page }).send(srv)
			answer := parse(t, w.Body.Bytes()).(map[string]any)
			require.Len(t, answer["responses"], 1)
			require.Equal(t, parse(t, []byte(row.want)), answer["pagination"])
		})
	}
	w := load(t, "list_respondents").with(func(r *request) { r.Query["limit"], r.Query["page"] = "1", "2" }).send(srv)
	answer := parse(t, w.Body.Bytes()).(map[string]any)
	require.Equal(t, createdEarlier, answer["respondents"].([]any)[0].(map[string]any)["respondentDocumentId"])
	require.Equal(t, map[string]any{"currentPage": 2.0, "totalPages": 2.0}, answer["pagination"])
}

// TestSend_rolesAndReceivers shows what is accepted: roles without a receiver, roles with two, and an address twice. Each receiver is a
// signer of its own.
func TestSend_rolesAndReceivers(t *testing.T) {
	receiver := func(name, email, role string) any {
		return map[string]any{"name": name, "email": email, "roleTitle": role}
	}
	const counsel = "Counsel & <Witness> (2) [é 😀]"
	for _, c := range []struct {
		name      string
		receivers []any
		noted     bool
	}{
		{name: "each once", receivers: []any{receiver("Ann", "ann@example.com", "Client"), receiver("Ben", "ben@example.com", counsel)},
			noted: false},
		{name: "one of two", receivers: []any{receiver("Ben", "ben@example.com", counsel)}, noted: true},
		{name: "one twice",
			receivers: []any{receiver("Ann", "ann@example.com", "Client"), receiver("Cy", "cy@example.com", "Client"), receiver("Ben", "ben@example.com", counsel)},
			noted:     true},
		{name: "one address twice",
			receivers: []any{receiver("Ann", "ann@example.com", "Client"), receiver("Ann", "ann@example.com", counsel)}, noted: false},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := newServer(t, nil)
			w := load(t, "send_template").with(body("receiversList", c.receivers)).send(srv)
			require.Equal(t, http.StatusOK, w.Code, "%s: %s", c.name, w.Body)
			signers := parse(t, w.Body.Bytes()).(map[string]any)["signers"].([]any)
			links := map[any]bool{}
			for _, s := range signers {
				links[s.(map[string]any)["sentUrl"]] = true
			}
			require.Len(t, links, len(c.receivers), "%s: each has a link of its own", c.name)
			require.Equal(t, c.noted, strings.Contains(srv.last().String(), "not each role of the template has one receiver"))
		})
	}
}

// values returns copies of the records, oldest first.
// mailAbout returns the mail about a document or form.
func mailAbout(tx *store.Tx, id string) (out []signing.Message) {
	for m := range tx.Messages().All() {
		if m.DocumentID == id {
			out = append(out, *m)
		}
	}
	return out
}
