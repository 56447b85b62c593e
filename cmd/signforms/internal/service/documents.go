package service

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

var documentColumns = []cli.Column[*signforms.Document]{
	{Name: "documentId", Value: func(d *signforms.Document) string { return d.ID }},
	{Name: "documentName", Value: func(d *signforms.Document) string { return d.Name }},
	{Name: "status", Value: func(d *signforms.Document) string { return string(d.Status) }},
	{Name: "signed", Value: func(d *signforms.Document) string { return signedOf(d.Signers) }},
	{Name: "createdAt", Value: func(d *signforms.Document) string { return cli.Time(d.CreatedAt) }},
	{Name: "updatedAt", Value: func(d *signforms.Document) string { return cli.Time(d.UpdatedAt) }, Wide: true},
	{Name: "authorEmail", Value: func(d *signforms.Document) string { return d.AuthorEmail }, Wide: true},
	{Name: "isArchived", Value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, Wide: true},
	{Name: "signers", Value: func(d *signforms.Document) string { return signersText(d.Signers) }, Wide: true},
	{Name: "documentUrl", Value: func(d *signforms.Document) string { return d.URL }, Wide: true},
	{Name: "finishedPdfUrl", Value: func(d *signforms.Document) string { return d.FinishedPDFURL }, Wide: true},
}

var documentStatuses = []signforms.DocumentStatus{
	signforms.StatusDraft, signforms.StatusPending, signforms.StatusSigned, signforms.StatusPaid, signforms.StatusDeclined,
	signforms.StatusExpired, signforms.StatusDeleted, signforms.StatusVoid,
}

func newDocumentsList() *cobra.Command {
	var p signforms.DocumentListParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List PDF documents",
		Long: `List prints PDF documents as the service sends them, page after page. For documents that were made from a template, see
templates respondents.

The service alone decides which records the filters leave.`,
		Example: "  signforms documents list --status PENDING --from 2026-11-01\n  signforms documents list --csv > documents.csv",
		Args:    cli.NoArgs,
	}
	cli.OneOf(cmd, "status", "status", "only those of this status: %s", documentStatuses, func(status signforms.DocumentStatus) error {
		p.Status = status
		return nil
	})
	listFlags(cmd, &p)
	return newList(cmd, documentColumns, documentShape, &p.Limit, func(ctx context.Context, c *signforms.Client, _ []string) iter.Seq2[*signforms.Document, error] {
		if p.Page == 0 {
			return c.Documents.All(ctx, p)
		}
		page, err := c.Documents.List(ctx, p)
		return onePage(p.Page, page, err)
	})
}

func newDocumentsGet() *cobra.Command {
	return newGet("DOCUMENT_ID", "Print one PDF document", documentColumns, documentShape,
		func(ctx context.Context, c *signforms.Client, id string) (*signforms.Document, error) {
			return c.Documents.Get(ctx, id)
		})
}
