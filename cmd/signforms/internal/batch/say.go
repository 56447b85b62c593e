package batch

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// explain prints what the batch is about to send.
func (b *Batch) explain(w io.Writer) {
	are, rest, will, ends, begins, takes := "are", "going on with the rest", "will", "ends", "begins", "takes"
	if b.Flags.DryRun {
		are, rest, will, ends, begins, takes = "would be", "it would go on with the rest", "would", "would end", "would begin", "would take"
	}
	if b.done > 0 && b.Flags.NewRun {
		fmt.Fprintf(w, "%d of %d %s %s left out, because --resolve says that they were %s\n", b.done, len(b.Items), b.Many, are, b.Verb)
	} else if b.done > 0 {
		fmt.Fprintf(w, "%d of %d %s were %s by a run that has not ended and began at %s; %s\n", b.done, len(b.Items), b.Many, b.Verb, b.began(), rest)
	}
	if b.again > 0 {
		fmt.Fprintf(w, "%d of %d %s were %s by a run that has not ended and began at %s, and %s be %s again\n", b.again, len(b.Items), b.Many, b.Verb, b.began(), will, b.Verb)
	}
	for _, it := range b.Items {
		switch {
		case b.resolved(it) == "done":
			fmt.Fprintf(w, "%s: counts as %s, as --resolve says\n", it.title(), b.Verb)
		case b.resolved(it) == "again":
			fmt.Fprintf(w, "%s: %s be %s again, as --resolve says\n", it.title(), will, b.Verb)
		case it.untried(), it.prior.State == journal.Done && b.Flags.NewRun:
		case it.toOthers():
			fmt.Fprintf(w, "%s: %s %s to %s and others at %s\n", it.title(), it.prior.Item, b.was(it.prior), it.shared(), cli.Time(it.prior.At))
		case it.open():
			fmt.Fprintf(w, "%s: whether it was %s is unknown: %s\n", it.title(), b.Verb, b.LookFor(it.prior.At))
		case it.changed():
			fmt.Fprintf(w, "%s: was %s with other contents at %s\n", it.title(), b.Verb, cli.Time(it.prior.At))
		}
	}
	b.explainGone(w)
	if b.held > 0 {
		fmt.Fprintf(w, "an item whose outcome is unknown is not %s again: say --resolve ITEM=done, or --resolve ITEM=again\n", b.Verb)
	}
	if b.changed > 0 {
		fmt.Fprintf(w, "what was %s with other contents is not %s again: say --resolve ITEM=done, or --resolve ITEM=again; changed=… for all of them\n", b.Verb, b.Verb)
	}
	if len(b.todo) == 0 && b.held+b.changed+b.goneHeld == 0 && b.done > 0 {
		fmt.Fprintf(w, "nothing is left: that run %s here, and the same command again %s a new one\n", ends, begins)
		return
	}
	text := cli.Count(len(b.todo), b.Noun, b.Many) + " to be " + b.Verb
	if b.Takes != nil && len(b.todo) > 0 {
		switch through, d := b.Takes(len(b.todo)); {
		case through < len(b.todo):
			text += fmt.Sprintf("; at most 5 in 15 minutes are accepted, so within --max-wait %d of %d %s tried", through, len(b.todo), are)
		case d >= time.Second:
			text += fmt.Sprintf("; at most 5 in 15 minutes are accepted, so this %s %s", takes, cli.Rounded(d))
		}
	}
	fmt.Fprintln(w, text)
}

// was says what became of an entry.
func (b *Batch) was(e *journal.Entry) string {
	if e.State.Open() {
		return "may have been " + b.Verb
	}
	return "was " + b.Verb
}

// began says when the run that has not ended began. One without settings began with its first request.
func (b *Batch) began() string {
	if run := b.journal.Run(); run != nil {
		return cli.Time(run.At)
	}
	first := time.Now()
	for _, it := range b.Items {
		if it.prior != nil && it.prior.State == journal.Done && it.prior.Intended.Before(first) {
			first = it.prior.Intended
		}
	}
	return cli.Time(first)
}

// explainGone says which entries with an unknown outcome belong to no item of the batch any more.
func (b *Batch) explainGone(w io.Writer) {
	if b.goneResolved != "" {
		return
	}
	for _, e := range b.gone {
		fmt.Fprintf(w, "%s is no longer there, and whether it was %s is unknown: --resolve all=done or --resolve all=again decides it\n", goneTitle(e), b.Verb)
	}
}

func goneTitle(e journal.Entry) string { return e.Item + " as it was at " + cli.Time(e.At) }

// report says at the end of a run, which may have gone on with another, what became of its items.
func (b *Batch) report(w io.Writer) {
	text := fmt.Sprintf("%s: %d", b.Verb, b.tried-b.failed-b.unknown)
	if b.done > 0 {
		text += fmt.Sprintf(", and %d before", b.done)
	}
	fmt.Fprintln(w, text)
	var failed, unknown, changed []string
	for _, it := range b.Items {
		switch {
		case it.Record.Outcome == outcomeFailed:
			failed = append(failed, it.title())
		case it.Record.Outcome == outcomeUnknown, it.open() && b.resolved(it) == "":
			unknown = append(unknown, it.title())
		case it.changed() && it.Record.Outcome == "" && b.resolved(it) == "":
			changed = append(changed, it.title())
		}
	}
	for _, e := range b.gone[:b.goneHeld] {
		unknown = append(unknown, goneTitle(e))
	}
	for _, group := range []struct {
		what  string
		names []string
	}{{"not " + b.Verb, failed}, {"unknown", unknown}, {b.Verb + " with other contents", changed}} {
		if len(group.names) > 0 {
			fmt.Fprintf(w, "%s: %d: %s\n", group.what, len(group.names), Named(group.names))
		}
	}
}

// verdict returns how the batch ended, as an error with its exit code; nil when all went well.
func (b *Batch) verdict() error {
	left, failed, over := len(b.todo)-b.tried, b.failed, b.journal != nil && !b.Whole && b.over()
	if over { // what is left failed before, in this run
		left, failed = 0, failed+left
	}
	var texts []string
	count := func(n int, text string) {
		if n > 0 {
			texts = append(texts, fmt.Sprintf(text, n))
		}
	}
	if b.stopped != nil && !(over && b.noSlot(b.stopped)) {
		texts = append(texts, b.stopped.Error())
	}
	count(failed, "%d failed")
	count(b.unknown+b.held+b.goneHeld, "%d unknown")
	count(b.changed, "%d sent with other contents")
	count(left, "%d not tried")
	texts = append(texts, b.Lacks...)
	switch {
	case left > 0 && b.journal != nil && b.Flags.NewRun:
		texts = append(texts, "the same command without --new-run goes on with the rest")
	case left > 0 && b.journal != nil:
		texts = append(texts, "the same command again goes on with the rest")
	case over && failed > 0:
		texts = append(texts, "each "+b.Noun+" was tried, so the same command again begins a new run")
	}
	code := cli.ExitOK
	switch {
	case b.unknown+b.held+b.goneHeld > 0:
		code = cli.ExitUnknown
	case failed+left > 0 && b.tried > b.failed, b.changed > 0:
		code = cli.ExitPartial
	case errors.Is(b.stopped, errInterrupted):
		code = cli.ExitInterrupted
	case failed+left > 0 || b.stopped != nil:
		code = cli.ExitFailure
	default:
		return b.lacking()
	}
	return cli.ExitWith(code, &Verdict{strings.Join(texts, "; "), b.stopped})
}

// lacking is the error of a batch that did all that it had to, where items may be missing.
func (b *Batch) lacking() error {
	if len(b.Lacks) == 0 {
		return nil
	}
	return cli.ExitWith(cli.ExitPartial, errors.New(strings.Join(b.Lacks, "; ")))
}

// Verdict is how a call or a batch ended, with the error that stopped it, if one did.
type Verdict struct {
	Text  string
	Cause error
}

func (v *Verdict) Error() string { return v.Text }
func (v *Verdict) Unwrap() error { return v.Cause }

// maxNamed bounds how many items a message names.
const maxNamed = 20

// Named joins names, of which it leaves out those beyond the first 20.
func Named(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
