package webhook_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// odd is the text that JSON printers disagree on.
const odd = "A & B <c> \"d\" \u2028 é 😀"

// parseFile decodes testdata/events/<name>.json, which holds one event, and checks what every event has.
func parseFile[E webhook.Event](t *testing.T, name string) E {
	t.Helper()
	body, err := os.ReadFile("../testdata/events/" + name + ".json")
	require.NoError(t, err)
	events, err := webhook.Parse(body)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, strings.TrimSuffix(strings.TrimPrefix(string(body), "["), "]"), string(events[0].Raw()))
	require.Equal(t, strings.HasSuffix(name, "_untyped"), events[0].Inferred())
	event, ok := events[0].(E)
	require.True(t, ok, "%s is decoded as %T: %+v", name, events[0], events[0])
	return event
}

func TestParseFormResponse(t *testing.T) {
	for _, name := range []string{"new_form_response", "new_form_response_object", "new_form_response_untyped", "new_form_response_older"} {
		e := parseFile[*webhook.FormResponse](t, name)
		require.Equal(t, webhook.EventType("new_form_response"), e.EventType())
		require.Equal(t, "897c8dd4-830a-4a3b-b3e2-6747747385ba", e.FormID)
		require.Equal(t, "c8c597f6-f2df-4656-b01d-090c847b0a17", e.FormResponseID)
		require.Equal(t, e.FormResponseID, e.SubjectID())
		require.Equal(t, "Client intake "+odd, e.FormTitle)
		require.Equal(t, "https://files.example.com/finished/c8c597f6-f2df-4656-b01d-090c847b0a17.pdf", e.FinishedPDFURL, name)
		require.Equal(t, "ann@example.com", e.RespondentEmail)
		require.Equal(t, []webhook.Answer{
			{ID: "q1", Question: "Full legal name", Answer: odd},
			{ID: "q2", Question: "Line of business? <b>& co.</b>", Answer: "Fish & chips"},
			{ID: "q3", Question: "Anything else", Answer: "Line one\nLine two \\ \"quoted\""},
		}, e.Answers)
	}
}

var (
	lease = webhook.Document{
		DocumentName: "Lease " + odd,
		DocumentID:   "602c2631-2d49-4647-a609-75331ebb0338",
		DocumentURL:  "https://files.example.com/documents/602c2631-2d49-4647-a609-75331ebb0338.pdf",
		AuthorEmail:  "olga.author@example.com",
	}
	supply = webhook.Document{
		DocumentName: "Supply agreement 2026/11",
		DocumentID:   "3f9779c6-981a-4884-a0b2-21fc0e9a7283",
		DocumentURL:  "https://files.example.com/documents/3f9779c6-981a-4884-a0b2-21fc0e9a7283.pdf",
		AuthorEmail:  "olga.author@example.com",
	}
)

// engagement is the template's document; each created from it has a URL of its own.
func engagement(created string) webhook.Document {
	return webhook.Document{
		DocumentName: "Engagement letter " + odd,
		DocumentID:   "65afe90c-6eab-4089-8a6f-5b870943305f",
		DocumentURL:  "https://files.example.com/documents/" + created + ".pdf",
		AuthorEmail:  "olga.author@example.com",
	}
}

func TestParseSignatureViewed(t *testing.T) {
	const name = "new_signature_pdf_individual_viewed"
	for _, file := range []string{name, name + "_object", name + "_untyped"} {
		e := parseFile[*webhook.SignatureViewed](t, file)
		ann := webhook.Signer{Email: "ann@example.com", Name: "Ann " + odd, Status: webhook.SignerViewed, SignerIP: "203.0.113.7"}
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, lease, e.Document)
		require.Equal(t, lease.DocumentID, e.SubjectID())
		require.Equal(t, []webhook.Signer{ann, {Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: webhook.SignerPending}}, e.Signers)
		require.Equal(t, ann, e.ViewedBy.Signer)
		require.Equal(t, time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC), e.ViewedBy.ViewedAt)
	}
}

func TestParseSignatureSigned(t *testing.T) {
	const name = "new_signature_pdf_individual_signed"
	for _, file := range []string{name, name + "_object", name + "_untyped"} {
		e := parseFile[*webhook.SignatureSigned](t, file)
		ann := webhook.Signer{Email: "ann@example.com", Name: "Ann " + odd, Status: webhook.SignerSigned, SignerIP: "203.0.113.7", SigningOrderNo: 1}
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, lease, e.Document)
		require.True(t, e.IsSigningOrder)
		require.Equal(t, []webhook.Signer{ann, {Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: webhook.SignerPending, SigningOrderNo: 2}}, e.Signers)
		require.Equal(t, ann, e.SignedBy.Signer)
		require.Equal(t, time.Date(2026, 11, 19, 7, 0, 0, 0, time.UTC), e.SignedBy.SignedAt)
	}
}

func TestParseSignatureCompleted(t *testing.T) {
	const name = "new_signature_pdf_completed"
	for _, file := range []string{name, name + "_object", name + "_untyped", name + "_dynamic"} {
		e := parseFile[*webhook.SignatureCompleted](t, file)
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, supply, e.Document)
		require.Equal(t, "https://files.example.com/finished/3f9779c6-981a-4884-a0b2-21fc0e9a7283.pdf", e.FinishedPDFURL)
		require.Equal(t, []webhook.Signer{
			{Email: "ann@example.com", Name: "Ann " + odd, Status: "SIGNED", SignerIP: "203.0.113.7"},
			{Email: "cy@example.com", Name: "Çiğdem Yılmaz", Status: "SIGNED", SignerIP: "2001:db8::7"},
		}, e.Signers)
		var fields []webhook.Field
		if strings.HasSuffix(file, "_dynamic") {
			fields = []webhook.Field{
				{Kind: "contact_field", Page: 1, Label: "Ann " + odd, Value: "+41 44 000 00 00", Key: "contact_field(page1)[Ann " + odd + "]"},
				{Kind: "text", Page: 3, Label: "Çiğdem (Legal) [1]", Value: "read & agreed", Key: "text(page3)[Çiğdem (Legal) [1]]"},
			}
		}
		require.Equal(t, fields, e.Fields)
	}
}

func TestParseTemplateViewed(t *testing.T) {
	const name = "new_template_response_individual_viewed"
	for _, file := range []string{name, name + "_object", name + "_untyped"} {
		e := parseFile[*webhook.TemplateViewed](t, file)
		ann := webhook.Signer{RoleTitle: "Client", Email: "ann@example.com", Name: "Ann " + odd, Status: "VIEWED", SignerID: "9656bc85-46e1-40d9-828b-81cb4e134d01"}
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, engagement("6afac610c07043658fde1996"), e.Document)
		require.Equal(t, []webhook.Signer{ann, {RoleTitle: "Counsel & <Witness> (2) [é 😀]", Email: "ben.o'neil+legal@example.com",
			Name: "Ben O'Neil", Status: "PENDING", SignerID: "099a5a1c-db4e-44db-91ce-db9c092a8014"}}, e.Signers)
		require.Equal(t, ann, e.ViewedBy.Signer)
		require.Equal(t, time.Date(2026, 11, 16, 10, 1, 2, 3_000_000, time.UTC), e.ViewedBy.ViewedAt)
	}
}

// templateSigners are Cy, who has signed, and Ben, with their places in the signing order.
func templateSigners(ben webhook.SignerStatus) []webhook.Signer {
	return []webhook.Signer{
		{RoleTitle: "Client", Email: "cy@example.com", Name: "Çiğdem Yılmaz", Status: "SIGNED",
			SignerID: "f333ef21-0d46-418f-964e-dbe0f6826647", SigningOrderNo: 1},
		{RoleTitle: "Counsel & <Witness> (2) [é 😀]", Email: "ben.o'neil+legal@example.com", Name: "Ben O'Neil", Status: ben,
			SignerID: "bdcc982a-544b-4bd5-9f9e-958e5debffa0", SigningOrderNo: 2},
	}
}

func TestParseTemplateSigned(t *testing.T) {
	const name = "new_template_response_individual_signed"
	for _, file := range []string{name, name + "_object", name + "_untyped"} {
		e := parseFile[*webhook.TemplateSigned](t, file)
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, engagement("6af5cb15f4f35018c124817b"), e.Document)
		require.True(t, e.IsSigningOrder)
		require.Equal(t, templateSigners("PENDING"), e.Signers)
		require.Equal(t, templateSigners("")[0], e.SignedBy.Signer)
		require.Equal(t, time.Date(2026, 11, 12, 15, 2, 10, 0, time.UTC), e.SignedBy.SignedAt)
	}
}

func TestParseTemplateResponse(t *testing.T) {
	const name = "new_template_response"
	for _, file := range []string{name, name + "_object", name + "_untyped"} {
		e := parseFile[*webhook.TemplateResponse](t, file)
		require.Equal(t, webhook.EventType(name), e.EventType())
		require.Equal(t, engagement("6af5cb15f4f35018c124817b"), e.Document)
		require.Equal(t, "https://files.example.com/finished/6af5cb15f4f35018c124817b.pdf", e.FinishedPDFURL)
		signers := templateSigners("SIGNED")
		signers[0].SigningOrderNo, signers[1].SigningOrderNo = 0, 0 // which only the signed events tell
		require.Equal(t, signers, e.Signers)
		require.Equal(t, []webhook.Field{
			{Kind: "contact_field", Page: 1, Label: "Client", Value: "Çiğdem Yılmaz, cy@example.com", Key: "contact_field(page1)[Client]"},
			{Kind: "text", Page: 2, Label: "Counsel & <Witness> (2) [é 😀]", Value: "A & B <c> \"d\" \u2028\u2029 é 😀",
				Key: "text(page2)[Counsel & <Witness> (2) [é 😀]]"},
			{Kind: "date", Page: 12, Label: "Client", Value: "2026-11-12", Key: "date(page12)[Client]"},
			{Kind: "name", Page: 1, Label: "", Value: "", Key: "name(page1)[]"},
		}, e.Fields)
	}
}

func TestParseUnknownEvent(t *testing.T) {
	e := parseFile[*webhook.UnknownEvent](t, "unknown_event")
	require.Equal(t, webhook.EventType("new_document_archived"), e.EventType())
	require.NoError(t, e.Err)
	require.Equal(t, "53699a45-6249-46cc-b5b9-16e042a9dee7", e.SubjectID())
}

func TestParseBatch(t *testing.T) {
	body, err := os.ReadFile("../testdata/events/batch.json")
	require.NoError(t, err)
	events, err := webhook.Parse(body)
	require.NoError(t, err)
	var types []webhook.EventType
	for _, e := range events {
		types = append(types, e.EventType())
		require.False(t, e.Inferred())
		require.NotContains(t, string(e.Raw()), `},{"webhookEvent"`)
	}
	require.Equal(t, []webhook.EventType{"new_form_response", "new_signature_pdf_individual_viewed", "new_signature_pdf_individual_signed",
		"new_signature_pdf_completed", "new_template_response_individual_viewed", "new_template_response_individual_signed",
		"new_template_response"}, types)
	require.Equal(t, "Çiğdem Yılmaz", events[3].(*webhook.SignatureCompleted).Signers[1].Name, "lists share memory, not content")
	require.Equal(t, "Ann "+odd, events[4].(*webhook.TemplateViewed).Signers[0].Name)
}

func TestParseEmptyArray(t *testing.T) {
	events, err := webhook.Parse([]byte(" [ ] "))
	require.NoError(t, err)
	require.Empty(t, events)
}
