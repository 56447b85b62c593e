package signformstest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// moved has every operation at another endpoint: with inputs in the path, only in the query, only in the body, and with two
// operations at one path.
var moved = map[signforms.Operation]signforms.Endpoint{
	signforms.OpListDocuments:     {Path: "/v2/documents"},
	signforms.OpSend:              {Path: "/v2/documents"},
	signforms.OpVoidDocument:      {Method: "PUT", Path: "/documents/{documentId}/void", Inputs: signforms.InputsBody},
	signforms.OpRemind:            {Path: "/documents/{documentId}/reminders", Inputs: signforms.InputsQuery},
	signforms.OpListRespondents:   {Path: "/respondents"},
	signforms.OpListFormResponses: {Method: "POST", Path: "/forms/{formId}/responses", Inputs: signforms.InputsBody},
}

func TestEndpoints_otherPaths(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{Profile: signformstest.Profile{Endpoints: moved}})
	client := srv.Client()
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	form := srv.AddForm(signformstest.Form{Title: "Intake", Questions: []signformstest.Question{{Question: "Name?"}}})
	_, err := srv.SubmitForm(form, signformstest.Submission{})
	require.NoError(t, err)

	sent, err := client.Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(doc), sent.Ref()} {
		reminded, err := client.Documents.Remind(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, 1, *reminded.RemindersSent)
		_, err = client.Documents.Void(t.Context(), ref)
		require.NoError(t, err)
	}
	got, err := client.Documents.Get(t.Context(), doc)
	require.NoError(t, err)
	require.Equal(t, signforms.StatusVoid, got.Status)
	respondent, err := client.Respondents.Get(t.Context(), sent.DocumentID)
	require.NoError(t, err)
	require.Equal(t, signforms.StatusVoid, respondent.Status)
	responses, err := client.FormResponses.List(t.Context(), signforms.FormResponseListParams{FormID: form})
	require.NoError(t, err)
	require.Len(t, responses.Items, 1)

	page, err := srv.HTTPClient().Get(srv.URL + "/documents/" + doc + ".pdf")
	require.NoError(t, err)
	page.Body.Close()
	require.Equal(t, 200, page.StatusCode, "pages stay where no operation is")
	for _, c := range []struct {
		method, path string
		status       int
		message      string
	}{
		{method: "POST", path: "/void-document", status: 404, message: "No such path. Did you mean PUT /documents/{documentId}/void?"},
		{method: "POST", path: "/documents/" + doc + "/void", status: 405, message: `Method "POST" is not allowed here: use PUT`},
		{method: "DELETE", path: "/v2/documents", status: 405, message: `Method "DELETE" is not allowed here: use GET`},
		{method: "PUT", path: "/documents/" + doc + "/void?documentType=PDF_TEMPLATE&responseId=x", status: 200,
			message: "Document is already voided"},
	} {
		t.Run(c.path, func(t *testing.T) {
			status, answer := call(t, srv, c.method, c.path, "{}")
			require.Equal(t, c.status, status)
			require.Equal(t, c.message, answer["message"])
		})
	}
}

func TestEndpoints_inputsInThePath(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{Profile: signformstest.Profile{Endpoints: moved}})
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	status, answer := call(t, srv, "PUT", "/documents/"+doc+"/void", `{"documentType":"PDF","documentId":"602c2631-2d49-4647-a609-75331ebb0338"}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "documentId is given twice with different values", answer["message"])

	status, answer = call(t, srv, "PUT", "/documents/"+doc+"/void", `{"documentType":"PDF"}`)
	require.Equal(t, http.StatusOK, status, "the path is enough")
	require.Equal(t, doc, answer["documentId"])

	_, err := signformstest.Start(&signformstest.Options{Profile: signformstest.Profile{
		Endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSend: {Method: "GET"}},
	}})
	require.ErrorContains(t, err, `Options.Profile.Endpoints["send"]: cannot be used: `)
}
