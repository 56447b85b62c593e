package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

func addBatchFlags(cmd *cobra.Command, f *batch.Flags) {
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "do not ask; needed without a terminal for more than one receiver, line or document")
}

func addJournalFlags(cmd *cobra.Command, f *batch.Flags, where string) {
	cmd.Flags().StringVar(&f.Journal, "journal", "", "`file` that remembers what was done (default "+where+")")
	cmd.Flags().BoolVar(&f.NewRun, "new-run", false, "start over instead of continuing an unfinished run; items whose outcome is unknown are still held back, and keep a run with another journal from being abandoned")
	cmd.Flags().StringArrayVar(&f.Resolve, "resolve", nil, "`ITEM=done` or ITEM=again for an item whose outcome was unknown, after you have looked: an id, an address, or a line that has not moved; all=… for all of them")
}

// screen is the terminal of a command, or the files in its place.
func screen(cmd *cobra.Command, o cli.Output, columns []cli.Column[batch.Record]) batch.Screen {
	return batch.Screen{
		Printer: cli.NewPrinter(cmd, o, columns, func(r batch.Record) any { return r }, 1),
		Stderr:  cmd.ErrOrStderr(),
		Confirm: func(question string) error { return cli.Confirm(cmd, question) },
	}
}

// recipientsText has the addresses first, which a narrow table does not cut.
func recipientsText(all []batch.Recipient) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.Email+" ("+r.Name+")")
	}
	return strings.Join(texts, ", ")
}

var batchColumns = []cli.Column[batch.Record]{
	{Name: "item", Value: func(r batch.Record) string { return r.Item }},
	{Name: "outcome", Value: func(r batch.Record) string { return r.Outcome }},
	{Name: "documentId", Value: func(r batch.Record) string { return r.DocumentID }, Wide: true},
	{Name: "templateId", Value: func(r batch.Record) string { return r.TemplateID }, Wide: true},
	{Name: "createdDocumentId", Value: func(r batch.Record) string { return r.CreatedDocumentID }, Wide: true},
	{Name: "status", Value: func(r batch.Record) string { return string(r.Status) }, Wide: true},
	{Name: "message", Value: func(r batch.Record) string { return r.Message }, Long: true},
}

// remindColumns have the service's count, which may be 0.
var remindColumns = slices.Insert(slices.Clone(batchColumns), 2, cli.Column[batch.Record]{Name: "remindersSent", Value: func(r batch.Record) string {
	if r.RemindersSent == nil {
		return ""
	}
	return fmt.Sprint(*r.RemindersSent)
}, Wide: true})

var toColumn = cli.Column[batch.Record]{Name: "to", Value: func(r batch.Record) string { return recipientsText(r.To) }, Long: true}

// sentColumns are the columns of a batch that makes documents.
var sentColumns = []cli.Column[batch.Record]{batchColumns[0], batchColumns[1], toColumn,
	{Name: "createdDocumentId", Value: batchColumns[4].Value}, batchColumns[6]}

// formSentColumns are the columns of a batch that sends forms, which make no documents.
var formSentColumns = []cli.Column[batch.Record]{batchColumns[0], batchColumns[1], toColumn, batchColumns[6]}

// refs returns references to the documents with these ids: PDF documents or, with a template, documents made from it. A malformed id,
// or one that is given twice, is an error before anything is done with the others.
func refs(templateID string, ids []string) (all []signforms.DocumentRef, err error) {
	given := map[string]bool{}
	for _, id := range ids {
		ref := signforms.PDFDocument(id)
		if templateID != "" {
			ref = signforms.TemplateDocument(templateID, id)
		}
		if _, err := ref.MarshalText(); err != nil {
			return nil, cli.UsageError("%q: %s", id, wrongInputs(err))
		}
		key := strings.ToLower(id)
		if given[key] {
			return nil, cli.UsageError("%s is given twice", id)
		}
		given[key] = true
		all = append(all, ref)
	}
	return all, nil
}

// refRecord returns what is known about a document before any request.
func refRecord(templateID, id string) batch.Record {
	if templateID == "" {
		return batch.Record{DocumentID: id}
	}
	return batch.Record{TemplateID: templateID, CreatedDocumentID: id}
}
