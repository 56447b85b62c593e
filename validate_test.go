package signforms_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// personal is part of every invalid input, and must not be in any error.
const personal = "Pia-Personal"

// notUTF8 is what JSON cannot carry.
const notUTF8 = personal + "\xff"

var manyReceivers = make([]signforms.Receiver, 101)

// wrongInputs lists calls with everything wrong that can be, and the fields that the error must name, in this order.
var wrongInputs = []struct {
	name   string
	call   func(context.Context, *signforms.Client) error
	fields []string
}{
	{name: "Documents.List", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{DocumentID: personal, SortOrder: personal, Page: -1, Limit: 101,
			DateFrom: time.Unix(2, 0), DateTo: time.Unix(1, 0)}))
	}, fields: []string{"DocumentID", "DateFrom", "SortOrder", "Page", "Limit"}},
	{name: "Documents.All", call: func(ctx context.Context, c *signforms.Client) error {
		for _, err := range c.Documents.All(ctx, signforms.DocumentListParams{DocumentID: personal, Limit: -1}) {
			return err
		}
		return nil
	}, fields: []string{"DocumentID", "Limit"}},
	{name: "Templates.List", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.List(ctx, signforms.TemplateListParams{TemplateID: personal, SortOrder: personal, Page: -1, Limit: -1,
			DateFrom: time.Unix(2, 0), DateTo: time.Unix(1, 0)}))
	}, fields: []string{"TemplateID", "DateFrom", "SortOrder", "Page", "Limit"}},
	{name: "Documents.Get", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Get(ctx, ""))
	}, fields: []string{"documentID"}},
	{name: "Templates.Get", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Get(ctx, "{"+clienttest.TemplateID+"}"))
	}, fields: []string{"templateID"}},
	{name: "Void of nothing", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Void(ctx, signforms.DocumentRef{}))
	}, fields: []string{"DocumentRef"}},
	{name: "Void of a PDF", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Void(ctx, signforms.PDFDocument(clienttest.CreatedID)))
	}, fields: []string{"documentID"}},
	{name: "Remind of a template's document", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Remind(ctx, signforms.TemplateDocument(clienttest.CreatedID, clienttest.TemplateID)))
	}, fields: []string{"templateID", "documentID"}},
	{name: "Templates.Send of nothing", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{}))
	}, fields: []string{"TemplateID", "Receivers"}},
	{name: "Templates.Send", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: personal,
			Receivers: []signforms.Receiver{{}, {Name: personal, Email: " ", RoleTitle: "Client"}},
			Variables: []signforms.Variable{{Name: "[v1]"}, {Name: personal}, {Name: "[]"}, {Name: "[x"}, {Name: "x]"}, {Name: ""}}}))
	}, fields: []string{"TemplateID", "Receivers[0].Name", "Receivers[0].Email", "Receivers[0].RoleTitle", "Receivers[1].Email",
		"Variables[1].Name", "Variables[2].Name", "Variables[3].Name", "Variables[4].Name", "Variables[5].Name"}},
	{name: "Forms.Send", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: " ", Receivers: []signforms.Receiver{{Name: personal}}}))
	}, fields: []string{"FormID", "Receivers[0].Email"}},
	{name: "Forms.Send with texts that are no UTF-8", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: notUTF8, Mail: signforms.Mail{Subject: notUTF8, Message: notUTF8},
			Receivers: []signforms.Receiver{{Name: notUTF8, Email: "a@b.c" + notUTF8, RoleTitle: notUTF8, RoleColor: notUTF8,
				Subject: notUTF8, Message: notUTF8}},
			Variables: []signforms.Variable{{Name: "[" + notUTF8 + "]", Value: notUTF8}}}))
	}, fields: []string{"FormID", "Receivers[0].Name", "Receivers[0].Email", "Receivers[0].RoleTitle", "Receivers[0].RoleColor",
		"Receivers[0].Subject", "Receivers[0].Message", "Mail.Subject", "Mail.Message", "Variables[0].Name", "Variables[0].Value"}},
	{name: "Templates.Send to a role that is no UTF-8, by an address without an @", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID,
			Receivers: []signforms.Receiver{{Name: personal, Email: personal, RoleTitle: notUTF8}}}))
	}, fields: []string{"Receivers[0].Email", "Receivers[0].RoleTitle"}},
	{name: "Documents.List with texts that are no UTF-8", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{Status: notUTF8, Query: notUTF8}))
	}, fields: []string{"Status", "Query"}},
	{name: "Templates.List with a text that is no UTF-8", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.List(ctx, signforms.TemplateListParams{Query: notUTF8}))
	}, fields: []string{"Query"}},
	{name: "FormResponses.List of a form that is no UTF-8", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: notUTF8}))
	}, fields: []string{"FormID"}},
	{name: "Forms.Send to too many", call: func(ctx context.Context, c *signforms.Client) error {
		for i := range manyReceivers {
			manyReceivers[i] = clienttest.OneReceiver[0]
		}
		return clienttest.Second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: clienttest.FormID, Receivers: manyReceivers}))
	}, fields: []string{"Receivers"}},
	{name: "Respondents.List of nothing", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Respondents.List(ctx, signforms.RespondentListParams{}))
	}, fields: []string{"TemplateID"}},
	{name: "Respondents.List", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Respondents.List(ctx, signforms.RespondentListParams{
			TemplateID: personal, Page: -1, Limit: -1}))
	}, fields: []string{"TemplateID", "Page", "Limit"}},
	{name: "Respondents.Get", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Respondents.Get(ctx, clienttest.TemplateID))
	}, fields: []string{"documentID"}},
	{name: "FormResponses.List of nothing", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{}))
	}, fields: []string{"FormID"}},
	{name: "FormResponses.List of a form", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: clienttest.FormID, Page: -1, Limit: -1}))
	}, fields: []string{"Page", "Limit"}},
	{name: "FormResponses.Get", call: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.Get(ctx, strings.Repeat("g", 24)))
	}, fields: []string{"responseID"}},
}

func TestValidate_invalidInputs(t *testing.T) {
	for _, w := range wrongInputs {
		t.Run(w.name, func(t *testing.T) {
			err := w.call(t.Context(), clienttest.Scripted(t, clienttest.Silent(t)))
			clienttest.RequireMatches(t, err, signforms.ErrInvalid)
			e := clienttest.AsError(t, err)
			require.Zero(t, e.Attempts)
			require.Zero(t, e.StatusCode)
			require.Zero(t, e.Attempts)
			require.Empty(t, e.RequestID)
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Field)
				require.NotEmpty(t, f.Problem)
			}
			require.Equal(t, w.fields, fields)
			for _, f := range fields[:min(len(fields), 8)] {
				require.Contains(t, err.Error(), f)
			}
			require.NotContains(t, err.Error(), personal)
		})
	}
}

// Validate and Send agree about the same inputs.
func TestValidate_agreesWithSend(t *testing.T) {
	client := clienttest.Scripted(t, clienttest.Silent(t))
	for _, wrong := range [][]signforms.Receiver{nil, {{Name: "Ann"}}, {{Name: "Ann", Email: "ann", RoleTitle: "Client"}}} {
		template := signforms.TemplateSendParams{TemplateID: personal, Receivers: wrong, Variables: []signforms.Variable{{Name: "fee"}}}
		require.Equal(t, clienttest.Second(client.Templates.Send(t.Context(), template)), template.Validate())
		form := signforms.FormSendParams{Receivers: wrong, Mail: signforms.Mail{Subject: notUTF8}}
		require.Equal(t, clienttest.Second(client.Forms.Send(t.Context(), form)), form.Validate())
		clienttest.RequireMatches(t, template.Validate(), signforms.ErrInvalid)
		clienttest.RequireMatches(t, form.Validate(), signforms.ErrInvalid)
	}
	require.NoError(t, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver}.Validate())
	require.NoError(t, signforms.FormSendParams{FormID: clienttest.FormID, Receivers: clienttest.OneReceiver}.Validate())
}

// TestValidate_inputsAtTheirBounds sends what is just allowed.
func TestValidate_inputsAtTheirBounds(t *testing.T) {
	rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
	c, ctx := clienttest.Scripted(t, rec), t.Context()
	now := time.Now()
	require.NoError(t, clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{Limit: 100, DateFrom: now, DateTo: now})))
	require.NoError(t, clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{Limit: 1, Page: 1 << 30})))
	require.NoError(t, clienttest.Second(c.Documents.Void(ctx, signforms.PDFDocument(strings.ToUpper(clienttest.PDFID)))))
	require.NoError(t, clienttest.Second(c.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: clienttest.TemplateID, Limit: 5000})))
	require.NoError(t, clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: "any text", Limit: 5000})))
	receivers := make([]signforms.Receiver, 100)
	for i := range receivers {
		receivers[i] = clienttest.OneReceiver[0]
	}
	require.NoError(t, clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: receivers,
		Variables: []signforms.Variable{{Name: "[v]"}}})))
	require.NoError(t, clienttest.Second(c.Forms.Send(ctx, signforms.FormSendParams{FormID: "plain id", Receivers: []signforms.Receiver{{Name: "A", Email: "a@b.c"}}})),
		"a form's receivers need no role")
	require.Len(t, rec.Sent, 7)
}
