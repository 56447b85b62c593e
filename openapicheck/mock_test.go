package openapicheck_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	signforms "github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/openapicheck"
)

var mock = flag.String("mock", "", "base URL of a mock server of openapi.yaml")

// A mock server answers with the first example of each operation: the client reads it, and it keeps to the description.
func TestAnswersOfAMock(t *testing.T) {
	if *mock == "" {
		t.Skip("-mock is not set: scripts/clients starts a mock server and sets it")
	}
	recorder := openapicheck.NewRecorder(load(t, openapicheck.Strict), nil)
	client, err := signforms.New(*mock, "key", &signforms.Options{Transport: recorder, MaxAttempts: 1})
	require.NoError(t, err)
	const document, created = "602c2631-2d49-4647-a609-75331ebb0338", "6afac610c07043658fde1996"
	const template, form = "65afe90c-6eab-4089-8a6f-5b870943305f", "897c8dd4-830a-4a3b-b3e2-6747747385ba"
	ctx := t.Context()

	documents, err := client.Documents.List(ctx, signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Len(t, documents.Items, 8)
	voided, err := client.Documents.Void(ctx, signforms.PDFDocument(document))
	require.NoError(t, err)
	require.False(t, voided.AlreadyVoided)
	_, err = client.Documents.Remind(ctx, signforms.PDFDocument(document))
	require.NoError(t, err)
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Client"}},
	})
	require.NoError(t, err)
	require.Equal(t, created, sent.DocumentID)
	respondents, err := client.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: template})
	require.NoError(t, err)
	require.NotEmpty(t, respondents.Items)
	responses, err := client.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: form})
	require.NoError(t, err)
	require.NotEmpty(t, responses.Items)

	require.NoError(t, recorder.Err())
	require.Len(t, recorder.Exchanges(), len(load(t, openapicheck.Open).Operations()))
}
