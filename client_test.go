package signforms_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// The ids of testdata, see its README.
const (
	pdfID        = "602c2631-2d49-4647-a609-75331ebb0338"
	templateID   = "65afe90c-6eab-4089-8a6f-5b870943305f"
	createdID    = "6afac610c07043658fde1996"
	formID       = "897c8dd4-830a-4a3b-b3e2-6747747385ba"
	responseID   = "6afdd62ad605997389b3a3dd"
	responseUUID = "c8c597f6-f2df-4656-b01d-090c847b0a17"
	workspaceID  = "976a7427-7845-4d16-82f6-d62c931da966"
	exampleKey   = "example-api-key"

	oddName = "Ann A & B <c> \"d\" \u2028 é 😀"
	oddRole = "Counsel & <Witness> (2) [é 😀]"
)

// transportFunc is a scripted transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answers is a transport that gives the same answer every time.
func answers(status int, body string) transportFunc {
	return func(req *http.Request) (*http.Response, error) { return reply(req, status, body), nil }
}

func reply(req *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// testOptions are fast and share no reminder budget.
func testOptions(now func() time.Time) *signforms.Options {
	return &signforms.Options{
		LimitStore: signforms.NewMemoryLimitStore(now), RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond,
	}
}

// clientOf returns a client of the reference service.
func clientOf(t testing.TB, srv *signformstest.Server, change ...func(*signforms.Options)) *signforms.Client {
	t.Helper()
	o := testOptions(srv.Now)
	o.WorkspaceID = srv.WorkspaceID
	for _, f := range change {
		f(o)
	}
	c, err := signforms.New(srv.URL, srv.APIKey, o)
	require.NoError(t, err)
	return c
}

// scriptedClient returns a client of a transport.
func scriptedClient(t testing.TB, transport http.RoundTripper, change ...func(*signforms.Options)) *signforms.Client {
	t.Helper()
	o := testOptions(nil)
	o.WorkspaceID = workspaceID
	o.HTTPClient = &http.Client{Transport: transport}
	for _, f := range change {
		f(o)
	}
	c, err := signforms.New("https://api.example.com/base/", exampleKey, o)
	require.NoError(t, err)
	return c
}

// testdata returns the text of a file.
func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(b)
}

// asError returns err as the *Error that every call's error is.
func asError(t testing.TB, err error) *signforms.Error {
	t.Helper()
	var e *signforms.Error
	require.ErrorAs(t, err, &e)
	return e
}

var sentinels = []error{
	signforms.ErrInvalid, signforms.ErrForbidden, signforms.ErrNotFound, signforms.ErrRefused, signforms.ErrRateLimited,
	signforms.ErrUnavailable, signforms.ErrOutcomeUnknown,
}

// requireMatches fails unless err matches these sentinels and no other.
func requireMatches(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, s := range sentinels {
		if slices.Contains(want, s) {
			require.ErrorIs(t, err, s)
		} else {
			require.NotErrorIs(t, err, s)
		}
	}
}

// aCall is a valid call of a method, with the ids of testdata.
type aCall struct {
	name string
	op   signforms.Operation
	do   func(context.Context, *signforms.Client) error
}

// anyAnswer is a success for every method that does not ask for one record.
const anyAnswer = `{"message":"ok","documents":[],"respondents":[],"responses":[],"createdDocumentId":"` + createdID + `"}`

// oneReceiver is the shortest list of receivers.
var oneReceiver = []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Client"}}

// everyCall is a call of every method that sends one request.
var everyCall = []aCall{
	{"Documents.List", signforms.OpListDocuments, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Documents.List(ctx, signforms.DocumentListParams{}))
	}},
	{"Documents.Get", signforms.OpListDocuments, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Documents.Get(ctx, pdfID))
	}},
	{"Documents.Void", signforms.OpVoidDocument, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Documents.Void(ctx, signforms.PDFDocument(pdfID)))
	}},
	{"Documents.Remind", signforms.OpSendReminder, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Documents.Remind(ctx, signforms.PDFDocument(pdfID)))
	}},
	{"Templates.List", signforms.OpListDocuments, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Templates.List(ctx, signforms.TemplateListParams{}))
	}},
	{"Templates.Get", signforms.OpListDocuments, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Templates.Get(ctx, templateID))
	}},
	{"Templates.Send", signforms.OpSend, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver}))
	}},
	{"Templates.Respondents", signforms.OpListRespondents, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Templates.Respondents(ctx, signforms.RespondentListParams{TemplateID: templateID}))
	}},
	{"Templates.Respondent", signforms.OpListRespondents, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Templates.Respondent(ctx, createdID))
	}},
	{"Forms.Send", signforms.OpSend, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: formID, Receivers: oneReceiver}))
	}},
	{"Forms.Responses", signforms.OpListResponses, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Forms.Responses(ctx, signforms.ResponseListParams{FormID: formID}))
	}},
	{"Forms.Response", signforms.OpListResponses, func(ctx context.Context, c *signforms.Client) error {
		return second(c.Forms.Response(ctx, responseID))
	}},
}

// methodNames are the words by which errors call the methods.
var methodNames = map[string]string{
	"Documents.List": "list documents", "Documents.Get": "get document", "Documents.Void": "void document", "Documents.Remind": "send reminder",
	"Templates.List": "list templates", "Templates.Get": "get template", "Templates.Send": "send template",
	"Templates.Respondents": "list respondents", "Templates.Respondent": "get respondent",
	"Forms.Send": "send form", "Forms.Responses": "list responses", "Forms.Response": "get response",
}

func second[T any](_ T, err error) error { return err }

// notRepeatable tells the operations that send mail.
func notRepeatable(op signforms.Operation) bool {
	return op == signforms.OpSend || op == signforms.OpSendReminder
}

// callOf returns the call of a method.
func callOf(t testing.TB, name string) aCall {
	t.Helper()
	i := slices.IndexFunc(everyCall, func(c aCall) bool { return c.name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return everyCall[i]
}
