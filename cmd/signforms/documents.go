package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
)

func newDocuments() *cobra.Command {
	return newParent("documents", "List, read, void and remind PDF documents; in a sandbox add, sign and decline them",
		newDocumentsList(), newDocumentsGet(), newDocumentsVoid(), newDocumentsRemind(),
		newDocumentsAdd(), newDocumentsSign(), newDocumentsDecline())
}

// allPage is how many records the SDK asks for at once when it reads a whole list.
const allPage = 100

// documentRecord is a document as --json prints it. Times that the service did not give are left out.
type documentRecord struct {
	*signforms.Document
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

func documentShape(d *signforms.Document) any { return documentRecord{d, d.CreatedAt, d.UpdatedAt} }

var documentColumns = []column[*signforms.Document]{
	{name: "documentId", value: func(d *signforms.Document) string { return d.DocumentID }},
	{name: "documentName", value: func(d *signforms.Document) string { return d.DocumentName }, long: true},
	{name: "status", value: func(d *signforms.Document) string { return string(d.Status) }},
	{name: "signed", value: func(d *signforms.Document) string { return signedOf(d.Signers) }},
	{name: "createdAt", value: func(d *signforms.Document) string { return timeText(d.CreatedAt) }, time: true},
	{name: "updatedAt", value: func(d *signforms.Document) string { return timeText(d.UpdatedAt) }, wide: true},
	{name: "authorEmail", value: func(d *signforms.Document) string { return d.AuthorEmail }, wide: true},
	{name: "isArchived", value: func(d *signforms.Document) string { return fmt.Sprint(d.IsArchived) }, wide: true},
	{name: "signers", value: func(d *signforms.Document) string { return signersText(d.Signers) }, wide: true},
	{name: "documentUrl", value: func(d *signforms.Document) string { return d.DocumentURL }, wide: true},
	{name: "finishedPdfUrl", value: func(d *signforms.Document) string { return d.FinishedPDFURL }, wide: true},
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// signedOf returns how many of the signers have signed, as in 1/2.
func signedOf(signers []signforms.Signer) string {
	signed := 0
	for _, s := range signers {
		if s.Status == signforms.SignerSigned {
			signed++
		}
	}
	return fmt.Sprintf("%d/%d", signed, len(signers))
}

func signersText(signers []signforms.Signer) string {
	var texts []string
	for _, s := range signers {
		texts = append(texts, strings.TrimSpace(s.Email+" "+string(s.Status)))
	}
	return strings.Join(texts, "; ")
}

// listFlags are the flags that lists of documents and of templates share.
func listFlags(cmd *cobra.Command, p *signforms.DocumentListParams) {
	f := cmd.Flags()
	f.Var(dayFlag{at: &p.DateFrom}, "from", "created at this time or later; a day begins in the local time zone")
	f.Var(dayFlag{at: &p.DateTo, last: true}, "to", "created at this time or earlier; a day counts to its end")
	f.Var(archivedFlag{&p.Archived}, "archived", "only archived ones or, with =false, only others")
	f.Lookup("archived").NoOptDefVal = "true"
	f.Var(sortFlag{&p.SortOrder}, "sort", "newest or oldest first (default newest)")
	f.StringVar(&p.Query, "query", "", "free text that the name must hold")
	f.StringVar(&p.DocumentID, "id", "", "only the one with this id")
	pageFlags(cmd, &p.Page, &p.Limit, 100)
	complete(cmd, "sort", "newest", "oldest")
}

// pageFlags adds the flags that every list has. most is the largest number of records in a page; 0 means any number.
func pageFlags(cmd *cobra.Command, page, limit *int, most int) {
	bounds := "1 or more"
	if most > 0 {
		bounds = fmt.Sprintf("1 to %d", most)
	}
	cmd.Flags().Var(countFlag{count: page}, "page", "only this page, from 1 (default all pages)")
	cmd.Flags().Var(countFlag{limit, most}, "limit", "records per page, "+bounds+" (default 100, with --page the service's own)")
}

// complete makes the shell offer these values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag
	}
}

var statuses = []string{"DRAFT", "PENDING", "SIGNED", "PAID", "DECLINED", "EXPIRED", "DELETED", "VOID"}

func newDocumentsList() *cobra.Command {
	var conn connection
	var out output
	var p signforms.DocumentListParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List PDF documents",
		Long: `List prints PDF documents as the service sends them, page after page. It never holds more than two pages in memory.
The command templates respondents prints documents that were made from a template.`,
		Example: "  signforms documents list --status PENDING --from 2026-11-01\n  signforms documents list --csv > documents.csv",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			pr := newPrinter(cmd, out, documentColumns, documentShape, pageSize(p.Limit))
			if p.Page == 0 {
				return printAll(pr, client.Documents.All(cmd.Context(), p))
			}
			return printAll(pr, onePage(client.Documents.List(cmd.Context(), p)))
		},
	}
	cmd.Flags().StringVar((*string)(&p.Status), "status", "", "only those of this status, such as PENDING")
	complete(cmd, "status", statuses...)
	listFlags(cmd, &p)
	out.addFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}

func pageSize(limit int) int {
	if limit <= 0 {
		return allPage
	}
	return min(limit, allPage)
}

// onePage returns the records of a page as a sequence.
func onePage[T any](page *signforms.Page[T], err error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range page.Items {
			if !yield(&page.Items[i], nil) {
				return
			}
		}
	}
}

// oneRecord returns a record as a sequence of one.
func oneRecord[T any](record *T, err error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) { yield(record, err) }
}

func newDocumentsGet() *cobra.Command {
	return newGet("DOCUMENT_ID", "Print one PDF document", documentColumns,
		func(ctx context.Context, c *signforms.Client, id string) (*signforms.Document, error) {
			return c.Documents.Get(ctx, id)
		})
}

// newGet returns a command that prints one document or template, by its id.
func newGet(id, short string, columns []column[*signforms.Document],
	get func(ctx context.Context, c *signforms.Client, id string) (*signforms.Document, error)) *cobra.Command {
	var conn connection
	var out output
	cmd := &cobra.Command{
		Use:   "get " + id,
		Short: short,
		Args:  exactlyOne(id),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			pr := newPrinter(cmd, out, columns, documentShape, 1)
			return printAll(pr, oneRecord(get(cmd.Context(), client, args[0])))
		},
	}
	out.addFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}

// refs returns references to the documents with these ids: PDF documents or, with a template, documents made from it.
func refs(templateID string, ids []string) []signforms.DocumentRef {
	var all []signforms.DocumentRef
	for _, id := range ids {
		if templateID == "" {
			all = append(all, signforms.PDFDocument(id))
		} else {
			all = append(all, signforms.TemplateDocument(templateID, id))
		}
	}
	return all
}

// refRecord returns what is known about a document before any request.
func refRecord(templateID, id string) batchRecord {
	if templateID == "" {
		return batchRecord{DocumentID: id}
	}
	return batchRecord{TemplateID: templateID, CreatedDocumentID: id}
}

func newDocumentsVoid() *cobra.Command {
	var conn connection
	var out output
	var flags batchFlags
	var templateID string
	cmd := &cobra.Command{
		Use:   "void ID...",
		Short: "Void documents",
		Long: `Void ends documents that are in progress. Voiding a document again changes nothing and is no error.
With --template the ids are those of documents made from that template (createdDocumentId).`,
		Args: atLeastOne("ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			b := batch{verb: "voided", noun: "document", many: "documents", flags: flags, columns: batchColumns}
			for i, ref := range refs(templateID, args) {
				b.items = append(b.items, &item{label: args[i], record: refRecord(templateID, args[i]), do: void(client, ref)})
			}
			return b.run(cmd, out)
		},
	}
	cmd.Flags().StringVar(&templateID, "template", "", "id of the template from which the documents were made")
	flags.addFlags(cmd)
	out.addFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}

func void(client *signforms.Client, ref signforms.DocumentRef) func(context.Context, *batchRecord) error {
	return func(ctx context.Context, r *batchRecord) error {
		res, err := client.Documents.Void(ctx, ref)
		if err == nil {
			r.Status, r.Message = res.Status, res.Message
		}
		return err
	}
}
