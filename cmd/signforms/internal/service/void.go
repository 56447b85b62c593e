package service

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// voided is the result that void prints for a document.
type voided struct {
	Item    string `json:"item"`
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
}

var voidedColumns = []cli.Column[voided]{
	{Name: "item", Value: func(v voided) string { return v.Item }},
	{Name: "outcome", Value: func(v voided) string { return v.Outcome }},
	{Name: "message", Value: func(v voided) string { return v.Message }},
}

func newDocumentsVoid() *cobra.Command {
	var conn Connection
	var out cli.Output
	var templateID string
	var yes bool
	cmd := &cobra.Command{
		Use:   "void ID...",
		Short: "Void documents",
		Long: `Void ends documents that are in progress. Voiding one again changes nothing and is not an error.
With --template the ids are those of documents made from that template (createdDocumentId).`,
		Args: cli.AtLeastOne("ID of a document"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			client, err := conn.Connect()
			if err != nil {
				return err
			}
			var refs []signforms.DocumentRef
			for _, id := range ids {
				ref := signforms.PDFDocument(id)
				if templateID != "" {
					ref = signforms.TemplateDocument(templateID, id)
				}
				if _, err := ref.MarshalText(); err != nil {
					return cli.UsageError("%q: %s", id, WrongInputs(err))
				}
				refs = append(refs, ref)
			}
			if len(ids) > 1 && !yes {
				if err := cli.Confirm(cmd, fmt.Sprintf("%d documents will be voided.", len(ids))); err != nil {
					return err
				}
			}
			printer := cli.NewPrinter(cmd, out, voidedColumns, func(v voided) any { return v }, 1)
			failed := 0
			for i, ref := range refs {
				v := voided{Item: ids[i], Outcome: "voided"}
				res, err := client.Documents.Void(cmd.Context(), ref)
				switch {
				case err == nil:
					v.Message = res.Message
				case len(refs) == 1 || cmd.Context().Err() != nil:
					return errors.Join(printer.End(), err)
				default:
					failed++
					v.Outcome, v.Message = "failed", InFlags(err).Error()
				}
				if err := printer.Print(v); err != nil {
					return err
				}
			}
			if failed > 0 {
				return errors.Join(printer.End(), cli.ExitWith(cli.ExitPartial, fmt.Errorf("%d of %d failed", failed, len(refs))))
			}
			return printer.End()
		},
	}
	cmd.Flags().StringVar(&templateID, "template", "", "id of the template from which the documents were made")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; needed without a terminal for more than one document")
	out.AddFlags(cmd)
	conn.AddFlags(cmd)
	return cmd
}
