package signforms_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// listCalls are the methods that read a list, with the key of their list.
var listCalls = map[string]string{
	"Documents.List": "documents", "Documents.Get": "documents", "Templates.List": "documents", "Templates.Get": "documents",
	"Templates.Respondents": "respondents", "Templates.Respondent": "respondents", "Forms.Responses": "responses", "Forms.Response": "responses",
}

// TestAnAnswerWithoutItsListIsNotEmpty: whoever looks whether a send in doubt went out must not be told that it did not.
func TestAnAnswerWithoutItsListIsNotEmpty(t *testing.T) {
	for name, list := range listCalls {
		call := callOf(t, name)
		for _, c := range []struct{ body, keys string }{
			{`{}`, "it is empty"},
			{`{"message":"ok"}`, "it has message"},
			{`{"data":{"documents":[{}]},"message":"ok"}`, "it has data, message"},
			{`{"templates":[{}]}`, "it has templates"},
			{`{"statusCode":200,"body":"{}"}`, "it has statusCode, body"},
			{`{"` + list + `":null}`, "it has " + list},
			{`{"` + list + `":null,"pagination":{"totalPages":1}}`, "it has " + list + ", pagination"},
			{`{"documentsCount":3}`, "it has documentsCount"},
			{`{"documentsCount":0,"pagination":{"totalDocuments":3}}`, "it has documentsCount, pagination"},
			{`{"documentsCount":0,"pagination":{"totalPages":3}}`, "it has documentsCount, pagination"},
			{`{"pagination":{"totalPages":0,"hasNextPage":true}}`, "it has pagination"},
		} {
			err := call.do(t.Context(), scriptedClient(t, answers(200, c.body)))
			requireUnreadable(t, call, err, 200)
			require.ErrorContains(t, err, "unreadable answer: it", "%s of %s", name, c.body)
			require.ErrorContains(t, err, c.keys, "%s of %s", name, c.body)
		}
	}
	err := callOf(t, "Documents.List").do(t.Context(), scriptedClient(t, answers(200, `{"ann@example.com":1,"`+strings.Repeat("k", 200)+`":2}`)))
	require.EqualError(t, err, "list documents: 200: unavailable: unreadable answer: it has no documents, and nothing in it says that there are none; it has [email], "+strings.Repeat("k", 32))
}

// TestAnAnswerThatProvesThatThereAreNone needs no list.
func TestAnAnswerThatProvesThatThereAreNone(t *testing.T) {
	for name, list := range listCalls {
		for _, body := range []string{
			`{"` + list + `":[]}`,
			`{"documentsCount":0}`,
			`{"pagination":{"totalDocuments":0}}`,
			`{"` + list + `":null,"pagination":{"totalResponses":0,"totalPages":1}}`,
			`{"pagination":{"currentPage":1,"totalPages":0}}`,
		} {
			err := callOf(t, name).do(t.Context(), scriptedClient(t, answers(200, body)))
			if strings.HasSuffix(name, "s") || strings.HasSuffix(name, "List") {
				require.NoError(t, err, "%s of %s", name, body)
			} else {
				requireMatches(t, err, signforms.ErrNotFound)
			}
		}
	}
	for _, c := range []struct {
		body string
		page int
		ok   bool
	}{
		{`{"message":"none"}`, 2, true},
		{`{"documents":null}`, 2, true},
		{`{}`, 2, true},
		{`{"documentsCount":250}`, 4, true},
		{`{"pagination":{"currentPage":4,"totalPages":3,"totalDocuments":250}}`, 4, true},
		{`{"pagination":{"totalPages":4}}`, 4, false},
		{`{"statusCode":200,"body":"[]"}`, 2, false},
		{`{"data":{"documents":[]}}`, 2, false},
	} {
		page, err := scriptedClient(t, answers(200, c.body)).Documents.List(t.Context(), signforms.DocumentListParams{Page: c.page})
		if c.ok {
			require.NoError(t, err, c.body)
			require.Empty(t, page.Items)
			require.Zero(t, page.Next)
		} else {
			require.ErrorIs(t, err, signforms.ErrUnavailable, c.body)
		}
	}
}

// TestAllIsNotCutShortByAnotherAnswer: what comes in the place of a further page ends the list with an error.
func TestAllIsNotCutShortByAnotherAnswer(t *testing.T) {
	for _, other := range []string{`{"statusCode":500,"body":"boom"}`, `{"success":false,"error":"busy"}`, `{"data":{"documents":[]}}`, `{"error":"busy"}`} {
		s := &listService{answer: func(_ int, r listRequest) string {
			if r.page == 3 {
				return other
			}
			return pageJSON(window(upTo(250), r.page, 100), "")
		}}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.ErrorIs(t, err, signforms.ErrUnavailable, other)
		require.Len(t, ids, 200, other)
	}
}

// TestASuccessThatSaysItFailed is an error; of what sends mail the outcome is unknown.
func TestASuccessThatSaysItFailed(t *testing.T) {
	for _, c := range []struct {
		body, message string
		kind          error
	}{
		{`{"success":false}`, "the answer says that it failed", signforms.ErrUnavailable},
		{`{"success":"false","message":"No"}`, "No", signforms.ErrUnavailable},
		{`{"message":"Voided","error":"but"}`, "Voided", signforms.ErrUnavailable},
		{`{"error":"boom"}`, "boom", signforms.ErrUnavailable},
		{` {"code":"x","error":{"why":"boom"}}`, `{"why":"boom"}`, signforms.ErrUnavailable},
		{`{"error":"` + strings.Repeat("x", 100<<10) + `"}`, strings.Repeat("x", 197) + "…", signforms.ErrUnavailable},
		{`{"success":false,"error":"No such form","code":"not_found"}`, "No such form", signforms.ErrNotFound},
		{`{"success":true,"error":true}`, "true", signforms.ErrUnavailable},
		{`{"statusCode":500,"body":"boom"}`, "the answer says that it failed", signforms.ErrUnavailable},
		{`{"success":false,"documents":[],"respondents":[],"responses":[]}`, "the answer says that it failed", signforms.ErrUnavailable},
		{`{"success":false,"documents":7,"respondents":7,"responses":7}`, "the answer says that it failed", signforms.ErrUnavailable},
	} {
		for _, call := range everyCall {
			err := call.do(t.Context(), scriptedClient(t, answers(200, c.body)))
			e := asError(t, err)
			require.Equal(t, 200, e.StatusCode)
			require.Equal(t, c.message, e.Message, "%s of %.80s", call.name, c.body)
			if notRepeatable(call.op) {
				requireMatches(t, err, signforms.ErrOutcomeUnknown)
			} else {
				requireMatches(t, err, c.kind)
			}
		}
	}
	sent, err := scriptedClient(t, answers(200, `{"success":false,"error":"mail is slow","createdDocumentId":"`+createdID+`","signers":"none"}`)).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver})
	require.NoError(t, err, "what was made counts")
	require.Equal(t, createdID, sent.CreatedDocumentID)

	for _, body := range []string{
		`{"error":"","message":"Voided"}`, `{"error":null}`, `{"error":""}`, `{"error":false}`, `{"error":{}}`, `{"success":true}`,
		`{"success":null}`, `{"statusCode":200}`, `{}`,
	} {
		for _, name := range []string{"Documents.Void", "Documents.Remind", "Forms.Send"} {
			require.NoError(t, callOf(t, name).do(t.Context(), scriptedClient(t, answers(200, body))), "%s of %s", name, body)
		}
	}
}

// TestVoidAndRemindNeedNoObject: of their answers nothing but a message is promised.
func TestVoidAndRemindNeedNoObject(t *testing.T) {
	for _, c := range []struct {
		status        int
		body, message string
	}{
		{200, ``, ""}, {204, ``, ""}, {202, ``, ""}, {200, " \r\n", ""}, {200, `"Document is already voided"`, "Document is already voided"},
	} {
		client := scriptedClient(t, answers(c.status, c.body))
		voided, err := client.Documents.Void(t.Context(), signforms.PDFDocument(pdfID))
		require.NoError(t, err)
		require.Equal(t, c.message, voided.Message)
		require.Equal(t, c.message != "", voided.AlreadyVoided)
		reminded, err := client.Documents.Remind(t.Context(), signforms.PDFDocument(pdfID))
		require.NoError(t, err)
		require.Equal(t, c.message, reminded.Message)
		require.Equal(t, c.body, string(reminded.Raw))
	}
	for _, body := range []string{`false`, `null`, `7`, `[]`, `<html>ok</html>`, `Document voided`, `"cut`, `"two""texts"`} {
		for _, name := range []string{"Documents.Void", "Documents.Remind"} {
			call := callOf(t, name)
			requireUnreadable(t, call, call.do(t.Context(), scriptedClient(t, answers(200, body))), 200)
		}
	}
}

// TestNestedListsOfAnotherKindAreEmpty: one odd value costs nothing else.
func TestNestedListsOfAnotherKindAreEmpty(t *testing.T) {
	for _, odd := range []string{`""`, `false`, `7`, `["a@b.c"]`, `[null]`, `[[{"email":"x"}]]`, `null`} {
		docs := fmt.Sprintf(`{"documentId":%q,"signers":%[2]s,"roles":%[2]s,"templateRespondents":%[2]s},`, docID(1), odd)
		for i := range 99 {
			docs += fmt.Sprintf(`{"documentId":%q,"signers":[{"email":"ann@example.com"}]},`, docID(i+2))
		}
		page, err := scriptedClient(t, answers(200, `{"documents":[`+strings.TrimSuffix(docs, ",")+`]}`)).
			Documents.List(t.Context(), signforms.DocumentListParams{})
		require.NoError(t, err, odd)
		require.Len(t, page.Items, 100)
		require.Empty(t, page.Items[0].Signers)
		require.Empty(t, page.Items[0].Roles)
		require.Empty(t, page.Items[0].Respondents)
		require.Equal(t, []signforms.Signer{{Email: "ann@example.com"}}, page.Items[99].Signers)
		require.Contains(t, string(page.Raw), odd)

		sent, err := scriptedClient(t, answers(200, `{"createdDocumentId":"`+createdID+`","signers":`+odd+`}`)).
			Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver})
		require.NoError(t, err, odd)
		require.Empty(t, sent.Signers)

		responses, err := scriptedClient(t, answers(200, `{"responses":[{"responseId":"x","answers":`+odd+`}]}`)).
			Forms.Responses(t.Context(), signforms.ResponseListParams{FormID: formID})
		require.NoError(t, err, odd)
		require.Empty(t, responses.Items[0].Answers)
	}
}

// largeAnswers are answers of about size bytes, of shapes that take much memory for what they say.
func largeAnswers(size int) map[string]string {
	many := func(s string) string { return strings.TrimSuffix(strings.Repeat(s+",", size/(len(s)+1)), ",") }
	return map[string]string{
		"empty records":    `{"documents":[` + many(`{}`) + `]}`,
		"null records":     `{"documents":[` + many(`null`) + `]}`,
		"tiny records":     `{"documents":[` + many(`{"name":"a"}`) + `]}`,
		"ids only":         `{"documents":[` + many(`{"documentId":"602c2631-2d49-4647-a609-75331ebb0338"}`) + `]}`,
		"odd records":      `{"message":7,"documents":[` + many(`{"status":7,"isArchived":"true","createdAt":1,"signers":"","roles":[5]}`) + `]}`,
		"one list in one":  `{"documents":[{"documentId":"x","signers":[` + many(`{}`) + `]}]}`,
		"odd elements":     `{"documents":[{"documentId":"x","signers":[` + many(`1`) + `]}]}`,
		"unknown fields":   `{"documents":[{"documentId":"x","x":[` + many(`{"x":[{}]}`) + `]}]}`,
		"many keys":        `{"documents":[{` + many(`"k":0`) + `}]}`,
		"ordinary records": `{"documents":[` + many(testRecord) + `]}`,
		"not UTF-8":        `{"documents":[{"documentName":"` + strings.Repeat("\xff", size) + `"}]}`,
		"an error":         `{"error":"` + strings.Repeat("a ", size/2) + `"}`,
		"without its list": `{` + many(`"k":0`) + `}`,
		"respondents":      `{"respondents":[` + many(`{"history":[1,1,1]}`) + `]}`,
		"history":          `{"respondents":[{"history":[` + many(`1`) + `]}]}`,
		"responses":        `{"responses":[` + many(`{"answers":[{},{}]}`) + `]}`,
		"answers as JSON":  `{"responses":[{"answers":[` + many(`{"answer":[[]]}`) + `]}]}`,
	}
}

const testRecord = `{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","documentName":"Lease","status":"PENDING","signingType":"PDF",` +
	`"createdAt":"2026-11-18T10:15:30.125Z","signers":[{"email":"ann@example.com","name":"Ann","status":"PENDING"}]}`

// TestMemoryOfAnAnswerIsBounded counts all that is allocated for a call, which is more than what is alive at any time.
func TestMemoryOfAnAnswerIsBounded(t *testing.T) {
	for _, size := range []int{64 << 10, 2 << 20} {
		for name, body := range largeAnswers(size) {
			read := "Documents.List"
			if strings.HasPrefix(body, `{"respond`) {
				read = "Templates.Respondents"
			} else if strings.HasPrefix(body, `{"respons`) {
				read = "Forms.Responses"
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := callOf(t, read).do(t.Context(), scriptedClient(t, answers(200, body)))
			runtime.ReadMemStats(&after)
			besides := 128 << 10
			if name == "an error" { // its text is made of copies of 64 KiB
				besides = 1 << 20
			}
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(12*len(body)+besides), "%s of %d bytes", name, len(body))
			if err != nil {
				require.ErrorIs(t, err, signforms.ErrUnavailable, name)
			}
			if name == "ordinary records" || name == "ids only" || name == "odd records" {
				require.NoError(t, err, name)
			}
		}
	}
	err := callOf(t, "Documents.List").do(t.Context(), scriptedClient(t, answers(200, largeAnswers(2 << 20)["empty records"])))
	require.EqualError(t, err, "list documents: 200: unavailable: unreadable answer: it would take too much memory: its records are many and nearly empty")
}

// TestErrorsNameTheMethod that was called, and not the operation below it.
func TestErrorsNameTheMethod(t *testing.T) {
	for name, want := range methodNames {
		call := callOf(t, name)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for what, err := range map[string]error{
			"answer":     call.do(t.Context(), scriptedClient(t, answers(404, ""))),
			"unreadable": call.do(t.Context(), scriptedClient(t, answers(200, "[]"))),
			"ended":      call.do(ended, scriptedClient(t, answers(200, "{}"))),
			"no answer": call.do(t.Context(), scriptedClient(t, transportFunc(func(*http.Request) (*http.Response, error) {
				return nil, http.ErrServerClosed
			}))),
		} {
			require.True(t, strings.HasPrefix(err.Error(), want+": "), "%s: %v", what, err)
			require.Equal(t, call.op, asError(t, err).Operation)
		}
	}
	_, err := scriptedClient(t, answers(200, "{}")).Templates.Respondent(t.Context(), "x")
	require.EqualError(t, err, "get respondent: invalid input: createdDocumentID must be an ObjectId, 24 hexadecimal digits")
}
