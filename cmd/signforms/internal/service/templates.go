package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

var templateColumns = []cli.Column[*signforms.Document]{
	{Name: "templateId", Value: func(d *signforms.Document) string { return d.DocumentID }},
	{Name: "templateName", Value: func(d *signforms.Document) string { return d.DocumentName }, Long: true},
	{Name: "roles", Value: rolesText, Long: true},
	{Name: "respondents", Value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalRespondents) }},
	{Name: "signedRespondents", Value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalSignedRespondents) }, Wide: true},
	{Name: "createdAt", Value: func(d *signforms.Document) string { return cli.Time(d.CreatedAt) }, Time: true},
	{Name: "updatedAt", Value: func(d *signforms.Document) string { return cli.Time(d.UpdatedAt) }, Wide: true},
	{Name: "authorEmail", Value: func(d *signforms.Document) string { return d.AuthorEmail }, Wide: true},
	{Name: "isArchived", Value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, Wide: true},
	{Name: "documentUrl", Value: func(d *signforms.Document) string { return d.DocumentURL }, Wide: true},
}

func rolesText(d *signforms.Document) string {
	var titles []string
	for _, r := range d.Roles {
		titles = append(titles, r.RoleTitle)
	}
	return strings.Join(titles, ", ")
}

func newTemplatesList() *cobra.Command {
	var conn connection
	var out cli.Output
	var p signforms.DocumentListParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List templates",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			params := signforms.TemplateListParams{DocumentID: p.DocumentID, DateFrom: p.DateFrom, DateTo: p.DateTo, Archived: p.Archived,
				SortOrder: p.SortOrder, Page: p.Page, Limit: p.Limit, Query: p.Query}
			pr := cli.NewPrinter(cmd, out, templateColumns, documentShape, pageSize(p.Limit))
			if p.Page == 0 {
				return cli.PrintAll(pr, client.Templates.All(cmd.Context(), params))
			}
			return cli.PrintAll(pr, onePage(client.Templates.List(cmd.Context(), params)))
		},
	}
	listFlags(cmd, &p)
	out.AddFlags(cmd)
	conn.addFlags(cmd)
	return cmd
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
	{Name: "createdDocumentId", Value: func(r *signforms.Respondent) string { return r.RespondentDocumentID }},
	{Name: "status", Value: func(r *signforms.Respondent) string { return string(r.Status) }},
	{Name: "signed", Value: func(r *signforms.Respondent) string { return signedOf(r.Signers) }},
	{Name: "createdAt", Value: func(r *signforms.Respondent) string { return cli.Time(r.CreatedAt) }, Time: true},
	{Name: "signers", Value: func(r *signforms.Respondent) string { return signersText(r.Signers) }, Long: true},
	{Name: "templateId", Value: func(r *signforms.Respondent) string { return r.TemplateID }, Wide: true},
	{Name: "ownerId", Value: func(r *signforms.Respondent) string { return r.OwnerID }, Wide: true},
	{Name: "pdfLink", Value: func(r *signforms.Respondent) string { return r.PDFLink }, Wide: true},
	{Name: "finishedPdfUrl", Value: func(r *signforms.Respondent) string { return r.FinishedPDFURL }, Wide: true},
}

func newTemplatesRespondents() *cobra.Command {
	var conn connection
	var out cli.Output
	var p signforms.RespondentListParams
	cmd := &cobra.Command{
		Use:   "respondents [TEMPLATE_ID]",
		Short: "List the documents made from a template, or print one of them",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && p.RespondentDocumentID == "" {
				return fmt.Errorf("name one template, or a document with --document")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			pr := cli.NewPrinter(cmd, out, respondentColumns, respondentShape, pageSize(p.Limit))
			if len(args) == 0 && p.Page == 0 && p.Limit == 0 {
				return cli.PrintAll(pr, oneRecord(client.Templates.Respondent(cmd.Context(), p.RespondentDocumentID)))
			}
			p.TemplateID = strings.Join(args, "")
			if p.Page == 0 {
				return cli.PrintAll(pr, client.Templates.AllRespondents(cmd.Context(), p))
			}
			return cli.PrintAll(pr, onePage(client.Templates.Respondents(cmd.Context(), p)))
		},
	}
	cmd.Flags().StringVar(&p.RespondentDocumentID, "document", "", "only the one with this id (createdDocumentId)")
	pageFlags(cmd, &p.Page, &p.Limit, 0)
	out.AddFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}
