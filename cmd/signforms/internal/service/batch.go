package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// The outcomes that a batch prints.
const (
	outcomeWould   = "would be %s"
	outcomeFailed  = "failed"
	outcomeUnknown = "unknown"
)

// batch makes many calls, one after the other. Runs that share a journal make each call at most once between them.
type batch struct {
	verb    string // in the past tense: sent, reminded
	noun    string // for one item: document
	many    string // the plural of noun: documents
	items   []*item
	journal *journal.Journal // nil: nothing is recorded
	intents *intents         // nil without a journal
	flags   batchFlags
	columns []cli.Column[batchRecord]
	// whole means that a run ends only when all items are done. Otherwise it ends when each item has been tried.
	whole bool
	// order arranges the items to do. Nil means that they stay as they are.
	order func(todo []*item)
	// takes returns how long it takes until n more items can be sent. Nil means that there is no limit.
	takes func(n int) time.Duration
	// maxWait is how long one item waits for the limit. Less than 0 means as long as it takes.
	maxWait time.Duration
	// lookFor tells people how to find out whether an item was done at that time.
	lookFor func(at time.Time) string
	lacks   []string // why items may be missing from the batch
	// begin is called before the first request, and ended after a run that has ended. Both may be nil.
	begin, ended func() error

	resolved      func(*item) string // what --resolve says of an item: done, again or nothing
	gone          []journal.Entry    // those of the run with an unknown outcome that belong to no item any more
	goneResolved  string             // what --resolve says of them
	goneHeld      int                // how many of them keep the run from ending
	todo          []*item
	done, held    int
	again         int // items to do that were done
	changed       int // items of which other contents were sent
	tried, failed int
	unknown       int
	inARow        int   // how many calls in a row had no answer
	stopped       error // why the rest was not tried
	err           error // from the last call
}

// batchFlags are the flags of every command that sends something.
type batchFlags struct {
	dryRun, yes, newRun bool
	unknown             bool // only look up what is unknown
	resolve             []string
	journal             string
}

func (f *batchFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask; needed for more than one recipient without a terminal")
}

func (f *batchFlags) addJournalFlags(cmd *cobra.Command, where string) {
	cmd.Flags().StringVar(&f.journal, "journal", "", "`file` that remembers what was done (default "+where+")")
	cmd.Flags().BoolVar(&f.newRun, "new-run", false, "start over instead of continuing an unfinished run; items whose outcome is unknown are still held back")
	cmd.Flags().StringArrayVar(&f.resolve, "resolve", nil, "`ITEM=done` or ITEM=again for an item whose outcome was unknown, after you have looked; all=… for all of them")
}

// run carries out the batch. Its error carries the exit code.
func (b *batch) run(cmd *cobra.Command, o cli.Output) error {
	if err := b.sort(); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	if !b.single() || b.flags.dryRun {
		b.explain(stderr)
	}
	p := cli.NewPrinter(cmd, o, b.columns, func(r batchRecord) any { return r }, 1)
	if b.flags.dryRun {
		for _, it := range b.todo {
			it.record.Outcome = fmt.Sprintf(outcomeWould, b.verb)
			if err := p.Print(it.record); err != nil {
				return err
			}
		}
		return b.lacking()
	}
	if len(b.todo) > 1 && !b.flags.yes {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d %s will be %s.", len(b.todo), b.many, b.verb)); err != nil {
			return err
		}
	}
	if b.begin != nil {
		if err := b.begin(); err != nil {
			return err
		}
	}
	if err := b.settleResolved(); err != nil {
		return err
	}
	if len(b.todo) > 0 {
		b.work(cmd.Context(), p, stderr)
	}
	if b.whole {
		b.report(stderr)
	}
	if err := b.forgetEnded(); err != nil {
		return err
	}
	if b.single() && b.err != nil {
		return b.err
	}
	return b.verdict()
}

// single reports whether the batch is one call without a journal. Such a batch prints only what the call itself returns.
func (b *batch) single() bool { return len(b.items) == 1 && b.journal == nil }

// explain prints what the batch is about to send.
func (b *batch) explain(w io.Writer) {
	if b.done > 0 && b.flags.newRun {
		fmt.Fprintf(w, "%d of %d %s are left out, because --resolve says that they were %s\n", b.done, len(b.items), b.many, b.verb)
	} else if b.done > 0 {
		fmt.Fprintf(w, "%d of %d %s were %s by a run that has not ended and began at %s; going on with the rest\n", b.done, len(b.items), b.many, b.verb, b.began())
	}
	if b.again > 0 {
		fmt.Fprintf(w, "%d of %d %s were %s by a run that has not ended and began at %s, and will be %s again\n", b.again, len(b.items), b.many, b.verb, b.began(), b.verb)
	}
	for _, it := range b.items {
		switch {
		case b.resolved(it) != "":
		case it.open():
			fmt.Fprintf(w, "%s: whether it was %s is unknown: %s\n", it.title(), b.verb, b.lookFor(it.prior.At))
		case it.changed() && !b.flags.newRun:
			fmt.Fprintf(w, "%s: was %s with other contents at %s\n", it.title(), b.verb, cli.Time(it.prior.At))
		}
	}
	b.explainGone(w)
	if b.held > 0 {
		fmt.Fprintf(w, "an item whose outcome is unknown is not %s again: say --resolve ITEM=done, or --resolve ITEM=again\n", b.verb)
	}
	if b.changed > 0 {
		fmt.Fprintf(w, "what was %s with other contents is not %s again: say --resolve ITEM=done, or --resolve ITEM=again; changed=… for all of them\n", b.verb, b.verb)
	}
	if len(b.todo) == 0 && b.held+b.changed+b.goneHeld == 0 && b.done > 0 {
		fmt.Fprintf(w, "nothing is left: that run ends here, and the same command again begins a new one\n")
		return
	}
	text := cli.Count(len(b.todo), b.noun, b.many) + " to be " + b.verb
	if b.takes != nil && len(b.todo) > 0 {
		if d := b.takes(len(b.todo)); d >= time.Second {
			text += fmt.Sprintf("; at most 5 in 15 minutes are accepted, so this takes %s", cli.Rounded(d))
		}
	}
	fmt.Fprintln(w, text)
}

// began says when the run that has not ended began. One without settings began with its first request.
func (b *batch) began() string {
	if run := b.journal.Run(); run != nil {
		return cli.Time(run.At)
	}
	first := time.Now()
	for _, it := range b.items {
		if it.prior != nil && it.prior.State == journal.Done && it.prior.Intended.Before(first) {
			first = it.prior.Intended
		}
	}
	return cli.Time(first)
}

// explainGone says which entries with an unknown outcome belong to no item of the batch any more.
func (b *batch) explainGone(w io.Writer) {
	if b.goneResolved != "" {
		return
	}
	for _, e := range b.gone {
		fmt.Fprintf(w, "%s is no longer there, and whether it was %s is unknown: --resolve all=done or --resolve all=again decides it\n", goneTitle(e), b.verb)
	}
}

func goneTitle(e journal.Entry) string { return e.Item + " as it was at " + cli.Time(e.At) }

// maxUnanswered is the number of calls in a row without a clear answer after which a batch stops. Each of them may leave an unknown outcome.
const maxUnanswered = 3

func (b *batch) work(ctx context.Context, p *cli.Printer[batchRecord], stderr io.Writer) {
	tell := cli.NewProgress(stderr, b.verb, len(b.todo))
	stop := tell.Interrupts(ctx)
	defer func() {
		stop()
		tell.End()
		if err := p.End(); err != nil && b.stopped == nil {
			b.stopped = err
		}
	}()
	for i, it := range b.todo {
		if b.stopped == nil && ctx.Err() != nil {
			b.stopped = errors.New("interrupted")
		}
		if b.stopped != nil {
			return
		}
		if b.takes != nil {
			if next := b.takes(1); b.maxWait < 0 || next <= b.maxWait { // otherwise it fails at once
				tell.Waits(next, b.takes(len(b.todo)-i))
			}
		}
		b.try(ctx, it, func(failed bool) {
			if err := tell.Tell(failed, func() error { return p.Print(it.record) }); err != nil && b.stopped == nil {
				b.stopped = err
			}
		})
	}
}

// try makes the call of one item and notes its outcome.
func (b *batch) try(ctx context.Context, it *item, tell func(failed bool)) {
	err := it.do(context.WithValue(ctx, itemKey{}, it), &it.record)
	if err == nil {
		err = b.notOfAnother(it)
	}
	b.err = err
	if b.intents != nil && b.intents.failed != nil {
		b.stopped = fmt.Errorf("%w: %w", errNoIntent, b.intents.failed)
		return
	}
	var state journal.State
	state, it.record.Outcome = b.judge(ctx, err)
	// Without a request nothing is learned: an outcome that was unknown before stays unknown.
	if b.journal != nil {
		if e, _ := b.journal.Entry(it.key); e.State == journal.Begun {
			if err := b.journal.Settle(it.key, state, it.record.CreatedDocumentID); err != nil {
				b.stopped = err
			}
		}
	}
	if it.record.Outcome == "" {
		return
	}
	b.tried++
	if b.single() && err != nil {
		return
	}
	if err != nil {
		it.record.Message = inFlags(err).Error()
	}
	tell(err != nil)
}

// notOfAnother returns an error if the answer for an item named the document of another: each call makes one of its own.
func (b *batch) notOfAnother(it *item) error {
	if !b.whole || b.journal == nil || it.record.CreatedDocumentID == "" {
		return nil
	}
	for _, e := range b.journal.Entries() {
		if e.Key != it.key && e.ID == it.record.CreatedDocumentID {
			it.record.CreatedDocumentID, it.record.Status = "", ""
			return fmt.Errorf("the answer named the document of %s: %w", e.Item, signforms.ErrOutcomeUnknown)
		}
	}
	return nil
}

// judge returns the state for the journal and the outcome to print. The outcome is empty for an item that was not tried because
// the batch was interrupted, or because the limit allowed nothing within maxWait.
func (b *batch) judge(ctx context.Context, err error) (journal.State, string) {
	silent := errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, signforms.ErrOutcomeUnknown)
	if b.inARow++; !silent {
		b.inARow = 0
	}
	if b.inARow >= maxUnanswered {
		b.stopped = fmt.Errorf("no clear answer from the service %d times in a row", maxUnanswered)
	}
	switch {
	case err == nil:
		return journal.Done, b.verb
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		b.unknown++
		return journal.Unknown, outcomeUnknown
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		b.stopped = errors.New("interrupted")
		return journal.Failed, ""
	case b.noSlot(err):
		b.stopped = inFlags(err)
		return journal.Failed, ""
	case errors.Is(err, signforms.ErrForbidden):
		b.stopped = errors.New("the service refuses the API key or the workspace")
	}
	b.failed++
	return journal.Failed, outcomeFailed
}

// noSlot reports whether the limit, which this machine counts, allowed no request. The next item would fare no better.
func (b *batch) noSlot(err error) bool {
	e := (*signforms.Error)(nil)
	return b.takes != nil && errors.Is(err, signforms.ErrRateLimited) && errors.As(err, &e) && e.Local
}

// report says at the end of a run, which may have gone on with another, what became of its items.
func (b *batch) report(w io.Writer) {
	text := fmt.Sprintf("%s: %d", b.verb, b.tried-b.failed-b.unknown)
	if b.done > 0 {
		text += fmt.Sprintf(", and %d before", b.done)
	}
	fmt.Fprintln(w, text)
	var failed, unknown, changed []string
	for _, it := range b.items {
		switch {
		case it.record.Outcome == outcomeFailed:
			failed = append(failed, it.title())
		case it.record.Outcome == outcomeUnknown, it.open() && b.resolved(it) == "":
			unknown = append(unknown, it.title())
		case it.changed() && it.record.Outcome == "" && b.resolved(it) == "":
			changed = append(changed, it.title())
		}
	}
	for _, e := range b.gone[:b.goneHeld] {
		unknown = append(unknown, goneTitle(e))
	}
	for _, group := range []struct {
		what  string
		names []string
	}{{"not " + b.verb, failed}, {"unknown", unknown}, {b.verb + " with other contents", changed}} {
		if len(group.names) > 0 {
			fmt.Fprintf(w, "%s: %d: %s\n", group.what, len(group.names), named(group.names))
		}
	}
}

// verdict returns how the batch ended, as an error with its exit code; nil when all went well.
func (b *batch) verdict() error {
	left := len(b.todo) - b.tried
	var texts []string
	count := func(n int, text string) {
		if n > 0 {
			texts = append(texts, fmt.Sprintf(text, n))
		}
	}
	if b.stopped != nil {
		texts = append(texts, b.stopped.Error())
	}
	count(b.failed, "%d failed")
	count(b.unknown+b.held+b.goneHeld, "%d unknown")
	count(b.changed, "%d sent with other contents")
	count(left, "%d not tried")
	texts = append(texts, b.lacks...)
	switch {
	case left > 0 && b.journal != nil && b.flags.newRun:
		texts = append(texts, "the same command without --new-run goes on with the rest")
	case left > 0 && b.journal != nil:
		texts = append(texts, "the same command again goes on with the rest")
	}
	code := cli.ExitOK
	switch {
	case b.unknown+b.held+b.goneHeld > 0:
		code = cli.ExitUnknown
	case b.failed+left > 0 && b.tried > b.failed, b.changed > 0:
		code = cli.ExitPartial
	case b.failed+left > 0 || b.stopped != nil:
		code = cli.ExitFailure
	default:
		return b.lacking()
	}
	return cli.ExitWith(code, &verdict{strings.Join(texts, "; "), b.stopped})
}

// lacking is the error of a batch that did all that it had to, where items may be missing.
func (b *batch) lacking() error {
	if len(b.lacks) == 0 {
		return nil
	}
	return cli.ExitWith(cli.ExitPartial, errors.New(strings.Join(b.lacks, "; ")))
}

// verdict is how a batch ended, with the error that stopped it, if one did.
type verdict struct {
	text  string
	cause error
}

func (v *verdict) Error() string { return v.text }
func (v *verdict) Unwrap() error { return v.cause }
