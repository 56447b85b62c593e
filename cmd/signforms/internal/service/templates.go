package service

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// templateRecord is a template as --json prints it. Times that the service did not send are left
// out.
type templateRecord struct {
	*signforms.Template
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

func templateShape(t *signforms.Template) any { return templateRecord{t, t.CreatedAt, t.UpdatedAt} }

var templateColumns = []cli.Column[*signforms.Template]{
	{Name: "templateId", Value: func(t *signforms.Template) string { return t.ID }},
	{Name: "templateName", Value: func(t *signforms.Template) string { return t.Name }},
	{Name: "roles", Value: rolesText},
	{Name: "respondents", Value: func(t *signforms.Template) string { return fmt.Sprint(t.TotalRespondents) }},
	{Name: "signedRespondents", Value: func(t *signforms.Template) string { return fmt.Sprint(t.TotalSignedRespondents) }, Wide: true},
	{Name: "createdAt", Value: func(t *signforms.Template) string { return cli.Time(t.CreatedAt) }},
	{Name: "updatedAt", Value: func(t *signforms.Template) string { return cli.Time(t.UpdatedAt) }, Wide: true},
	{Name: "authorEmail", Value: func(t *signforms.Template) string { return t.AuthorEmail }, Wide: true},
	{Name: "isArchived", Value: func(t *signforms.Template) string { return fmt.Sprint(t.IsArchived) }, Wide: true},
	{Name: "documentUrl", Value: func(t *signforms.Template) string { return t.URL }, Wide: true},
}

func rolesText(t *signforms.Template) string {
	var titles []string
	for _, r := range t.Roles {
		titles = append(titles, r.Title)
	}
	return strings.Join(titles, ", ")
}

func newTemplatesList() *cobra.Command {
	var p signforms.DocumentListParams
	cmd := &cobra.Command{Use: "list", Short: "List templates", Args: cli.NoArgs}
	listFlags(cmd, &p)
	return newList(cmd, templateColumns, templateShape, &p.Limit, func(ctx context.Context, c *signforms.Client, _ []string) iter.Seq2[*signforms.Template, error] {
		t := signforms.TemplateListParams{TemplateID: p.DocumentID, DateFrom: p.DateFrom, DateTo: p.DateTo, Archived: p.Archived,
			SortOrder: p.SortOrder, Page: p.Page, Limit: p.Limit, Query: p.Query}
		if p.Page == 0 {
			return c.Templates.All(ctx, t)
		}
		page, err := c.Templates.List(ctx, t)
		return onePage(p.Page, page, err)
	})
}

func newTemplatesGet() *cobra.Command {
	return newGet("TEMPLATE_ID", "Print one template with its roles", templateColumns, templateShape,
		func(ctx context.Context, c *signforms.Client, id string) (*signforms.Template, error) {
			return c.Templates.Get(ctx, id)
		})
}

// respondentRecord is a respondent as --json prints it. A time that the service did not send is
// left out.
type respondentRecord struct {
	*signforms.Respondent
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

func respondentShape(r *signforms.Respondent) any { return respondentRecord{r, r.CreatedAt} }

var respondentColumns = []cli.Column[*signforms.Respondent]{
	{Name: "createdDocumentId", Value: func(r *signforms.Respondent) string { return r.ID }},
	{Name: "status", Value: func(r *signforms.Respondent) string { return string(r.Status) }},
	{Name: "signed", Value: func(r *signforms.Respondent) string { return signedOf(r.Signers) }},
	{Name: "createdAt", Value: func(r *signforms.Respondent) string { return cli.Time(r.CreatedAt) }},
	{Name: "signers", Value: func(r *signforms.Respondent) string { return signersText(r.Signers) }},
	{Name: "templateId", Value: func(r *signforms.Respondent) string { return r.TemplateID }, Wide: true},
	{Name: "ownerId", Value: func(r *signforms.Respondent) string { return r.OwnerID }, Wide: true},
	{Name: "pdfLink", Value: func(r *signforms.Respondent) string { return r.PDFLink }, Wide: true},
	{Name: "finishedPdfUrl", Value: func(r *signforms.Respondent) string { return r.FinishedPDFURL }, Wide: true},
}

func newTemplatesRespondents() *cobra.Command {
	var p signforms.RespondentListParams
	var id string
	cmd := &cobra.Command{
		Use:   "respondents [TEMPLATE_ID]",
		Short: "List the documents made from a template, or print one of them",
		Args:  oneOrNamed(&id, "template, or a document with --document"),
	}
	cmd.Flags().StringVar(&id, "document", "", "only the one with this id (createdDocumentId)")
	pageFlags(cmd, &p.Page, &p.Limit, 0)
	cli.Alternatives(cmd, false, "document", "page")
	cli.Alternatives(cmd, false, "document", "limit")
	return newList(cmd, respondentColumns, respondentShape, &p.Limit, func(ctx context.Context, c *signforms.Client, args []string) iter.Seq2[*signforms.Respondent, error] {
		p.TemplateID = strings.Join(args, "")
		switch {
		case id != "":
			return oneRecord(c.Respondents.Get(ctx, id))
		case p.Page == 0:
			return c.Respondents.All(ctx, p)
		}
		page, err := c.Respondents.List(ctx, p)
		return onePage(p.Page, page, err)
	})
}
