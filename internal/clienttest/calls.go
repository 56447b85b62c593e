package clienttest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// The ids in testdata; see the README there.
const (
	PDFID        = "602c2631-2d49-4647-a609-75331ebb0338"
	TemplateID   = "65afe90c-6eab-4089-8a6f-5b870943305f"
	CreatedID    = "6afac610c07043658fde1996"
	FormID       = "897c8dd4-830a-4a3b-b3e2-6747747385ba"
	ResponseID   = "6afdd62ad605997389b3a3dd"
	ResponseUUID = "c8c597f6-f2df-4656-b01d-090c847b0a17"
	WorkspaceID  = "976a7427-7845-4d16-82f6-d62c931da966"
	APIKey       = "example-api-key"

	OddName = "Ann A & B <c> \"d\" \u2028 é 😀"
	OddRole = "Counsel & <Witness> (2) [é 😀]"
)

// A Call is a valid call of a method, with the ids of testdata.
type Call struct {
	Name string // such as Documents.Get
	Says string // name of the method in the text of errors
	Op   signforms.Operation
	Do   func(context.Context, *signforms.Client) error
}

// SendsMail reports whether the call sends mail, so that it must not be repeated blindly.
func (c Call) SendsMail() bool { return c.Op == signforms.OpSend || c.Op == signforms.OpRemind }

// CallOf returns the call of a method.
func CallOf(t testing.TB, name string) Call {
	t.Helper()
	i := slices.IndexFunc(Calls, func(c Call) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return Calls[i]
}

// Second drops the result of a call.
func Second[T any](_ T, err error) error { return err }

// AnyAnswer is the body of a success for every method that does not return one record.
const AnyAnswer = `{"message":"ok","documents":[],"respondents":[],"responses":[],"createdDocumentId":"` + CreatedID + `"}`

// OneReceiver is the shortest list of receivers.
var OneReceiver = []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Client"}}

// Calls has a call of every method of Documents, Templates and Forms that sends one request.
var Calls = []Call{
	{Name: "Documents.List", Says: "list documents", Op: signforms.OpListDocuments, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Documents.List(ctx, signforms.DocumentListParams{}))
	}},
	{Name: "Documents.Get", Says: "get document", Op: signforms.OpListDocuments, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Documents.Get(ctx, PDFID))
	}},
	{Name: "Documents.Void", Says: "void document", Op: signforms.OpVoidDocument, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Documents.Void(ctx, signforms.PDFDocument(PDFID)))
	}},
	{Name: "Documents.Remind", Says: "send reminder", Op: signforms.OpRemind, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Documents.Remind(ctx, signforms.PDFDocument(PDFID)))
	}},
	{Name: "Templates.List", Says: "list templates", Op: signforms.OpListDocuments, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Templates.List(ctx, signforms.TemplateListParams{}))
	}},
	{Name: "Templates.Get", Says: "get template", Op: signforms.OpListDocuments, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Templates.Get(ctx, TemplateID))
	}},
	{Name: "Templates.Send", Says: "send template", Op: signforms.OpSend, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: TemplateID, Receivers: OneReceiver}))
	}},
	{Name: "Respondents.List", Says: "list respondents", Op: signforms.OpListRespondents, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: TemplateID}))
	}},
	{Name: "Respondents.Get", Says: "get respondent", Op: signforms.OpListRespondents, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Respondents.Get(ctx, CreatedID))
	}},
	{Name: "Forms.Send", Says: "send form", Op: signforms.OpSend, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: FormID, Receivers: OneReceiver}))
	}},
	{Name: "FormResponses.List", Says: "list form responses", Op: signforms.OpListFormResponses, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: FormID}))
	}},
	{Name: "FormResponses.Get", Says: "get form response", Op: signforms.OpListFormResponses, Do: func(ctx context.Context, c *signforms.Client) error {
		return Second(c.FormResponses.Get(ctx, ResponseID))
	}},
}
