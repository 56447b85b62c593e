// Package batch executes one or many sends or reminders. The outcomes of many are recorded in a
// results file that a person can read and edit.
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
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// item is one call of a batch.
type item struct {
	line string // see row.Line
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
	noun     string // noun for one item
	conn     service.Connection
	out      cli.Output
	yes      bool
	results  *results
	progress *cli.Progress
	counts   map[string]int // counts by state
	ended    error          // why the remaining items were not tried
}

func (b *batch) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.yes, "yes", false, "do not ask; needed without a terminal for more than one "+b.noun)
	cmd.Flags().BoolVar(&b.out.JSON, "json", false, "print one JSON record a line")
	b.conn.AddFlags(cmd)
}

// one makes a call without a results file.
func (b *batch) one(cmd *cobra.Command, it item) error {
	b.progress = cli.NewProgress(cmd.ErrOrStderr(), "tried", 1)
	id, message, err := it.call(cmd.Context())
	if err != nil {
		return err
	}
	if err := cli.PrintItems(cmd, b.out, columns, []row{{it.line, sent, id, message}}); err != nil {
		return cli.ExitWith(cli.ExitPartial, fmt.Errorf("it was sent, and this could not be printed: %w", err))
	}
	return nil
}

// run makes the calls of the items that are not finished. Its error has the exit code.
func (b *batch) run(cmd *cobra.Command, all []item) error {
	b.counts = map[string]int{}
	var items []item
	for _, it := range all {
		if b.results.toDo(it.line) {
			items = append(items, it)
		} else if state := b.results.rows[it.line].State; state != sent {
			b.counts[state]++
		}
	}
	elsewhere := ""
	if n := b.counts[moved]; n > 0 {
		elsewhere = fmt.Sprintf("; %d moved to other files by --rest", n)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s to be sent%s (%s)\n", len(items), cli.Count(len(all), b.noun, b.noun+"s"),
		elsewhere, cli.Plain(b.results.path))
	if len(items) > 1 && !b.yes {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d %ss will be sent.", len(items), b.noun)); err != nil {
			return err
		}
	}
	printer := cli.NewPrinter(cmd, b.out, columns, func(r row) any { return r }, 1)
	b.progress = cli.NewProgress(cmd.ErrOrStderr(), "tried", len(items))
	stop := b.progress.Interrupts(cmd.Context())
	left := len(items)
	for _, it := range items {
		r := b.try(cmd.Context(), it)
		if r.State == "" {
			break
		}
		left--
		b.ended = cmp.Or(b.progress.Tell(func() error { return printer.Print(r) }), b.ended)
		if b.results.failed != nil {
			r.State = unknown // the next run will find no outcome in the file
		}
		if b.counts[r.State]++; b.ended != nil {
			break
		}
	}
	stop()
	b.progress.End()
	b.ended = cmp.Or(b.ended, printer.End())
	return b.verdict(left)
}

// try makes one call and returns its outcome. If no request was made, it returns an empty row.
func (b *batch) try(ctx context.Context, it item) row {
	if b.ended = ctx.Err(); b.ended != nil {
		return row{}
	}
	b.results.next = it.line
	id, message, err := it.call(ctx)
	err = service.InFlags(err)
	if b.results.failed != nil || b.results.next != "" {
		b.ended = cmp.Or(b.results.failed, err)
		return row{}
	}
	shown := row{it.line, sent, id, message}
	if err != nil {
		shown.State, shown.Reason = failed, err.Error()
	}
	if errors.Is(err, signforms.ErrOutcomeUnknown) {
		shown.State = unknown
	}
	if shown.State == unknown || errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, signforms.ErrBadResponse) ||
		errors.Is(err, signforms.ErrForbidden) {
		b.ended = errors.New("the service refused the key or gave no clear response")
	}
	noted := row{it.line, shown.State, id, ""}
	if e, ok := errors.AsType[*signforms.Error](err); ok && e.StatusCode > 0 { // the text of the error may contain an address
		noted.Reason = fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	}
	b.ended = cmp.Or(b.results.add(noted), b.ended)
	return shown
}

// verdict returns the result of a batch as an error with its exit code. It returns nil if all calls
// succeeded.
func (b *batch) verdict(left int) error {
	done, failures, doubtful := b.counts[sent], b.counts[failed], b.counts[unknown]
	ended, code := cli.Interrupted(b.ended), cli.ExitFailure
	switch {
	case doubtful > 0:
		code = cli.ExitUnknown
	case failures+left == 0 && ended == nil:
		return nil
	case done > 0:
		code = cli.ExitPartial
	case errors.Is(b.ended, context.Canceled):
		code = cli.ExitInterrupted
	}
	text := fmt.Sprintf("%d sent; %d failed; %d unknown; %d not tried", done, failures, doubtful, left)
	if ended != nil {
		text += "; " + ended.Error()
	}
	return cli.ExitWith(code, fmt.Errorf("%s; the same command again goes on, and leaves what is unknown until you edit its "+
		"last state in %s to sent or again", text, b.results.path))
}
