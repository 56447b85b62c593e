package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// allPage is how many records the SDK requests per page when it reads a whole list.
const allPage = 100

func pageSize(limit int) int {
	if limit <= 0 {
		return allPage
	}
	return min(limit, allPage)
}

// listFlags are the flags that lists of documents and of templates share.
func listFlags(cmd *cobra.Command, p *signforms.DocumentListParams) {
	f := cmd.Flags()
	f.Var(cli.DayFlag(&p.DateFrom, false), "from", "created at this time or later; a day begins in the local time zone")
	f.Var(cli.DayFlag(&p.DateTo, true), "to", "created at this time or earlier; a day counts to its end")
	f.Var(archivedFlag(&p.Archived), "archived", "only archived ones or, with =false, only others")
	f.Lookup("archived").NoOptDefVal = "true"
	orders := map[string]signforms.SortOrder{"newest": signforms.NewestFirst, "oldest": signforms.OldestFirst}
	cli.OneOf(cmd, "order", "sort", "which come first: %s (default newest)", slices.Sorted(maps.Keys(orders)), func(word string) error {
		p.SortOrder = orders[word]
		return nil
	})
	f.StringVar(&p.Query, "query", "", "free text that the name must hold")
	f.StringVar(&p.DocumentID, "id", "", "only the one with this id")
	pageFlags(cmd, &p.Page, &p.Limit, 100)
}

// pageFlags adds the flags that every list has. most is the largest number of records in a page; 0 means any number.
func pageFlags(cmd *cobra.Command, page, limit *int, most int) {
	bounds := "1 or more"
	if most > 0 {
		bounds = fmt.Sprintf("1 to %d", most)
	}
	cmd.Flags().Var(countFlag(page, 0), "page", "only this page, from 1 (default all pages)")
	cmd.Flags().Var(countFlag(limit, most), "limit", "records per page, "+bounds+" (default 100, with --page the service's own)")
}

// countFlag returns a flag for a whole number from 1 to most. If most is 0, there is no upper
// limit.
func countFlag(count *int, most int) pflag.Value {
	return cli.FuncFlag("number", func(text string) error {
		n, err := strconv.Atoi(text)
		if most > 0 && (err != nil || n < 1 || n > most) {
			return fmt.Errorf("must be a whole number from 1 to %d", most)
		}
		if err != nil || n < 1 {
			return errors.New("must be a whole number, 1 or more")
		}
		*count = n
		return nil
	})
}

// archivedFlag returns a flag with the values yes and no. *archived is nil if the flag is not
// given.
func archivedFlag(archived **bool) pflag.Value {
	return cli.FuncFlag("bool", func(text string) error {
		if text != "true" && text != "false" {
			return errors.New("must be true or false")
		}
		*archived = new(text == "true")
		return nil
	})
}

// onePage returns the records of one page as a sequence.
func onePage[T any](asked int, page *signforms.Page[T], err error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err == nil {
			err = checkPage(asked, page.Raw)
		}
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

// checkPage returns an error if the response reports another page than the requested one.
func checkPage(asked int, raw signforms.RawResponse) error {
	var response struct {
		Pagination struct{ CurrentPage json.Number }
	}
	if json.Unmarshal(raw, &response) != nil { // an unreadable page number is not compared
		return nil
	}
	if n, err := response.Pagination.CurrentPage.Int64(); err == nil && n > 0 && n != int64(asked) {
		return fmt.Errorf("asked for page %d, and the service reports that this is page %d", asked, n)
	}
	return nil
}

// oneRecord returns a record as a sequence with one element.
func oneRecord[T any](record *T, err error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) { yield(record, err) }
}

// documentRecord is a document as --json prints it. Times that the service did not send are left
// out.
type documentRecord struct {
	*signforms.Document
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

func documentShape(d *signforms.Document) any { return documentRecord{d, d.CreatedAt, d.UpdatedAt} }

// signedOf returns how many of the signers have signed, such as 1/2.
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

// newList makes cmd a command that prints records of the service. read gets them; limit is the size of its pages.
func newList[T any](cmd *cobra.Command, columns []cli.Column[*T], shape func(*T) any, limit *int,
	read func(ctx context.Context, c *signforms.Client, args []string) iter.Seq2[*T, error]) *cobra.Command {
	var conn Connection
	var out cli.Output
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := conn.Connect()
		if err != nil {
			return err
		}
		records := func(yield func(*T, error) bool) {
			for record, err := range read(cmd.Context(), client, args) {
				if !yield(record, InFlags(err)) {
					return
				}
			}
		}
		return cli.PrintAll(cli.NewPrinter(cmd, out, columns, shape, pageSize(*limit)), records)
	}
	out.AddFlags(cmd)
	conn.AddFlags(cmd)
	return cmd
}

// newGet returns a command that prints one document or template, by its id.
func newGet[T any](id, short string, columns []cli.Column[*T], shape func(*T) any,
	get func(ctx context.Context, c *signforms.Client, id string) (*T, error)) *cobra.Command {
	return newList(&cobra.Command{Use: "get " + id, Short: short, Args: cli.ExactlyOne(id)}, columns, shape, new(1),
		func(ctx context.Context, c *signforms.Client, args []string) iter.Seq2[*T, error] {
			return oneRecord(get(ctx, c, args[0]))
		})
}

// oneOrNamed requires one argument, the id of a template or form, unless *id has the id of a record
// made from it. Its error says which ids to name.
func oneOrNamed(id *string, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || (len(args) == 0) == (*id == "") {
			return errors.New("name one " + what)
		}
		return nil
	}
}
