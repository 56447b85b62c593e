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

var templateColumns = []cli.Column[*signforms.Document]{
	{Name: "templateId", Value: func(d *signforms.Document) string { return d.ID }},
	{Name: "templateName", Value: func(d *signforms.Document) string { return d.Name }},
	{Name: "roles", Value: rolesText},
	{Name: "respondents", Value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalRespondents) }},
	{Name: "signedRespondents", Value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalSignedRespondents) }, Wide: true},
	{Name: "createdAt", Value: func(d *signforms.Document) string { return cli.Time(d.CreatedAt) }},
	{Name: "updatedAt", Value: func(d *signforms.Document) string { return cli.Time(d.UpdatedAt) }, Wide: true},
	{Name: "authorEmail", Value: func(d *signforms.Document) string { return d.AuthorEmail }, Wide: true},
	{Name: "isArchived", Value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, Wide: true},
	{Name: "documentUrl", Value: func(d *signforms.Document) string { return d.URL }, Wide: true},
}

func rolesText(d *signforms.Document) string {
	var titles []string
	for _, r := range d.Roles {
		titles = append(titles, r.Title)
	}
	return strings.Join(titles, ", ")
}

func newTemplatesList() *cobra.Command {
	var p signforms.DocumentListParams
	cmd := &cobra.Command{Use: "list", Short: "List templates", Args: cli.NoArgs}
	listFlags(cmd, &p)
	return newList(cmd, templateColumns, documentShape, &p.Limit, func(ctx context.Context, c *signforms.Client, _ []string) iter.Seq2[*signforms.Document, error] {
		if p.Page == 0 {
			return c.Templates.All(ctx, p)
		}
		page, err := c.Templates.List(ctx, p)
		return onePage(p.Page, page, err)
	})
}

func newTemplatesGet() *cobra.Command {
	return newGet("TEMPLATE_ID", "Print one template with its roles", templateColumns,
		func(ctx context.Context, c *signforms.Client, id string) (*signforms.Document, error) {
			return c.Templates.Get(ctx, id)
		})
}

// respondentRecord is a respondent as --json prints it. A time that the service did not give is left out.
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
