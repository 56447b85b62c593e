// Package batch sends and reminds, one or many. What it has done of many is in a results file that a person can read
// and edit.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// item is one call of a batch.
type item struct {
	line string // as in a row
	call func(context.Context) (id, message string, err error)
}

var columns = []cli.Column[row]{
	{Name: "item", Value: func(r row) string { return r.Line }},
	{Name: "outcome", Value: func(r row) string { return r.State }},
	{Name: "createdDocumentId", Value: func(r row) string { return r.ID }},
	{Name: "message", Value: func(r row) string { return r.Reason }},
}

// batch makes calls, one after the other.
type batch struct {
	verb, noun string // in the past tense: sent; for one item: line
	out        cli.Output
	yes        bool
	results    *results
	progress   *cli.Progress

	counts map[string]int // of states, and of the verb
	inARow int            // calls without a clear answer
	ended  error          // why the rest was not tried
}

func (b *batch) addYes(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.yes, "yes", false, "do not ask; needed without a terminal for more than one "+b.noun)
}

// one makes a call that no results file remembers.
func (b *batch) one(cmd *cobra.Command, it item) error {
	b.progress = cli.NewProgress(cmd.ErrOrStderr(), "tried", 1)
	id, message, err := it.call(cmd.Context())
	if err != nil {
		return err
	}
	return cli.PrintItems(cmd, b.out, columns, []row{{it.line, b.verb, id, message}})
}

// run makes the calls of those items that are not done. Its error carries the exit code.
func (b *batch) run(cmd *cobra.Command, all []item) error {
	b.counts = map[string]int{}
	var items []item
	for _, it := range all {
		if b.results.toDo(it.line) {
			items = append(items, it)
		} else if b.results.rows[it.line].State == unknown {
			b.counts[unknown]++
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s to be %s (%s)\n", len(items), cli.Count(len(all), b.noun, b.noun+"s"), b.verb,
		cli.Plain(b.results.path))
	if len(items) > 1 && !b.yes {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d %ss will be %s.", len(items), b.noun, b.verb)); err != nil {
			return err
		}
	}
	printer := cli.NewPrinter(cmd, b.out, columns, func(r row) any { return r }, 1)
	b.progress = cli.NewProgress(cmd.ErrOrStderr(), "tried", len(items))
	stop := b.progress.Interrupts(cmd.Context())
	tried := 0
	for _, it := range items {
		r := b.try(cmd.Context(), it)
		if r.State == "" {
			break
		}
		tried++
		b.ended = cmp.Or(b.progress.Tell(func() error { return printer.Print(r) }), b.ended)
		if b.results.failed != nil {
			r.State = unknown // the next run finds no outcome in the file
		}
		if b.counts[r.State]++; b.ended != nil {
			break
		}
	}
	stop()
	b.progress.End()
	b.ended = cmp.Or(b.ended, printer.End())
	return b.verdict(len(items) - tried)
}

// maxUnclear is the number of calls in a row without a clear answer after which a batch stops.
const maxUnclear = 3

var errInterrupted = errors.New("interrupted")

// try makes one call and notes what became of it. Where no request was made it returns nothing.
func (b *batch) try(ctx context.Context, it item) row {
	if ctx.Err() != nil {
		b.ended = errInterrupted
		return row{}
	}
	b.results.next = it.line
	id, message, err := it.call(ctx)
	noted, shown := row{it.line, sent, id, ""}, row{it.line, b.verb, id, message}
	e, _ := errors.AsType[*signforms.Error](err)
	switch {
	case b.results.failed != nil:
		b.ended = b.results.failed
		return row{}
	case err == nil:
	case b.results.next != "": // no request was made
		if b.ended = err; ctx.Err() != nil {
			b.ended = errInterrupted
		}
		return row{}
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		noted.State, shown.State, shown.Reason = unknown, unknown, err.Error()
	default:
		noted.State, shown.State, shown.Reason = failed, failed, err.Error()
		noted.Reason = "not carried out"
		if e != nil && e.StatusCode > 0 { // its text may hold an address
			noted.Reason = fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
		}
	}
	b.inARow++
	if !errors.Is(err, signforms.ErrUnavailable) && !errors.Is(err, signforms.ErrOutcomeUnknown) &&
		!errors.Is(err, signforms.ErrForbidden) {
		b.inARow = 0
	}
	if b.inARow == maxUnclear {
		b.ended = fmt.Errorf("the service refused the key or had no clear answer %d times in a row", maxUnclear)
	}
	b.ended = cmp.Or(b.results.add(noted), b.ended)
	return shown
}

// verdict returns how a batch ended, as an error with its exit code; nil when all went well.
func (b *batch) verdict(left int) error {
	done, failures, doubtful := b.counts[b.verb], b.counts[failed], b.counts[unknown]
	code := cli.ExitFailure
	switch {
	case doubtful > 0:
		code = cli.ExitUnknown
	case failures+left == 0 && b.ended == nil:
		return nil
	case done > 0:
		code = cli.ExitPartial
	case b.ended == errInterrupted:
		code = cli.ExitInterrupted
	}
	text := fmt.Sprintf("%d %s; %d failed; %d unknown; %d not tried", done, b.verb, failures, doubtful, left)
	if b.ended != nil {
		text += "; " + b.ended.Error()
	}
	if failures+left > 0 {
		text += "; the same command again tries what failed or was not tried"
	}
	if doubtful > 0 {
		text += fmt.Sprintf("; what is unknown stays so until you edit its last state in %s to sent or again", b.results.path)
	}
	return cli.ExitWith(code, errors.New(text))
}
