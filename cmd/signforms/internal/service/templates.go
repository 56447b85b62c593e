package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
)

var templateColumns = []column[*signforms.Document]{
	{name: "templateId", value: func(d *signforms.Document) string { return d.DocumentID }},
	{name: "templateName", value: func(d *signforms.Document) string { return d.DocumentName }, long: true},
	{name: "roles", value: rolesText, long: true},
	{name: "respondents", value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalRespondents) }},
	{name: "signedRespondents", value: func(d *signforms.Document) string { return fmt.Sprint(d.TotalSignedRespondents) }, wide: true},
	{name: "createdAt", value: func(d *signforms.Document) string { return timeText(d.CreatedAt) }, time: true},
	{name: "updatedAt", value: func(d *signforms.Document) string { return timeText(d.UpdatedAt) }, wide: true},
	{name: "authorEmail", value: func(d *signforms.Document) string { return d.AuthorEmail }, wide: true},
	{name: "isArchived", value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, wide: true},
	{name: "documentUrl", value: func(d *signforms.Document) string { return d.DocumentURL }, wide: true},
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
	var out output
	var p signforms.DocumentListParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List templates",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			params := signforms.TemplateListParams{DocumentID: p.DocumentID, DateFrom: p.DateFrom, DateTo: p.DateTo, Archived: p.Archived,
				SortOrder: p.SortOrder, Page: p.Page, Limit: p.Limit, Query: p.Query}
			pr := newPrinter(cmd, out, templateColumns, documentShape, pageSize(p.Limit))
			if p.Page == 0 {
				return printAll(pr, client.Templates.All(cmd.Context(), params))
			}
			return printAll(pr, onePage(client.Templates.List(cmd.Context(), params)))
		},
	}
	listFlags(cmd, &p)
	out.addFlags(cmd)
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

var respondentColumns = []column[*signforms.Respondent]{
	{name: "createdDocumentId", value: func(r *signforms.Respondent) string { return r.RespondentDocumentID }},
	{name: "status", value: func(r *signforms.Respondent) string { return string(r.Status) }},
	{name: "signed", value: func(r *signforms.Respondent) string { return signedOf(r.Signers) }},
	{name: "createdAt", value: func(r *signforms.Respondent) string { return timeText(r.CreatedAt) }, time: true},
	{name: "signers", value: func(r *signforms.Respondent) string { return signersText(r.Signers) }, long: true},
	{name: "templateId", value: func(r *signforms.Respondent) string { return r.TemplateID }, wide: true},
	{name: "ownerId", value: func(r *signforms.Respondent) string { return r.OwnerID }, wide: true},
	{name: "pdfLink", value: func(r *signforms.Respondent) string { return r.PDFLink }, wide: true},
	{name: "finishedPdfUrl", value: func(r *signforms.Respondent) string { return r.FinishedPDFURL }, wide: true},
}

func newTemplatesRespondents() *cobra.Command {
	var conn connection
	var out output
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
			pr := newPrinter(cmd, out, respondentColumns, respondentShape, pageSize(p.Limit))
			if len(args) == 0 && p.Page == 0 && p.Limit == 0 {
				return printAll(pr, oneRecord(client.Templates.Respondent(cmd.Context(), p.RespondentDocumentID)))
			}
			p.TemplateID = strings.Join(args, "")
			if p.Page == 0 {
				return printAll(pr, client.Templates.AllRespondents(cmd.Context(), p))
			}
			return printAll(pr, onePage(client.Templates.Respondents(cmd.Context(), p)))
		},
	}
	cmd.Flags().StringVar(&p.RespondentDocumentID, "document", "", "only the one with this id (createdDocumentId)")
	pageFlags(cmd, &p.Page, &p.Limit, 0)
	out.addFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}
