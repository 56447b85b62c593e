package batch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

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

// Batch makes many calls, one after the other. Runs that share a journal make each call at most once between them.
type Batch struct {
	Verb  string // in the past tense: sent, reminded
	Noun  string // for one item: document
	Many  string // the plural of Noun: documents
	Items []*Item
	Flags Flags
	// Whole means that a run ends only when all items are done. Otherwise it ends when each item has been tried.
	Whole bool
	// Order arranges the items to do. Nil means that they stay as they are.
	Order func(todo []*Item)
	// Takes returns how many of n more items the limit lets through before one would fail because it may not wait so long, and how long
	// these take. Nil means that there is no limit.
	Takes func(n int) (through int, d time.Duration)
	// LookFor tells people how to find out whether an item was done at that time.
	LookFor func(at time.Time) string
	Lacks   []string // why items may be missing from the batch

	journal *journal.Journal // nil: nothing is recorded
	intents *intents         // nil without a journal
	mailing *mailingRun      // nil where the items are not lines of a file

	resolved      func(*Item) string // what --resolve says of an item: done, again or nothing
	gone          []journal.Entry    // those with an unknown outcome that belong to no item any more
	goneResolved  string             // what --resolve says of them
	goneHeld      int                // how many of them keep the run from ending
	todo          []*Item
	done, held    int
	again         int // items to do that were done
	changed       int // items of which other contents were sent
	tried, failed int
	unknown       int
	inARow        int   // how many calls in a row had no answer
	stopped       error // why the rest was not tried
	err           error // from the last call
}

// Flags are what the user says about a batch.
type Flags struct {
	DryRun, Yes, NewRun bool
	Unknown             bool // only look up what is unknown
	Resolve             []string
	Journal             string
}

// Screen is where a batch shows what it does, and asks.
type Screen struct {
	Printer *cli.Printer[Record]
	Stderr  io.Writer
	Confirm func(question string) error // nil error: the user agrees
}

// OpenJournal opens the journal at path for the batch. It changes the options so that the journal records the client's requests as
// those of a run. What only looks does not create a journal: then closeJournal does nothing.
func (b *Batch) OpenJournal(path, run string, o *signforms.Options) (closeJournal func() error, err error) {
	if _, err := os.Stat(path); (b.Flags.DryRun || b.Flags.Unknown) && err != nil {
		return func() error { return nil }, nil
	}
	j, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	next := http.DefaultTransport
	if o.HTTPClient != nil && o.HTTPClient.Transport != nil {
		next = o.HTTPClient.Transport
	}
	b.journal, b.intents = j, &intents{journal: j, run: run, next: next}
	o.HTTPClient = &http.Client{Transport: b.intents}
	return j.Close, nil
}

// OfMailing reports whether the journal is of a run that sends to the lines of a file.
func (b *Batch) OfMailing() bool { return b.journal != nil && b.journal.Run() != nil }

// Run carries out the batch. Its error carries the exit code.
func (b *Batch) Run(ctx context.Context, s Screen) error {
	if err := b.sort(); err != nil {
		return err
	}
	if !b.single() || b.Flags.DryRun {
		b.explain(s.Stderr)
	}
	if b.Flags.DryRun {
		for _, it := range b.todo {
			it.Record.Outcome = fmt.Sprintf(outcomeWould, b.Verb)
			if err := s.Printer.Print(it.Record); err != nil {
				return err
			}
		}
		return b.lacking()
	}
	if len(b.todo) > 1 && !b.Flags.Yes {
		if err := s.Confirm(fmt.Sprintf("%d %s will be %s.", len(b.todo), b.Many, b.Verb)); err != nil {
			return err
		}
	}
	if err := b.begin(); err != nil {
		return err
	}
	if err := b.settleResolved(); err != nil {
		return err
	}
	if len(b.todo) > 0 {
		b.work(ctx, s)
	}
	if b.Whole {
		b.report(s.Stderr)
	}
	if err := b.forgetEnded(); err != nil && b.stopped == nil {
		return err
	}
	if b.single() && b.err != nil {
		return b.err
	}
	return b.verdict()
}

// single reports whether the batch is one call without a journal. Such a batch prints only what the call itself returns.
func (b *Batch) single() bool { return len(b.Items) == 1 && b.journal == nil }
