// Package batch sends to many, reminds and voids. What it has done is in a results file that a person can read and
// edit.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// item is one call of a batch.
type item struct {
	key  string // in the results file, and for people
	call func(context.Context) (id, message string, err error)
}

// record is what a batch prints for one item.
type record struct {
	Item    string `json:"item"`
	Outcome string `json:"outcome"`
	ID      string `json:"createdDocumentId,omitempty"`
	Message string `json:"message,omitempty"`
}

// columns returns the columns of records, with the documents of a batch that makes some.
func (b *batch) columns() []cli.Column[record] {
	all := []cli.Column[record]{
		{Name: "item", Value: func(r record) string { return r.Item }},
		{Name: "outcome", Value: func(r record) string { return r.Outcome }},
		{Name: "message", Value: func(r record) string { return r.Message }},
	}
	if b.makes {
		all = slices.Insert(all, 2, cli.Column[record]{Name: "createdDocumentId",
			Value: func(r record) string { return r.ID }})
	}
	return all
}

// batch makes calls, one after the other.
type batch struct {
	verb, noun  string // in the past tense: sent; for one item: line
	out         cli.Output
	dryRun, yes bool
	makes       bool     // documents
	results     *results // nil: nothing is remembered
	limited     bool     // by the limit of reminders

	counts map[string]int // of outcomes
	inARow int            // how many calls in a row had no answer
	ended  error          // why the rest was not tried
}

func (b *batch) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&b.yes, "yes", false, "do not ask; needed without a terminal for more than one receiver, "+
		"line or document")
}

// run makes the calls of those items that are not done. Its error carries the exit code.
func (b *batch) run(cmd *cobra.Command, items []item) error {
	doubtful := 0
	if b.results != nil {
		all := len(items)
		var open []item
		for _, it := range items {
			if b.results.open(it.key) {
				open = append(open, it)
			} else if b.results.rows[it.key].state == unknown {
				doubtful++
			}
		}
		items = open
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s to be %s (%s)\n", len(items), cli.Count(all, b.noun, b.noun+"s"), b.verb,
			cli.Plain(b.results.path))
	}
	printer := cli.NewPrinter(cmd, b.out, b.columns(), func(r record) any { return r }, 1)
	if b.dryRun {
		for _, it := range items {
			if err := printer.Print(record{Item: it.key, Outcome: "would be " + b.verb}); err != nil {
				return err
			}
		}
		return printer.End()
	}
	if len(items) > 1 && !b.yes {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d %ss will be %s.", len(items), b.noun, b.verb)); err != nil {
			return err
		}
	}
	if b.results != nil {
		if err := b.results.begin(); err != nil {
			return err
		}
	} else if len(items) == 1 { // one call prints its own error
		id, message, err := items[0].call(cmd.Context())
		if err != nil {
			return err
		}
		return errors.Join(printer.Print(record{items[0].key, b.verb, id, message}), printer.End())
	}
	b.work(cmd, items, printer)
	return b.verdict(len(items), doubtful)
}

func (b *batch) work(cmd *cobra.Command, items []item, printer *cli.Printer[record]) {
	b.counts = map[string]int{}
	progress := cli.NewProgress(cmd.ErrOrStderr(), "tried", len(items))
	stop := progress.Interrupts(cmd.Context())
	for _, it := range items {
		if cmd.Context().Err() != nil {
			b.ended = cmp.Or(b.ended, errInterrupted)
		}
		if b.ended != nil {
			break
		}
		r := b.try(cmd.Context(), it)
		if r.Outcome == "" {
			break
		}
		b.counts[r.Outcome]++
		if err := progress.Tell(func() error { return printer.Print(r) }); err != nil {
			b.ended = cmp.Or(b.ended, err)
		}
	}
	stop()
	progress.End()
	b.ended = cmp.Or(b.ended, printer.End())
}

// maxUnanswered is the number of calls in a row without a clear answer after which a batch stops.
const maxUnanswered = 3

var errInterrupted = errors.New("interrupted")

// try makes one call and notes its outcome. Without a request there is none.
func (b *batch) try(ctx context.Context, it item) record {
	id, message, err := it.call(context.WithValue(ctx, itemKey{}, it.key))
	e, _ := errors.AsType[*signforms.Error](err)
	r := record{it.key, b.verb, id, message}
	state, note := sent, ""
	switch {
	case b.results != nil && b.results.failed != nil:
		b.ended = b.results.failed
		return record{}
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		b.ended = errInterrupted
		return record{}
	case e != nil && e.Local && b.limited:
		b.ended = err
		return record{}
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		state, r.Outcome, r.Message = unknown, unknown, err.Error()
	default:
		state, r.Outcome, r.Message = failed, failed, err.Error()
		note = "not carried out"
		if e != nil && e.StatusCode > 0 { // its text may hold an address
			note = strings.TrimSpace(fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode)))
		}
	}
	silent := errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, signforms.ErrOutcomeUnknown)
	if b.inARow++; !silent {
		b.inARow = 0
	}
	switch {
	case b.inARow == maxUnanswered:
		b.ended = fmt.Errorf("no clear answer from the service %d times in a row", maxUnanswered)
	case errors.Is(err, signforms.ErrForbidden):
		b.ended = errors.New("the service refuses the API key or the workspace")
	}
	if b.results != nil && b.results.rows[it.key].state == sending {
		if err := b.results.add(it.key, state, id, note); err != nil {
			b.ended = err
		}
	}
	return r
}

// verdict returns how a batch ended, as an error with its exit code; nil when all went well.
func (b *batch) verdict(all, doubtful int) error {
	tried := b.counts[b.verb] + b.counts[failed] + b.counts[unknown]
	left, doubtful := all-tried, doubtful+b.counts[unknown]
	texts := []string{fmt.Sprintf("%d %s", b.counts[b.verb], b.verb)}
	for _, count := range []struct {
		n    int
		text string
	}{{b.counts[failed], "failed"}, {doubtful, "unknown"}, {left, "not tried"}} {
		if count.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", count.n, count.text))
		}
	}
	if b.ended != nil {
		texts = append(texts, b.ended.Error())
	}
	if b.results != nil && b.results.failed == nil && b.counts[failed]+left > 0 {
		texts = append(texts, "the same command again tries what is not "+b.verb)
	}
	if b.results != nil && doubtful > 0 {
		texts = append(texts, fmt.Sprintf("what is unknown is not repeated: look, and edit its last state in %s to %s "+
			"or %s", b.results.path, sent, again))
	}
	code := cli.ExitFailure
	switch {
	case doubtful > 0:
		code = cli.ExitUnknown
	case left == 0 && b.counts[failed] == 0 && b.ended == nil:
		return nil
	case b.counts[b.verb] > 0:
		code = cli.ExitPartial
	case errors.Is(b.ended, errInterrupted):
		code = cli.ExitInterrupted
	}
	return cli.ExitWith(code, errors.New(strings.Join(texts, "; ")))
}

// refs returns references to the documents with these ids: PDF documents or, with a template, documents made from it.
// A malformed id, or one that is given twice, is an error before anything is done with the others.
func refs(templateID string, ids []string) (all []signforms.DocumentRef, err error) {
	given := map[string]bool{}
	for _, id := range ids {
		ref := signforms.PDFDocument(id)
		if templateID != "" {
			ref = signforms.TemplateDocument(templateID, id)
		}
		key := strings.ToLower(id)
		if _, err := ref.MarshalText(); err != nil {
			return nil, cli.UsageError("%q: %s", id, service.WrongInputs(err))
		}
		if given[key] {
			return nil, cli.UsageError("%s is given twice", id)
		}
		given[key] = true
		all = append(all, ref)
	}
	return all, nil
}
