package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// wireRequest is a file of testdata/requests.
type wireRequest struct {
	Method string
	Path   string
	Query  map[string]string
	Header map[string]string
	Body   json.RawMessage
}

// wireCalls makes, for every file of testdata/requests, the call that should produce it.
var wireCalls = map[string]func(context.Context, *signforms.Client) error{
	"list_documents": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{
			Status: signforms.StatusPending, DocumentID: clienttest.PDFID, Archived: new(false), SortOrder: signforms.OldestFirst, Page: 1, Limit: 25,
			DateFrom: time.Date(2026, 11, 1, 2, 0, 0, 0, time.FixedZone("", 2*60*60)),
			DateTo:   time.Date(2026, 11, 19, 23, 59, 59, 999_999_999, time.UTC),
			Query:    "Lease A & B <c> \"d\" \u2028 é 😀",
		}))
	},
	"list_templates": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.List(ctx, signforms.TemplateListParams{
			Archived: new(true), SortOrder: signforms.NewestFirst, Page: 2, Limit: 100, Query: "Engagement letter",
			DateFrom: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
			DateTo:   time.Date(2026, 11, 19, 23, 59, 59, 999_000_000, time.UTC),
		}))
	},
	"get_document": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Get(ctx, clienttest.PDFID))
	},
	"get_template": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Get(ctx, clienttest.TemplateID))
	},
	"void_document": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Void(ctx, signforms.PDFDocument(clienttest.PDFID)))
	},
	"void_template_document": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Void(ctx, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID)))
	},
	"send_reminder": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Remind(ctx, signforms.PDFDocument(clienttest.PDFID)))
	},
	"send_reminder_template_document": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Remind(ctx, signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID)))
	},
	"send_template": sendTheTemplate,
	"send_form":     sendTheForm,
	"list_respondents": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: clienttest.TemplateID, Page: 1, Limit: 10}))
	},
	"get_respondent": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Respondents.Get(ctx, clienttest.CreatedID))
	},
	"list_responses": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: clienttest.FormID, Page: 1, Limit: 10}))
	},
	"get_response": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.Get(ctx, clienttest.ResponseID))
	},
	"get_response_uuid": func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.Get(ctx, clienttest.ResponseUUID))
	},
}

func sendTheTemplate(ctx context.Context, c *signforms.Client) error {
	return clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: clienttest.TemplateID,
		Receivers: []signforms.Receiver{
			{Name: clienttest.OddName, Email: "ann@example.com", RoleTitle: "Client", RoleColor: "#1F6FEB",
				Subject: "Please sign, Ann", Message: "Line one\nLine two: <b>& more</b>"},
			{Name: "Ben O'Neil", Email: "ben.o'neil+legal@example.com", RoleTitle: clienttest.OddRole, RoleColor: "#BF3989"},
		},
		Mail:      signforms.Mail{Subject: "Engagement letter A & B <c> \"d\" \u2028 é 😀", Message: "Please read and sign by Friday."},
		Variables: []signforms.Variable{{Name: "[client]", Value: "A & B <c> Ltd"}, {Name: "[fee in €]", Value: "1,250.00"}},
		PDF:       []byte("%PDF-1.4\n%%EOF\n"),
	}))
}

func sendTheForm(ctx context.Context, c *signforms.Client) error {
	return clienttest.Second(c.Forms.Send(ctx, signforms.FormSendParams{
		FormID: clienttest.FormID,
		Receivers: []signforms.Receiver{
			{Name: "Çiğdem Yılmaz", Email: "cy@example.com", Subject: "Your details, please", Message: "Five minutes at most."},
			{Name: clienttest.OddName, Email: "ann@example.com"},
		},
		Mail:      signforms.Mail{Subject: "Client intake", Message: "Please fill in the form."},
		Variables: []signforms.Variable{{Name: "[office]", Value: "Zürich"}},
	}))
}

// answeredBy names the answer to a request where it is not called the same.
var answeredBy = map[string]string{"get_response_uuid": "get_response"}

func TestRequest_onTheWire(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(clienttest.Root(t), "testdata/requests/*.json"))
	require.NoError(t, err)
	require.Len(t, files, len(wireCalls)+1, "every file needs its call, every call its file")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "get_respondent_both" { // the client sends one of the two
			continue
		}
		t.Run(name, func(t *testing.T) {
			var want wireRequest
			require.NoError(t, json.Unmarshal([]byte(clienttest.Testdata(t, "requests/"+name+".json")), &want))
			answer := name
			if other, ok := answeredBy[name]; ok {
				answer = other
			}
			rec := &clienttest.Recorder{Answer: clienttest.Testdata(t, "answers/"+answer+".json")}
			require.Contains(t, wireCalls, name)
			require.NoError(t, wireCalls[name](t.Context(), clienttest.Scripted(t, rec)))
			require.Len(t, rec.Sent, 1)
			want.require(t, rec.Sent[0])
		})
	}
}

func (want wireRequest) require(t *testing.T, got clienttest.Sent) {
	t.Helper()
	require.Equal(t, want.Method, got.Method)
	require.Equal(t, "api.example.com", got.URL.Host)
	require.Equal(t, "/base"+want.Path, got.URL.EscapedPath())
	query := map[string]string{}
	for name, values := range got.URL.Query() {
		require.Len(t, values, 1, name)
		query[name] = values[0]
	}
	require.Equal(t, want.Query, query)
	header := http.Header{}
	for name, value := range want.Header {
		header.Set(name, value)
	}
	id, err := uuid.Parse(got.Header.Get("X-Request-Id"))
	require.NoError(t, err)
	require.Equal(t, uuid.Version(4), id.Version())
	header.Set("X-Request-Id", id.String())
	header.Set("User-Agent", "signforms-go/"+signforms.Version())
	if want.Method == http.MethodGet {
		header.Set("Cache-Control", "no-cache")
	}
	require.Equal(t, header, got.Header)
	if want.Body == nil {
		require.Empty(t, got.Content)
		require.Zero(t, got.ContentLength)
		return
	}
	require.Equal(t, int64(len(got.Content)), got.ContentLength)
	require.Equal(t, jsonValue(t, want.Body), jsonValue(t, got.Content))
}

// jsonValue decodes one JSON value without rounding numbers.
func jsonValue(t *testing.T, b []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v))
	_, err := dec.Token()
	require.ErrorIs(t, err, io.EOF, "something follows the JSON value")
	return v
}

func TestOptions_headers(t *testing.T) {
	rec := &clienttest.Recorder{Answer: clienttest.Testdata(t, "answers/list_documents_empty.json")}
	client := clienttest.Scripted(t, rec, func(o *signforms.Options) { o.WorkspaceID, o.UserAgent = "", "app/2.1 (ops)" })
	for range 2 {
		require.NoError(t, clienttest.Second(client.Documents.List(t.Context(), signforms.DocumentListParams{})))
	}
	require.NotContains(t, rec.Sent[0].Header, "Workspaceid")
	require.Equal(t, "app/2.1 (ops) signforms-go/"+signforms.Version(), rec.Sent[0].Header.Get("User-Agent"))
	require.NotEqual(t, rec.Sent[0].Header.Get("X-Request-Id"), rec.Sent[1].Header.Get("X-Request-Id"), "each call has its own id")
}

// TestPDF_isStandardBase64: of the two alphabets, that of data URLs.
func TestPDF_isStandardBase64(t *testing.T) {
	rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
	require.NoError(t, clienttest.Second(clienttest.Scripted(t, rec).Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver, PDF: []byte{0xfb, 0xef, 0xff, 0x00}})))
	require.Contains(t, string(rec.Sent[0].Content), `"pdfData":"data:application/pdf;base64,++//AA=="`)
}

// TestRequest_optionalInputsAreLeftOut looks at the shortest calls: what the caller did not give is not sent, not even empty.
func TestRequest_optionalInputsAreLeftOut(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{name: "Documents.List", want: `{"documentType":"PDF"}`},
		{name: "Templates.List", want: `{"documentType":"PDF_TEMPLATE"}`},
		{name: "Respondents.List", want: `{"templateId":"` + clienttest.TemplateID + `"}`},
		{name: "FormResponses.List", want: `{"formId":"` + clienttest.FormID + `"}`},
		{name: "Templates.Send", want: `{"signingType":"PDF_TEMPLATE","documentId":"` + clienttest.TemplateID + `",
			"receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Client"}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
			for _, call := range clienttest.Calls {
				if call.Name == row.name {
					require.NoError(t, call.Do(t.Context(), clienttest.Scripted(t, rec)))
				}
			}
			require.Len(t, rec.Sent, 1)
			got := rec.Sent[0].Content
			if len(got) == 0 {
				flat := map[string]string{}
				for k, v := range rec.Sent[0].URL.Query() {
					flat[k] = v[0]
				}
				var err error
				got, err = json.Marshal(flat)
				require.NoError(t, err)
			}
			require.JSONEq(t, row.want, string(got))
		})
	}
}

// TestResult_requestID: a success names its request and status as an error does, whatever its body says.
func TestResult_requestID(t *testing.T) {
	rec := &clienttest.Recorder{Answer: `{"message":"ok","createdDocumentId":"` + clienttest.CreatedID + `","requestId":"other","statusCode":201}`}
	c, ctx := clienttest.Scripted(t, rec), t.Context()
	voided, err := c.Documents.Void(ctx, signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	reminded, err := c.Documents.Remind(ctx, signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	sent, err := c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	form, err := c.Forms.Send(ctx, signforms.FormSendParams{FormID: clienttest.FormID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	var want []string
	for _, s := range rec.Sent {
		want = append(want, s.Header.Get("X-Request-Id"))
	}
	require.Equal(t, want, []string{voided.RequestID, reminded.RequestID, sent.RequestID, form.RequestID})
	require.Equal(t, []int{200, 200, 200, 200}, []int{voided.StatusCode, reminded.StatusCode, sent.StatusCode, form.StatusCode})
}
