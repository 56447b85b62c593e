package signforms_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// listCalls are the methods that read a list, with the key of their list.
var listCalls = map[string]string{
	"Documents.List": "documents", "Documents.Get": "documents", "Templates.List": "documents", "Templates.Get": "documents",
	"Respondents.List": "respondents", "Respondents.Get": "respondents", "FormResponses.List": "responses", "FormResponses.Get": "responses",
}

// TestList_responseWithoutList: a caller that checks a send with an unknown outcome must not see an empty list.
func TestList_responseWithoutList(t *testing.T) {
	for name, list := range listCalls {
		call := clienttest.CallOf(t, name)
		for _, body := range []string{
			`{}`,
			`{"message":"ok"}`,
			`{"data":{"documents":[{}]},"message":"ok"}`,
			`{"templates":[{}]}`,
			`{"statusCode":200,"body":"{}"}`,
			`{"` + list + `":null}`,
			`{"` + list + `":null,"pagination":{"totalPages":1}}`,
			`{"documentsCount":3}`,
			`{"documentsCount":0,"pagination":{"totalDocuments":3}}`,
			`{"documentsCount":0,"pagination":{"totalPages":3}}`,
			`{"pagination":{"totalPages":0,"hasNextPage":true}}`,
		} {
			t.Run(body, func(t *testing.T) {
				err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body)))
				clienttest.RequireUnreadable(t, call, err, 200)
				require.ErrorContains(t, err, "unreadable response (it has no "+list, "%s of %s", name, body)
			})
		}
	}
}

// TestList_responseThatProvesAnEmptyList needs no list.
func TestList_responseThatProvesAnEmptyList(t *testing.T) {
	for name, list := range listCalls {
		for _, body := range []string{
			`{"` + list + `":[]}`,
			`{"documentsCount":0}`,
			`{"pagination":{"totalDocuments":0}}`,
			`{"` + list + `":null,"pagination":{"totalResponses":0,"totalPages":1}}`,
			`{"pagination":{"currentPage":1,"totalPages":0}}`,
		} {
			t.Run(body, func(t *testing.T) {
				err := clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body)))
				if strings.HasSuffix(name, "s") || strings.HasSuffix(name, "List") {
					require.NoError(t, err, "%s of %s", name, body)
				} else {
					clienttest.RequireMatches(t, err, signforms.ErrNotFound)
				}
			})
		}
	}
	for _, c := range []struct {
		body string
		page int
		ok   bool
	}{
		{body: `{"message":"none"}`, page: 2, ok: true},
		{body: `{"documents":null}`, page: 2, ok: true},
		{body: `{"documents":{"items":[]}}`, page: 2},
		{body: `{}`, page: 2, ok: true},
		{body: `{"documentsCount":250}`, page: 4, ok: true},
		{body: `{"pagination":{"currentPage":4,"totalPages":3,"totalDocuments":250}}`, page: 4, ok: true},
		{body: `{"pagination":{"totalPages":4}}`, page: 4},
		{body: `{"statusCode":200,"body":"[]"}`, page: 2},
		{body: `{"data":{"documents":[]}}`, page: 2},
	} {
		t.Run(c.body, func(t *testing.T) {
			page, err := clienttest.Scripted(t, clienttest.Answers(200, c.body)).Documents.List(t.Context(), signforms.DocumentListParams{Page: c.page})
			if c.ok {
				require.NoError(t, err)
				require.Empty(t, page.Items)
				require.Zero(t, page.Next)
			} else {
				require.ErrorIs(t, err, signforms.ErrBadResponse)
			}
		})
	}
}

// TestResponse_successThatReportsFailure: a 200 whose body reports a failure is an error. The outcome of calls that send mail
// is unknown.
func TestResponse_successThatReportsFailure(t *testing.T) {
	for _, c := range []struct {
		body, message string
		kind          error
	}{
		{body: `{"success":false}`, message: "the response reports a failure", kind: signforms.ErrUnavailable},
		{body: `{"success":"false","message":"No"}`, message: "No", kind: signforms.ErrUnavailable},
		{body: `{"message":"Voided","error":"but"}`, message: "Voided", kind: signforms.ErrUnavailable},
		{body: `{"error":"boom"}`, message: "boom", kind: signforms.ErrUnavailable},
		{body: ` {"code":"x","error":{"why":"boom"}}`, message: `{"why":"boom"}`, kind: signforms.ErrUnavailable},
		{body: `{"error":"` + strings.Repeat("x", 100<<10) + `"}`, message: strings.Repeat("x", 197) + "…", kind: signforms.ErrUnavailable},
		{body: `{"success":false,"error":"No such form","code":"not_found"}`, message: "No such form", kind: signforms.ErrNotFound},
		{body: `{"success":true,"error":true}`, message: "true", kind: signforms.ErrUnavailable},
		{body: `{"statusCode":500,"body":"boom"}`, message: "the response reports a failure", kind: signforms.ErrUnavailable},
		{body: `{"success":false,"documents":[],"respondents":[],"responses":[]}`, message: "the response reports a failure", kind: signforms.ErrUnavailable},
		{body: `{"success":false,"documents":7,"respondents":7,"responses":7}`, message: "the response reports a failure", kind: signforms.ErrUnavailable},
	} {
		t.Run(fmt.Sprintf("%.60s", c.body), func(t *testing.T) {
			for _, call := range clienttest.Calls {
				err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, c.body)))
				e := clienttest.AsError(t, err)
				require.Equal(t, 200, e.StatusCode)
				require.Equal(t, c.message, e.Message, "%s of %.80s", call.Name, c.body)
				if call.SendsMail() {
					clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				} else {
					clienttest.RequireMatches(t, err, c.kind)
				}
			}
		})
	}
	sent, err := clienttest.Scripted(t, clienttest.Answers(200, `{"success":false,"error":"mail is slow","createdDocumentId":"`+clienttest.CreatedID+`","signers":"none"}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err, "what was made counts")
	require.Equal(t, clienttest.CreatedID, sent.DocumentID)

	for _, body := range []string{
		`{"error":"","message":"Voided"}`, `{"error":null}`, `{"error":""}`, `{"error":false}`, `{"error":{}}`, `{"success":true}`,
		`{"success":null}`, `{"statusCode":200}`, `{}`,
	} {
		t.Run(body, func(t *testing.T) {
			for _, name := range []string{"Documents.Void", "Documents.Remind", "Forms.Send"} {
				t.Run(name, func(t *testing.T) {
					require.NoError(t, clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body))), "%s of %s", name, body)
				})
			}
		})
	}
}

// TestFormSend_textOfA200: the response has no id, so a text that may report a failure makes the outcome unknown.
func TestFormSend_textOfA200(t *testing.T) {
	for _, c := range []struct {
		body    string
		unknown bool
	}{
		{body: `{"message":"Form sent successfully"}`},
		{body: `{"message":"ok","code":"form_sent"}`},
		{body: `{"message":"Form not sent"}`, unknown: true},
		{body: `{"message":"Internal server error"}`, unknown: true},
		{body: `{"status":"error","message":"Boom"}`, unknown: true},
		{body: `{"message":"x","code":"invalid_status"}`, unknown: true},
		{body: `{"data":{"message":"x","code":"forbidden"}}`, unknown: true},
	} {
		t.Run(c.body, func(t *testing.T) {
			err := clienttest.CallOf(t, "Forms.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, c.body)))
			require.Equal(t, c.unknown, errors.Is(err, signforms.ErrOutcomeUnknown), "%v", err)
			require.Equal(t, c.unknown, err != nil)
		})
	}
}

// TestSend_responseNeedsAnID: if no document was created, createdDocumentId may have another value than an id.
func TestSend_responseNeedsAnID(t *testing.T) {
	send := clienttest.CallOf(t, "Templates.Send")
	for _, id := range []string{`false`, `true`, `0`, `-1`, `null`, `""`, `"   "`, `"null"`, `"undefined"`, `"None"`, `{}`, `"000000000000000000000000"`,
		`"00000000-0000-0000-0000-000000000000"`, `"6afac610c07043658fde199"`, `"6afac610c07043658fde199x"`} {
		t.Run(id, func(t *testing.T) {
			for _, verdict := range []string{`"success":false,"message":"No such role"`, `"message":"Document sent successfully"`} {
				t.Run(verdict, func(t *testing.T) {
					err := send.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, `{`+verdict+`,"createdDocumentId":`+id+`,"signers":[]}`)))
					clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				})
			}
		})
	}
	for _, id := range []string{clienttest.CreatedID, strings.ToUpper(clienttest.CreatedID), clienttest.PDFID} {
		t.Run(id, func(t *testing.T) {
			require.NoError(t, send.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, `{"createdDocumentId":"`+id+`"}`))))
		})
	}
}

// TestVoidAndRemind_responseWithoutObject: only a message is documented for their responses.
func TestVoidAndRemind_responseWithoutObject(t *testing.T) {
	for _, c := range []struct {
		status        int
		body, message string
	}{
		{status: 200, body: ``}, {status: 204, body: ``}, {status: 202, body: ``}, {status: 200, body: " \r\n"}, {status: 200, body: `"Done"`, message: "Done"},
	} {
		t.Run(c.body, func(t *testing.T) {
			client := clienttest.Scripted(t, clienttest.Answers(c.status, c.body))
			voided, err := client.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))
			require.NoError(t, err)
			require.Equal(t, c.message, voided.Message)
			require.False(t, voided.AlreadyVoided)
			reminded, err := client.Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
			require.NoError(t, err)
			require.Equal(t, c.message, reminded.Message)
			require.Equal(t, c.body, string(reminded.Raw))
		})
	}
	for _, body := range []string{`false`, `null`, `7`, `[]`, `<html>ok</html>`, `Document voided`, `"cut`, `"two""texts"`} {
		t.Run(body, func(t *testing.T) {
			for _, name := range []string{"Documents.Void", "Documents.Remind"} {
				t.Run(name, func(t *testing.T) {
					call := clienttest.CallOf(t, name)
					clienttest.RequireUnreadable(t, call, call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body))), 200)
				})
			}
		})
	}
}

// TestList_oddFields: a value of another kind than it should have is converted, or left zero, and costs nothing else.
func TestList_oddFields(t *testing.T) {
	c := clienttest.Scripted(t, clienttest.Answers(200, `{"message":7,"documentsCount":"2","formCount":{},
		"pagination":{"currentPage":"1","totalPages":2,"totalDocuments":"many"},"documents":[
		{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","name":12,"isArchived":"true","isAllSigned":1,"isSigningOrderData":"yes","status":true,
		 "createdAt":"","updatedAt":"yesterday","signers":{"email":"ann@example.com","signingOrderNo":"2","hasDeclined":"false"},
		 "documentUrl":["x"]},
		{"documentId":"3f9779c6-981a-4884-a0b2-21fc0e9a7283","documentName":"A & B <c>","createdAt":1794996930125,"updatedAt":17949969301,
		 "signers":[{"name":5,"signingOrderNo":1e99}], "":1, "-":1}]}`))
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Nil(t, page.Total, "documentsCount may count this page alone")
	require.Equal(t, 2, page.Next)
	require.Equal(t, []signforms.Document{
		{ID: clienttest.PDFID, Name: "12", IsArchived: true, IsAllSigned: true, Status: "true",
			Signers: []signforms.Signer{{Email: "ann@example.com", SigningOrderNo: 2}}},
		{ID: "3f9779c6-981a-4884-a0b2-21fc0e9a7283", Name: "A & B <c>", CreatedAt: time.Date(2026, 11, 18, 10, 15, 30, 125e6, time.UTC),
			Signers: []signforms.Signer{{Name: "5"}}},
	}, page.Items)
	require.Contains(t, string(page.Raw), `"yesterday"`, "it is as it came")
}

// TestSendAndRemind_oddFields: an unreadable field next to the id does not make the outcome unknown.
func TestSendAndRemind_oddFields(t *testing.T) {
	sent, err := clienttest.Scripted(t, clienttest.Answers(200, `{"message":{},"createdDocumentId":"6afac610c07043658fde1996","templateId":5,
		"signers":[{"signerId":17,"hasDeclined":null,"sentUrl":"https://sign.example.com/1"}]}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.Equal(t, clienttest.CreatedID, sent.DocumentID)
	require.Equal(t, []signforms.Signer{{ID: "17", SentURL: "https://sign.example.com/1"}}, sent.Signers)
	require.Equal(t, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID), sent.Ref(), "with the template's id that was sent")

	reminded, err := clienttest.Scripted(t, clienttest.Answers(200, `{"message":"ok","remindersSent":"2","status":"voided"}`)).
		Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	require.Equal(t, 2, *reminded.RemindersSent)
	require.Equal(t, signforms.StatusVoid, reminded.Status)

	reminded, err = clienttest.Scripted(t, clienttest.Answers(200, `{"message":"ok","remindersSent":{}}`)).Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	require.Nil(t, reminded.RemindersSent)

	_, err = clienttest.Scripted(t, clienttest.Answers(200, `{"message":7,"createdDocumentId":{}}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
}

// TestList_valueIsNoList: read as empty, such a value would look like the end of the list.
func TestList_valueIsNoList(t *testing.T) {
	for _, row := range []struct{ list, want string }{{list: `7`, want: "%s is not a list"}, {list: `"none"`, want: "%s is not a list"},
		{list: `[7]`, want: "%s is not a record"}, {list: `[null]`, want: "%s is not a record"}, {list: `[[]]`, want: "%s is not a record"},
		{list: `{"items":[]}`, want: "%s is not a list"}, {list: `{}`, want: "%s is not a list"}} {
		t.Run(row.list, func(t *testing.T) {
			body := fmt.Sprintf(`{"message":7,"documents":%[1]s,"respondents":%[1]s,"responses":%[1]s}`, row.list)
			for _, inner := range []struct{ name, field string }{
				{name: "Documents.List", field: "documents"}, {name: "Templates.Get", field: "documents"}, {name: "Respondents.List", field: "respondents"},
				{name: "FormResponses.List", field: "responses"},
			} {
				t.Run(inner.name, func(t *testing.T) {
					call := clienttest.CallOf(t, inner.name)
					err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, body)))
					clienttest.RequireUnreadable(t, call, err, 200)
					require.ErrorContains(t, err, "unreadable response ("+fmt.Sprintf(row.want, inner.field))
				})
			}
		})
	}
}

// TestResponse_byteOrderMark, before answers of every kind.
func TestResponse_byteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	for _, call := range clienttest.Calls {
		c := clienttest.Scripted(t, clienttest.Answers(200, mark+clienttest.AnyAnswer))
		err := call.Do(t.Context(), c)
		if err != nil { // it was read, and lacks the record
			require.ErrorIs(t, err, signforms.ErrNotFound, call.Name)
			require.Equal(t, clienttest.AnyAnswer, string(clienttest.AsError(t, err).Body))
		}
		raw, err := c.Do(t.Context(), signforms.Request{Path: "/any"}, nil)
		require.NoError(t, err)
		require.Equal(t, clienttest.AnyAnswer, string(raw), "without the mark")
		err = call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(404, mark+`{"message":"No such thing","code":"not_found"}`)))
		require.Equal(t, "No such thing", clienttest.AsError(t, err).Message)
		require.Equal(t, "not_found", clienttest.AsError(t, err).Code)
	}
}
