package clienttest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// The document made from the template, as seen by the template, by its respondents and by the answer to a send.
var (
	annRole = signforms.Signer{RoleTitle: "Client", Email: "ann@example.com", Name: clienttest.OddName, Status: "VIEWED",
		ID: "9656bc85-46e1-40d9-828b-81cb4e134d01", SigningOrderNo: 1}
	benRole = signforms.Signer{RoleTitle: clienttest.OddRole, Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: "PENDING",
		ID: "099a5a1c-db4e-44db-91ce-db9c092a8014", SigningOrderNo: 2}
	respondent = signforms.Respondent{
		ID: clienttest.CreatedID, TemplateID: clienttest.TemplateID, OwnerID: "olga.author@example.com", Status: "PENDING",
		CreatedAt: utc(2026, 11, 16, 9, 0, 0, 125), PDFLink: "https://files.example.com/documents/6afac610c07043658fde1996.pdf",
		Signers: []signforms.Signer{annRole, benRole},
	}
)

func testListTemplates(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Templates.List(t.Context(), signforms.TemplateListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Equal(t, new(2), page.Total)
	require.Len(t, page.Items, 2)
	requireEngagement(t, page.Items[0], 2)
	require.Equal(t, signforms.Template{
		ID: "11ded283-4170-42af-9f01-8a23a1c6321d", Name: "Power of attorney",
		URL:         "https://files.example.com/documents/11ded283-4170-42af-9f01-8a23a1c6321d.pdf",
		AuthorEmail: "olga.author@example.com",
		Roles:       []signforms.Role{{Title: "Principal"}}, Respondents: []signforms.Respondent{},
		CreatedAt: utc(2026, 10, 5, 11, 22, 33, 444), UpdatedAt: utc(2026, 10, 5, 11, 22, 33, 444),
	}, page.Items[1])
}

func testListTemplatesAliases(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Templates.List(t.Context(), signforms.TemplateListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Len(t, page.Items, 1)
	requireEngagement(t, page.Items[0], 2)
}

func testGetTemplate(t *testing.T, c *signforms.Client, _ string) {
	d, err := c.Templates.Get(t.Context(), clienttest.TemplateID)
	require.NoError(t, err)
	requireEngagement(t, *d, 2)
}

// requireEngagement compares the template with two roles, and what its respondents refer to.
func requireEngagement(t *testing.T, d signforms.Template, respondents int) {
	t.Helper()
	require.Len(t, d.Respondents, respondents)
	first, second := d.Respondents[0], d.Respondents[1]
	require.Equal(t, clienttest.CreatedID, first.ID)
	require.Equal(t, signforms.StatusPending, first.Status)
	require.Equal(t, utc(2026, 11, 16, 9, 0, 0, 125), first.CreatedAt)
	require.Equal(t, []signforms.Signer{annRole, benRole}, first.Signers)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID), first.Ref())
	require.Equal(t, "6af5cb15f4f35018c124817b", second.ID)
	require.Equal(t, signforms.StatusSigned, second.Status)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, "6af5cb15f4f35018c124817b"), second.Ref())

	d.Respondents = nil
	require.Equal(t, signforms.Template{
		ID: clienttest.TemplateID, Name: "Engagement letter A & B <c> \"d\" \u2028 é 😀",
		URL:              "https://files.example.com/documents/65afe90c-6eab-4089-8a6f-5b870943305f.pdf",
		AuthorEmail:      "olga.author@example.com",
		Roles:            []signforms.Role{{Title: "Client", Color: "#1F6FEB"}, {Title: clienttest.OddRole, Color: "#BF3989"}},
		TotalRespondents: 2, TotalSignedRespondents: 1,
		CreatedAt: utc(2026, 10, 20, 8, 0, 0, 0), UpdatedAt: utc(2026, 11, 16, 9, 0, 0, 125),
	}, d)
}

func testSendTemplate(t *testing.T, c *signforms.Client, raw string) {
	res, err := c.Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.Equal(t, raw, string(res.Raw))
	require.Equal(t, "Document sent successfully", res.Message)
	require.Equal(t, clienttest.TemplateID, res.TemplateID)
	require.Equal(t, clienttest.CreatedID, res.DocumentID)
	require.Equal(t, signforms.StatusPending, res.Status)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID), res.Ref())
	require.Equal(t, []signforms.Signer{{
		ID: "9656bc85-46e1-40d9-828b-81cb4e134d01", Email: "ann@example.com", Name: clienttest.OddName, Status: "PENDING", RoleTitle: "Client",
		SentURL: "https://sign.example.com/s/9656bc85-46e1-40d9-828b-81cb4e134d01?token=9016ef28d3ca85f42183614d02ee7966&lang=en",
	}, {
		ID: "099a5a1c-db4e-44db-91ce-db9c092a8014", Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: "PENDING",
		RoleTitle: clienttest.OddRole,
		SentURL:   "https://sign.example.com/s/099a5a1c-db4e-44db-91ce-db9c092a8014?token=75cc4765ee56c12638d9895076a2b877&lang=en",
	}}, res.Signers)
}

func testSendTemplateNoTemplateID(t *testing.T, c *signforms.Client, raw string) {
	res, err := c.Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.Equal(t, &signforms.TemplateSendResult{
		Message: "Document sent successfully", TemplateID: clienttest.TemplateID, DocumentID: clienttest.CreatedID, Status: "PENDING",
		Signers: []signforms.Signer{}, RequestID: res.RequestID, StatusCode: 200, Raw: signforms.RawResponse(raw),
	}, res, "the template's id is the one that was sent")
}

func testSendForm(t *testing.T, c *signforms.Client, raw string) {
	res, err := c.Forms.Send(t.Context(), signforms.FormSendParams{FormID: clienttest.FormID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.Equal(t, &signforms.FormSendResult{Message: "Form sent successfully", RequestID: res.RequestID, StatusCode: 200, Raw: signforms.RawResponse(raw)}, res)
}

func testListRespondents(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Respondents.List(t.Context(), signforms.RespondentListParams{TemplateID: clienttest.TemplateID})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Nil(t, page.Total)
	require.Zero(t, page.Next)
	require.Len(t, page.Items, 2)
	requireRespondent(t, page.Items[0])

	second := page.Items[1]
	require.Equal(t, "6af5cb15f4f35018c124817b", second.ID)
	require.Equal(t, signforms.StatusSigned, second.Status)
	require.Equal(t, utc(2026, 11, 12, 14, 20, 5, 0), second.CreatedAt)
	require.Equal(t, "https://files.example.com/finished/6af5cb15f4f35018c124817b.pdf", second.FinishedPDFURL)
	require.Len(t, second.History, 3)
	require.JSONEq(t, `{"action":"SIGNED","email":"cy@example.com","createdAt":"2026-11-12T15:02:10.000Z"}`, string(second.History[1]))
}

func testGetRespondent(t *testing.T, c *signforms.Client, _ string) {
	r, err := c.Respondents.Get(t.Context(), strings.ToUpper(clienttest.CreatedID))
	require.NoError(t, err)
	requireRespondent(t, *r)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID), r.Ref())
}

func requireRespondent(t *testing.T, r signforms.Respondent) {
	t.Helper()
	require.Len(t, r.History, 1)
	require.JSONEq(t, `{"action":"VIEWED","email":"ann@example.com","createdAt":"2026-11-16T10:01:02.003Z"}`, string(r.History[0]))
	r.History = nil
	require.Equal(t, respondent, r)
}

var annsResponse = signforms.FormResponse{
	ID: clienttest.ResponseID, FormResponseID: clienttest.ResponseUUID, FormID: clienttest.FormID, SubmittedAt: utc(2026, 11, 18, 16, 45, 30, 250),
	RespondentEmail: "ann@example.com", FinishedPDFURL: "https://files.example.com/finished/c8c597f6-f2df-4656-b01d-090c847b0a17.pdf",
	Answers: []signforms.FormAnswer{
		{ID: "q1", Question: "Full legal name", Answer: "A & B <c> \"d\" \u2028 é 😀"},
		{ID: "q2", Question: "Line of business? <b>& co.</b>", Answer: "Fish & chips"},
		{ID: "q3", Question: "Anything else", Answer: "Line one\nLine two \\ \"quoted\""},
	},
}

// TestFormResponse_JSON: written to a file, it has the names that it has on the wire.
func TestFormResponse_JSON(t *testing.T) {
	r := annsResponse
	r.Answers = r.Answers[1:2]
	b, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"responseId":"6afdd62ad605997389b3a3dd","formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17",
		"formId":"897c8dd4-830a-4a3b-b3e2-6747747385ba","submittedAt":"2026-11-18T16:45:30.25Z","respondentEmail":"ann@example.com",
		"finishedPdfUrl":"https://files.example.com/finished/c8c597f6-f2df-4656-b01d-090c847b0a17.pdf",
		"answers":[{"id":"q2","question":"Line of business? <b>& co.</b>","answer":"Fish & chips"}]}`, string(b))
}

func testListResponses(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.FormResponses.List(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Equal(t, new(2), page.Total)
	require.Len(t, page.Items, 2)
	require.Equal(t, annsResponse, page.Items[0])
	require.Equal(t, signforms.FormResponse{
		ID: "6afc0aaccca8bbc24a603532", FormResponseID: "179930b1-7a0e-4f30-880d-069fbae67a9d", FormID: clienttest.FormID,
		SubmittedAt: utc(2026, 11, 17, 8, 5, 0, 999), RespondentEmail: "cy@example.com",
		FinishedPDFURL: "https://files.example.com/finished/179930b1-7a0e-4f30-880d-069fbae67a9d.pdf",
		Answers: []signforms.FormAnswer{
			{ID: "q1", Question: "Full legal name", Answer: "Çiğdem Yılmaz"},
			{ID: "q2", Question: "Line of business? <b>& co.</b>", Answer: "Law"},
			{ID: "q3", Question: "Anything else"},
		},
	}, page.Items[1])
}

func testGetResponse(t *testing.T, c *signforms.Client, _ string) {
	for _, id := range []string{clienttest.ResponseID, clienttest.ResponseUUID, strings.ToUpper(clienttest.ResponseUUID)} {
		r, err := c.FormResponses.Get(t.Context(), id)
		require.NoError(t, err, id)
		require.Equal(t, &annsResponse, r)
	}
}

// TestResponse_oddFields decodes what no file of testdata shows.
func TestResponse_oddFields(t *testing.T) {
	c := clienttest.Scripted(t, clienttest.Answers(200, `{"responses":[{"responseId":"6afdd62ad605997389b3a3dd","answers":[
		{"id":7,"question":null,"answer":["a","b"]},{"id":"q2","answer":12345678901234567890.5},{"answer":{"x":true}}]}],
		"pagination":{"currentPage":2,"totalPages":3,"totalResponses":25,"hasNextPage":true,"hasPreviousPage":true}}`))
	responses, err := c.FormResponses.List(t.Context(), signforms.FormResponseListParams{FormID: clienttest.FormID, Page: 2})
	require.NoError(t, err)
	require.Equal(t, []signforms.FormAnswer{
		{ID: "7", Answer: `["a","b"]`}, {ID: "q2", Answer: "12345678901234567890.5"}, {Answer: `{"x":true}`},
	}, responses.Items[0].Answers, "what is no text is kept as its JSON")
	require.Equal(t, new(25), responses.Total)
	require.Equal(t, 3, responses.Next)

	c = clienttest.Scripted(t, clienttest.Answers(200, `{"documents":[{"documentName":"Lease","name":"lease.pdf","signingType":"PDF","signType":"pdf"}]}`))
	documents, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Len(t, documents.Items, 1)
	lease := documents.Items[0]
	require.Equal(t, "Lease", lease.Name, "of two spellings the first counts")
	require.Equal(t, signforms.TypePDF, lease.SigningType)

	c = clienttest.Scripted(t, clienttest.Answers(200, `{"documents":[{"totalRespondants":"3","totalSignedRespondants":2.5,"roles":null,
		"templateRespondents":[{"status":"Voided"}]}]}`))
	templates, err := c.Templates.List(t.Context(), signforms.TemplateListParams{})
	require.NoError(t, err)
	require.Equal(t, []signforms.Template{{TotalRespondents: 3, Respondents: []signforms.Respondent{{Status: signforms.StatusVoid}}}}, templates.Items)

	c = clienttest.Scripted(t, clienttest.Answers(200, `{"respondents":[{"respondentDocumentId":"6afac610c07043658fde1996","status":"VOIDED","history":null}]}`))
	respondents, err := c.Respondents.List(t.Context(), signforms.RespondentListParams{TemplateID: clienttest.TemplateID})
	require.NoError(t, err)
	require.Equal(t, signforms.StatusVoid, respondents.Items[0].Status)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID), respondents.Items[0].Ref(), "the template asked for")
}
