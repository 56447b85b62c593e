package signforms_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestOddFieldsAreRead: a value of another kind than it should have is converted, or left zero, and costs nothing else.
func TestOddFieldsAreRead(t *testing.T) {
	c := scriptedClient(t, answers(200, `{"message":7,"documentsCount":"2","formCount":{},
		"pagination":{"currentPage":"1","totalPages":2.0,"totalDocuments":"many"},"documents":[
		{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","name":12,"isArchived":"true","isAllSigned":1,"isSigningOrderData":"yes","status":true,
		 "createdAt":"","updatedAt":"yesterday","signers":{"email":"ann@example.com","signingOrderNo":"2","hasDeclined":"false"},
		 "totalRespondants":"3","totalSignedRespondants":2.5,"documentUrl":["x"],"roles":null},
		{"documentId":"3f9779c6-981a-4884-a0b2-21fc0e9a7283","documentName":"A & B <c>","createdAt":"2026-11-18T10:15:30.125Z","updatedAt":1763460930,
		 "signers":[{"name":5,"signingOrderNo":1e99}], "":1, "-":1}]}`))
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, "7", page.Message)
	require.Equal(t, 2, page.DocumentsCount)
	require.Zero(t, page.FormCount)
	require.Equal(t, &signforms.Pagination{CurrentPage: 1, TotalPages: 2}, page.Pagination)
	require.Equal(t, 2, page.Next)
	require.Equal(t, []signforms.Document{
		{DocumentID: pdfID, DocumentName: "12", IsArchived: true, IsAllSigned: true, Status: "true", TotalRespondents: 3,
			Signers: []signforms.Signer{{Email: "ann@example.com", SigningOrderNo: 2}}},
		{DocumentID: "3f9779c6-981a-4884-a0b2-21fc0e9a7283", DocumentName: "A & B <c>", CreatedAt: utc(2026, 11, 18, 10, 15, 30, 125),
			Signers: []signforms.Signer{{Name: "5"}}},
	}, page.Items)
	require.Contains(t, string(page.Raw), `"yesterday"`, "it is as it came")
}

// TestOddFieldsOfResults: a send that was carried out is not in doubt because of a field beside it.
func TestOddFieldsOfResults(t *testing.T) {
	sent, err := scriptedClient(t, answers(200, `{"message":{},"createdDocumentId":"6afac610c07043658fde1996","templateId":5,
		"signers":[{"signerId":17,"hasDeclined":null,"sentUrl":"https://sign.example.com/1"}]}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver})
	require.NoError(t, err)
	require.Equal(t, createdID, sent.CreatedDocumentID)
	require.Equal(t, []signforms.Signer{{SignerID: "17", SentURL: "https://sign.example.com/1"}}, sent.Signers)

	reminded, err := scriptedClient(t, answers(200, `{"message":"ok","remindersSent":"2","status":"voided"}`)).
		Documents.Remind(t.Context(), signforms.PDFDocument(pdfID))
	require.NoError(t, err)
	require.Equal(t, 2, *reminded.RemindersSent)
	require.Equal(t, signforms.StatusVoid, reminded.Status)

	reminded, err = scriptedClient(t, answers(200, `{"message":"ok","remindersSent":{}}`)).Documents.Remind(t.Context(), signforms.PDFDocument(pdfID))
	require.NoError(t, err)
	require.Nil(t, reminded.RemindersSent)

	_, err = scriptedClient(t, answers(200, `{"message":7,"createdDocumentId":{}}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver})
	require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
}

// TestOddFieldsOfRespondentsAndResponses: the other lists.
func TestOddFieldsOfRespondentsAndResponses(t *testing.T) {
	respondents, err := scriptedClient(t, answers(200, `{"respondents":[{"respondentDocumentId":"6afac610c07043658fde1996","createdAt":5,
		"history":{"event":[1]},"ownerId":5}],"pagination":[]}`)).
		Templates.Respondents(t.Context(), signforms.RespondentListParams{TemplateID: templateID})
	require.NoError(t, err)
	require.Nil(t, respondents.Pagination)
	require.Equal(t, "5", respondents.Items[0].OwnerID)
	require.Equal(t, `{"event":[1]}`, string(respondents.Items[0].History[0]))

	responses, err := scriptedClient(t, answers(200, `{"responses":[{"responseId":5,"submittedAt":false,
		"answers":[{"id":1,"question":"Which?","answer":["a","b"]}]}]}`)).
		Forms.Responses(t.Context(), signforms.ResponseListParams{FormID: formID})
	require.NoError(t, err)
	require.Equal(t, []signforms.FormResponse{{ResponseID: "5", SubmittedAt: time.Time{},
		Answers: []signforms.Answer{{ID: "1", Question: "Which?", Answer: `["a","b"]`}}}}, responses.Items)
}

// TestListsOfAnotherKindAreUnreadable: taken for empty they would look like the end of a list.
func TestListsOfAnotherKindAreUnreadable(t *testing.T) {
	for list, want := range map[string]string{`7`: "%s is not a list", `"none"`: "%s is not a list", `[7]`: "%s is not a record", `[null]`: "%s is not a record", `[[]]`: "%s is not a record"} {
		body := fmt.Sprintf(`{"message":7,"documents":%[1]s,"respondents":%[1]s,"responses":%[1]s}`, list)
		for name, field := range map[string]string{
			"Documents.List": "documents", "Templates.Get": "documents", "Templates.Respondents": "respondents", "Forms.Responses": "responses",
		} {
			call := callOf(t, name)
			err := call.do(t.Context(), scriptedClient(t, answers(200, body)))
			requireUnreadable(t, call, err, 200)
			require.ErrorContains(t, err, "unreadable answer: "+fmt.Sprintf(want, field))
		}
	}
}
