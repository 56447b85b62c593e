package service

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

var documentColumns = []cli.Column[*signforms.Document]{
	{Name: "documentId", Value: func(d *signforms.Document) string { return d.DocumentID }},
	{Name: "documentName", Value: func(d *signforms.Document) string { return d.DocumentName }, Long: true},
	{Name: "status", Value: func(d *signforms.Document) string { return string(d.Status) }},
	{Name: "signed", Value: func(d *signforms.Document) string { return signedOf(d.Signers) }},
	{Name: "createdAt", Value: func(d *signforms.Document) string { return cli.Time(d.CreatedAt) }, Time: true},
	{Name: "updatedAt", Value: func(d *signforms.Document) string { return cli.Time(d.UpdatedAt) }, Wide: true},
	{Name: "authorEmail", Value: func(d *signforms.Document) string { return d.AuthorEmail }, Wide: true},
	{Name: "isArchived", Value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, Wide: true},
	{Name: "signers", Value: func(d *signforms.Document) string { return signersText(d.Signers) }, Wide: true},
	{Name: "documentUrl", Value: func(d *signforms.Document) string { return d.DocumentURL }, Wide: true},
	{Name: "finishedPdfUrl", Value: func(d *signforms.Document) string { return d.FinishedPDFURL }, Wide: true},
}

func newDocumentsList() *cobra.Command {
	var p signforms.DocumentListParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List PDF documents",
		Long: `List prints PDF documents as the service sends them, page after page. For documents that were made from a template, see
templates respondents.

A record that does not fit --status, --id, --from, --to or --archived, or does not show whether it does, is left out,
and the exit code is 3. One without isArchived counts as not archived. The service alone decides on --query.`,
		Example: "  signforms documents list --status PENDING --from 2026-11-01\n  signforms documents list --csv > documents.csv",
		Args:    cli.NoArgs,
	}
	cli.OneOf(cmd, "status", "status", "only those of this status: %s", signforms.DocumentStatuses(), func(status signforms.DocumentStatus) error {
		p.Status = status
		return nil
	})
	listFlags(cmd, &p)
	return newList(cmd, documentColumns, documentShape, &p.Limit, func(ctx context.Context, c listClient, _ []string) iter.Seq2[*signforms.Document, error] {
		if p.Page == 0 {
			return agreeing(heldDocument(p), c.Documents.All(ctx, p))
		}
		page, err := c.Documents.List(ctx, p)
		return agreeing(heldDocument(p), onePage(c, signforms.OpListDocuments, p.Page, page, err))
	})
}

func newDocumentsGet() *cobra.Command {
	return newGet("DOCUMENT_ID", "Print one PDF document", documentColumns,
		func(ctx context.Context, c *signforms.Client, id string) (*signforms.Document, error) {
			return c.Documents.Get(ctx, id)
		})
}

func newDocumentsVoid() *cobra.Command {
	var conn connection
	var out cli.Output
	var flags batch.Flags
	var templateID string
	cmd := &cobra.Command{
		Use:   "void ID...",
		Short: "Void documents",
		Long: `Void ends documents that are in progress. Voiding one again changes nothing and is not an error.
With --template the ids are those of documents made from that template (createdDocumentId).`,
		Args: cli.AtLeastOne("ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			all, err := refs(templateID, args)
			if err != nil {
				return err
			}
			b := batch.Batch{Verb: "voided", Noun: "document", Many: "documents", Flags: flags}
			for i, ref := range all {
				b.Items = append(b.Items, &batch.Item{Label: args[i], Record: refRecord(templateID, args[i]), Do: void(client, ref)})
			}
			return b.Run(cmd.Context(), screen(cmd, out, batchColumns))
		},
	}
	cmd.Flags().StringVar(&templateID, "template", "", "id of the template from which the documents were made")
	addBatchFlags(cmd, &flags)
	out.AddFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}

func void(client *signforms.Client, ref signforms.DocumentRef) func(context.Context, *batch.Record) error {
	return func(ctx context.Context, r *batch.Record) error {
		res, err := client.Documents.Void(ctx, ref)
		e, failed := errors.AsType[*signforms.Error](err)
		switch {
		case err == nil:
			r.Status, r.Message = res.Status, res.Message
		case failed && e.Attempts > 0 && errors.Is(err, signforms.ErrUnavailable):
			return &batch.Verdict{Text: inFlags(err).Error() + "; it may be void all the same: voiding it again does no harm", Cause: signforms.ErrUnavailable}
		}
		return inFlags(err)
	}
}
