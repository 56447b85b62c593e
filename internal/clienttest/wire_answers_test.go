package clienttest_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// answerTests decodes every answer in testdata through the method that it answers, and compares what comes out with
// literal values.
var answerTests = map[string]func(*testing.T, *signforms.Client, string){
	"list_documents":               testListDocuments,
	"list_documents_no_pagination": testListDocumentsNoPagination,
	"list_documents_empty":         testListDocumentsEmpty,
	"list_documents_aliases":       testListDocumentsAliases,
	"list_documents_unknown":       testListDocumentsUnknown,
	"get_document":                 testGetDocument,
	"void_document": voids(signforms.PDFDocument(clienttest.PDFID),
		signforms.VoidResult{Message: "Document voided successfully"}),
	"void_document_again": voids(signforms.PDFDocument(clienttest.PDFID),
		signforms.VoidResult{Message: "Document is already voided", AlreadyVoided: true}),
	"void_document_message_only": voids(signforms.PDFDocument(clienttest.PDFID), signforms.VoidResult{Message: "Document voided successfully"}),
	"void_template_document": voids(signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID),
		signforms.VoidResult{Message: "Document voided successfully"}),
	"send_reminder": reminds(signforms.PDFDocument(clienttest.PDFID),
		signforms.RemindResult{Message: "Reminder sent successfully", Status: "PENDING", RemindersSent: new(1)}),
	"send_reminder_nobody": reminds(signforms.PDFDocument(paidID),
		signforms.RemindResult{Message: "No signer is pending", Status: "PAID", RemindersSent: new(0)}),
	"send_reminder_message_only": reminds(signforms.PDFDocument(clienttest.PDFID), signforms.RemindResult{Message: "Reminder sent successfully"}),
	"send_reminder_template_document": reminds(signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID),
		signforms.RemindResult{Message: "Reminder sent successfully", Status: "PENDING", RemindersSent: new(2)}),
	"list_templates":               testListTemplates,
	"list_templates_aliases":       testListTemplatesAliases,
	"get_template":                 testGetTemplate,
	"send_template":                testSendTemplate,
	"send_template_no_template_id": testSendTemplateNoTemplateID,
	"send_form":                    testSendForm,
	"list_respondents":             testListRespondents,
	"get_respondent":               testGetRespondent,
	"get_respondent_object":        testGetRespondent,
	"list_responses":               testListResponses,
	"get_response":                 testGetResponse,
}

const paidID = "f5f339d4-870b-4992-b6ed-eee3af9dd891"

func TestResponse_onTheWire(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(clienttest.Root(t), "testdata/answers/*.json"))
	require.NoError(t, err)
	tested := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if strings.HasPrefix(name, "error_") {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			require.Contains(t, answerTests, name)
			raw := clienttest.Testdata(t, "answers/"+name+".json")
			answerTests[name](t, clienttest.Scripted(t, clienttest.Answers(200, raw)), raw)
		})
	}
	require.Len(t, answerTests, tested, "every test needs its file")
}

func utc(year int, month time.Month, day, hour, minute, second, ms int) time.Time {
	return time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC)
}

// The people of testdata, see its README.
var (
	annPDF = signforms.Signer{Email: "ann@example.com", Name: clienttest.OddName, Status: "SIGNED", IP: "203.0.113.7", SigningOrderNo: 1}
	benPDF = signforms.Signer{Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: signforms.SignerPending, SigningOrderNo: 2}
	cyPDF  = signforms.Signer{Email: "cy@example.com", Name: "Çiğdem Yılmaz", Status: "SIGNED", IP: "2001:db8::7", SigningOrderNo: 2}
	lease  = signforms.Document{
		ID: clienttest.PDFID, Name: "Lease A & B <c> \"d\" \u2028 é 😀",
		URL:         "https://files.example.com/documents/602c2631-2d49-4647-a609-75331ebb0338.pdf",
		AuthorEmail: "olga.author@example.com", Status: "PENDING", SigningType: signforms.TypePDF, IsSigningOrder: true,
		Signers:   []signforms.Signer{annPDF, benPDF},
		CreatedAt: utc(2026, 11, 18, 10, 15, 30, 125), UpdatedAt: utc(2026, 11, 19, 7, 0, 0, 0),
	}
)

func testListDocuments(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Equal(t, new(8), page.Total)
	require.Zero(t, page.Next)

	require.Len(t, page.Items, 8)
	require.Equal(t, lease, page.Items[0])
	require.Equal(t, signforms.Document{
		ID: "3f9779c6-981a-4884-a0b2-21fc0e9a7283", Name: "Supply agreement 2026/11",
		URL:            "https://files.example.com/documents/3f9779c6-981a-4884-a0b2-21fc0e9a7283.pdf",
		FinishedPDFURL: "https://files.example.com/finished/3f9779c6-981a-4884-a0b2-21fc0e9a7283.pdf",
		AuthorEmail:    "olga.author@example.com", Status: "SIGNED", SigningType: "PDF", IsSigningOrder: true, IsAllSigned: true,
		Signers:   []signforms.Signer{annPDF, cyPDF},
		CreatedAt: utc(2026, 11, 17, 9, 0, 0, 0), UpdatedAt: utc(2026, 11, 18, 12, 30, 45, 678),
	}, page.Items[1])
	var statuses []signforms.DocumentStatus
	for _, d := range page.Items {
		statuses = append(statuses, d.Status)
	}
	require.Equal(t, []signforms.DocumentStatus{
		signforms.StatusPending, signforms.StatusSigned, signforms.StatusPaid, signforms.StatusDeclined,
		signforms.StatusExpired, signforms.StatusDeleted, signforms.StatusVoid, signforms.StatusDraft,
	}, statuses)
	require.True(t, page.Items[3].Signers[0].HasDeclined)
	require.Equal(t, signforms.SignerViewed, page.Items[3].Signers[0].Status)
	require.True(t, page.Items[6].IsArchived)
	require.Equal(t, signforms.SignerStatus("DRAFT"), page.Items[7].Signers[0].Status)
	require.Equal(t, signforms.SignerStatus(""), page.Items[7].Signers[1].Status)
}

func testListDocumentsNoPagination(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{Page: 4})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Len(t, page.Items, 3)
	require.Equal(t, new(8), page.Total, "documentsCount, which exceeds the page")
	require.Equal(t, 5, page.Next, "nothing says that this is the last page")
}

func testListDocumentsEmpty(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Empty(t, page.Items)
	require.Equal(t, new(0), page.Total)
	require.Zero(t, page.Next)
}

func testListDocumentsAliases(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw))
	require.Len(t, page.Items, 3)
	require.Equal(t, lease, page.Items[0], "other spellings, same document")
	require.Equal(t, "Lease, first draft", page.Items[1].Name)
	require.False(t, page.Items[1].IsSigningOrder)
	require.Equal(t, signforms.StatusVoid, page.Items[1].Status, "voided")
	require.Equal(t, signforms.StatusVoid, page.Items[2].Status, "Voided")
}

func testListDocumentsUnknown(t *testing.T, c *signforms.Client, raw string) {
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, raw, string(page.Raw), "unknown fields are there")
	require.Contains(t, string(page.Raw), `"requestCost": 1.5`)
	d := page.Items[0]
	require.Equal(t, signforms.DocumentStatus("ON_HOLD"), d.Status)
	require.True(t, d.Status.CanVoid())
	require.True(t, d.Status.CanRemind())
	require.Equal(t, signforms.SignerStatus("DELEGATED"), d.Signers[0].Status)
}

func testGetDocument(t *testing.T, c *signforms.Client, _ string) {
	d, err := c.Documents.Get(t.Context(), strings.ToUpper(clienttest.PDFID))
	require.NoError(t, err)
	require.Equal(t, &lease, d)
	require.Equal(t, signforms.PDFDocument(clienttest.PDFID), d.Ref())
}

// voids tests an answer to voiding; want has what the body decides.
func voids(ref signforms.DocumentRef, want signforms.VoidResult) func(*testing.T, *signforms.Client, string) {
	return func(t *testing.T, c *signforms.Client, raw string) {
		res, err := c.Documents.Void(t.Context(), ref)
		require.NoError(t, err)
		want.Raw, want.RequestID, want.StatusCode = signforms.RawResponse(raw), res.RequestID, 200
		require.Equal(t, &want, res)
	}
}

// reminds tests an answer to a reminder; want has what the body decides.
func reminds(ref signforms.DocumentRef, want signforms.RemindResult) func(*testing.T, *signforms.Client, string) {
	return func(t *testing.T, c *signforms.Client, raw string) {
		res, err := c.Documents.Remind(t.Context(), ref)
		require.NoError(t, err)
		want.Raw, want.RequestID, want.StatusCode = signforms.RawResponse(raw), res.RequestID, 200
		require.Equal(t, &want, res)
	}
}
