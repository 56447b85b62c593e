package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// Void returns the command void.
func Void() *cobra.Command {
	var conn service.Connection
	var templateID string
	b := batch{verb: "voided", noun: "document"}
	cmd := &cobra.Command{
		Use:   "void ID...",
		Short: "Void documents",
		Long: `Void ends documents that are in progress. Voiding one again changes nothing and is not an error.
With --template the ids are those of documents made from that template (createdDocumentId).`,
		Args: cli.AtLeastOne("ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.Connect()
			if err != nil {
				return err
			}
			all, err := refs(templateID, args)
			if err != nil {
				return err
			}
			var items []item
			for i, ref := range all {
				items = append(items, item{args[i], void(client, ref)})
			}
			return b.run(cmd, items)
		},
	}
	cmd.Flags().StringVar(&templateID, "template", "", "id of the template from which the documents were made")
	b.addFlags(cmd)
	b.out.AddFlags(cmd)
	conn.AddFlags(cmd)
	return service.Speaking(cmd)[0]
}

func void(client *signforms.Client, ref signforms.DocumentRef) func(context.Context) (id, message string, err error) {
	return func(ctx context.Context) (string, string, error) {
		res, err := client.Documents.Void(ctx, ref)
		if err == nil {
			return "", res.Message, nil
		}
		e, answered := errors.AsType[*signforms.Error](err)
		if answered && e.Attempts > 0 && errors.Is(err, signforms.ErrUnavailable) {
			return "", "", fmt.Errorf("%w; it may be void all the same: voiding it again does no harm", service.InFlags(err))
		}
		return "", "", service.InFlags(err)
	}
}
