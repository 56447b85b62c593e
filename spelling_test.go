package signforms_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// written makes a call with the endpoint of an operation overridden, and returns what the request looks like.
func written(t *testing.T, op signforms.Operation, e signforms.Endpoint, do func(*signforms.Client) error) string {
	t.Helper()
	rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
	c := clienttest.Scripted(t, rec, func(o *signforms.Options) { o.Endpoints = map[signforms.Operation]signforms.Endpoint{op: e} })
	require.NoError(t, do(c))
	require.Len(t, rec.Sent, 1)
	return line(rec.Sent[0])
}

func TestInputsCanBeSpelledOtherwise(t *testing.T) {
	e := signforms.Endpoint{
		Names: map[string]string{"status": "filter[status]", "page": "limit", "limit": "per_page", "documentType": "type", "dateTo": "until"},
		Values: map[string]map[string]string{"status": {"VOID": "voided"}, "archive": {"true": "1"}, "documentType": {"PDF": "pdf"},
			"sortOrder": {"asc": "desc", "desc": "asc"}},
		TimeLayout: signforms.UnixSeconds, PagesFromZero: true,
	}
	list := func(c *signforms.Client) error {
		return clienttest.Second(c.Documents.List(t.Context(), signforms.DocumentListParams{Status: signforms.StatusVoid, Archived: new(true), Page: 1, Limit: 3,
			SortOrder: signforms.OldestFirst, DateFrom: time.UnixMilli(1_700_000_000_999), DateTo: time.UnixMilli(1_700_000_001_001), Query: "a&b"}))
	}
	require.Equal(t, "GET /get-documents?archive=1&dateFrom=1700000000&filter%5Bstatus%5D=voided&limit=0&per_page=3&query=a%26b&sortOrder=desc&type=pdf&until=1700000002",
		written(t, signforms.OpListDocuments, e, list))
	e.Method, e.Inputs = "POST", signforms.InputsBody
	require.Equal(t, `POST /get-documents {"archive":1,"dateFrom":1700000000,"filter[status]":"voided","limit":0,"per_page":3,"query":"a\u0026b","sortOrder":"desc","type":"pdf","until":1700000002}`,
		written(t, signforms.OpListDocuments, e, list))
	for literal, want := range map[string]string{"1": `1`, "false": `false`, "1.5e3": `1.5e3`, "1_0": `"1_0"`, "NaN": `"NaN"`, "null": `"null"`, `[1]`: `"[1]"`, `"1"`: `"\"1\""`} {
		only := signforms.Endpoint{Method: "POST", Inputs: signforms.InputsBody, Values: map[string]map[string]string{"archive": {"true": literal, "false": "0"}}}
		require.Equal(t, `POST /get-documents {"archive":`+want+`,"documentType":"PDF"}`, written(t, signforms.OpListDocuments, only, func(c *signforms.Client) error {
			return clienttest.Second(c.Documents.List(t.Context(), signforms.DocumentListParams{Archived: new(true)}))
		}))
	}
	e.Values["archive"], e.TimeLayout = map[string]string{"true": "yes"}, time.DateOnly
	require.Equal(t, `POST /get-documents {"archive":"yes","dateFrom":"2023-11-14","filter[status]":"voided","limit":0,"per_page":3,"query":"a\u0026b","sortOrder":"desc","type":"pdf","until":"2023-11-14"}`,
		written(t, signforms.OpListDocuments, e, list))
	require.Equal(t, "GET /get-documents?documentType=PDF&status=IN_PROGRESS", written(t, signforms.OpListDocuments,
		signforms.Endpoint{Values: map[string]map[string]string{"status": {"VOID": "voided"}}}, func(c *signforms.Client) error {
			return clienttest.Second(c.Documents.List(t.Context(), signforms.DocumentListParams{Status: "IN_PROGRESS"}))
		}), "a status that has no constant is sent as it is")
	require.Equal(t, "POST /documents/pdf/"+clienttest.PDFID+"/void?id="+clienttest.PDFID+"&type=pdf", written(t, signforms.OpVoidDocument, signforms.Endpoint{
		Path: "/documents/{documentType}/{documentId}/void", Inputs: signforms.InputsQuery, Names: map[string]string{"documentId": "id", "documentType": "type"},
		Values: map[string]map[string]string{"documentType": {"PDF": "pdf"}},
	}, func(c *signforms.Client) error {
		return clienttest.Second(c.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID)))
	}), "the path keeps the names of this SDK")
}

func TestNestedInputsCanBeSpelledOtherwise(t *testing.T) {
	got := written(t, signforms.OpSend, signforms.Endpoint{
		Path: "/send/{signingType}",
		Names: map[string]string{"receiversList": "receivers", "receiversList.name": "email", "receiversList.email": "name", "mailData": "mail",
			"mailData.subject": "title", "customVariables.varName": "key", "pdfData": "file"},
		Values: map[string]map[string]string{"signingType": {"PDF_TEMPLATE": "template"}, "pdfData": {"data:application/pdf;base64,": ""}},
	}, func(c *signforms.Client) error {
		return clienttest.Second(c.Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, PDF: []byte("%PDF"),
			Receivers: []signforms.Receiver{{Name: "PDF_TEMPLATE", Email: "a@b.c", RoleTitle: "<R&D>", Subject: "s"}}, Mail: signforms.Mail{Subject: "t", Message: "m"},
			Variables: []signforms.CustomVariable{{Name: "[name]", Value: ""}}}))
	})
	require.Equal(t, `POST /send/template {"customVariables":[{"key":"[name]","varValue":""}],"documentId":"`+clienttest.TemplateID+`","file":"JVBERg==",`+
		`"mail":{"message":"m","title":"t"},"receivers":[{"email":"PDF_TEMPLATE","name":"a@b.c","roleTitle":"\u003cR\u0026D\u003e","subject":"s"}],"signingType":"template"}`, got)
}

// TestEndpointsAreCopied: a client does not change with the maps that it was made with.
func TestEndpointsAreCopied(t *testing.T) {
	names, values := map[string]string{"documentId": "id"}, map[string]string{"PDF": "pdf"}
	rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
	c := clienttest.Scripted(t, rec, func(o *signforms.Options) {
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Names: names, Inputs: signforms.InputsQuery,
			Values: map[string]map[string]string{"documentType": values}}}
	})
	names["documentId"], values["PDF"] = "other", "other"
	require.NoError(t, clienttest.Second(c.Documents.Void(t.Context(), signforms.PDFDocument(clienttest.PDFID))))
	require.Equal(t, "POST /void-document?documentType=pdf&id="+clienttest.PDFID, line(rec.Sent[0]))
}

func TestBadSpellingsAreRefused(t *testing.T) {
	names := func(name, as string) signforms.Endpoint {
		return signforms.Endpoint{Names: map[string]string{name: as}}
	}
	values := func(input, ours, theirs string) signforms.Endpoint {
		return signforms.Endpoint{Values: map[string]map[string]string{input: {ours: theirs}}}
	}
	for _, c := range []struct {
		op       signforms.Operation
		endpoint signforms.Endpoint
		want     string
	}{
		{op: signforms.OpVoidDocument, endpoint: names("page", "p"), want: `Names holds "page", which is not an input; it may hold documentId, documentType, responseId`},
		{op: signforms.OpSend, endpoint: names("name", "n"), want: `Names holds "name", which is not an input; it may hold documentId, signingType, receiversList, receiversList.name`},
		{op: signforms.OpVoidDocument, endpoint: names("documentId", ""), want: `Names["documentId"] is "": a name must not be empty, nor hold blanks or what cannot be printed`},
		{op: signforms.OpVoidDocument, endpoint: names("documentId", "a b"), want: "nor hold blanks"},
		{op: signforms.OpVoidDocument, endpoint: names("documentId", "a\r\nb"), want: "nor hold blanks"},
		{op: signforms.OpVoidDocument, endpoint: names("documentId", "a\xff"), want: "nor hold blanks"},
		{op: signforms.OpVoidDocument, endpoint: names("documentId", "responseId"), want: `Names: documentId and responseId would both be called "responseId"`},
		{op: signforms.OpSend, endpoint: names("receiversList.name", "email"), want: `Names: receiversList.name and receiversList.email would both be called "email"`},
		{op: signforms.OpSend, endpoint: names("receiversList.name", "receivers.name"), want: `Names["receiversList.name"] is "receivers.name": write its last name only`},
		{op: signforms.OpListDocuments, endpoint: values("query", "a", "b"),
			want: `Values holds "query", which has no literals here; it may hold documentType, status, archive, sortOrder`},
		{op: signforms.OpListResponses, endpoint: values("sortOrder", "asc", "up"), want: `Values holds "sortOrder", which has no literals here; it may hold nothing`},
		{op: signforms.OpListDocuments, endpoint: values("sortOrder", "ascending", "asc"),
			want: `Values["sortOrder"] holds "ascending", which is not a literal of this SDK; it may hold asc, desc`},
		{op: signforms.OpListDocuments, endpoint: values("sortOrder", "asc", ""), want: `Values["sortOrder"]["asc"] is "": a literal must not be empty`},
		{op: signforms.OpListDocuments, endpoint: values("sortOrder", "asc", "desc"), want: `Values["sortOrder"]: asc and desc would both be written "desc"`},
		{op: signforms.OpListDocuments, endpoint: values("status", "VOID", "\x00"), want: `Values["status"]["VOID"] is "\x00": a literal must not be empty, nor hold`},
		{op: signforms.OpListDocuments, endpoint: signforms.Endpoint{TimeLayout: "YYYY-MM-DD"}, want: `TimeLayout "YYYY-MM-DD" cannot be read back as a day or a time`},
		{op: signforms.OpListDocuments, endpoint: signforms.Endpoint{TimeLayout: "2006-01"}, want: `TimeLayout "2006-01" cannot be read back`},
		{op: signforms.OpListDocuments, endpoint: signforms.Endpoint{TimeLayout: "2006-01-02 03:04"}, want: "cannot be read back"},
		{op: signforms.OpListDocuments, endpoint: signforms.Endpoint{TimeLayout: time.Kitchen}, want: "cannot be read back"},
		{op: signforms.OpListResponses, endpoint: signforms.Endpoint{TimeLayout: time.RFC3339}, want: "TimeLayout: this operation has no times: leave it empty"},
		{op: signforms.OpSend, endpoint: signforms.Endpoint{PagesFromZero: true}, want: "PagesFromZero: this operation has no pages: leave it false"},
	} {
		_, err := signforms.New("https://x", clienttest.APIKey, &signforms.Options{Endpoints: map[signforms.Operation]signforms.Endpoint{c.op: c.endpoint}})
		require.ErrorContains(t, err, `Options.Endpoints["`+string(c.op)+`"] cannot be used: `)
		require.ErrorContains(t, err, c.want)
		require.ErrorIs(t, err, signforms.ErrInvalid)
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, time.RFC3339Nano, "02/01/06", "2006-01-02T15:04:05-0700", "Jan _2 2006 3PM", signforms.UnixMilliseconds} {
		_, err := signforms.New("https://x", clienttest.APIKey, &signforms.Options{Endpoints: map[signforms.Operation]signforms.Endpoint{
			signforms.OpListDocuments: {TimeLayout: layout}}})
		require.NoError(t, err, layout)
	}
}
