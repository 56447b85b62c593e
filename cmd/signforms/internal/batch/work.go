package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// maxUnanswered is the number of calls in a row without a clear answer after which a batch stops. Each of them may leave an unknown outcome.
const maxUnanswered = 3

// errInterrupted stops a batch at a signal.
var errInterrupted = errors.New("interrupted")

func (b *Batch) work(ctx context.Context, s Screen) {
	tell := cli.NewProgress(s.Stderr, b.Verb, len(b.todo))
	stop := tell.Interrupts(ctx)
	defer func() {
		stop()
		tell.End()
		if err := s.Printer.End(); err != nil && b.stopped == nil {
			b.stopped = err
		}
	}()
	for i, it := range b.todo {
		if b.stopped == nil && ctx.Err() != nil {
			b.stopped = errInterrupted
		}
		if b.stopped != nil {
			return
		}
		if b.Takes != nil {
			if through, next := b.Takes(1); through > 0 { // otherwise it fails at once
				_, last := b.Takes(len(b.todo) - i)
				tell.Waits(next, last)
			}
		}
		b.try(ctx, it, func(failed bool) {
			if err := tell.Tell(failed, func() error { return s.Printer.Print(it.Record) }); err != nil && b.stopped == nil {
				b.stopped = err
			}
		})
	}
}

// try makes the call of one item and notes its outcome.
func (b *Batch) try(ctx context.Context, it *Item, tell func(failed bool)) {
	err := it.Do(context.WithValue(ctx, itemKey{}, it), &it.Record)
	if err == nil {
		err = b.notOfAnother(it)
	}
	b.err = err
	if b.intents != nil && b.intents.failed != nil {
		b.stopped = fmt.Errorf("%w: %w", errNoIntent, b.intents.failed)
		return
	}
	var state journal.State
	state, it.Record.Outcome = b.judge(ctx, err)
	// Without a request nothing is learned: an outcome that was unknown before stays unknown.
	if b.journal != nil {
		if e, _ := b.journal.Entry(it.Key); e.State == journal.Begun {
			if err := b.journal.Settle(it.Key, state, it.Record.CreatedDocumentID); err != nil {
				b.stopped = err
			}
		}
	}
	if it.Record.Outcome == "" {
		return
	}
	b.tried++
	if b.single() && err != nil {
		return
	}
	if err != nil {
		it.Record.Message = err.Error()
	}
	tell(err != nil)
}

// notOfAnother returns an error if the answer for an item named the document of another: each call makes one of its own.
func (b *Batch) notOfAnother(it *Item) error {
	if !b.Whole || b.journal == nil || it.Record.CreatedDocumentID == "" {
		return nil
	}
	for _, e := range b.journal.Entries() {
		if e.Key != it.Key && e.ID == it.Record.CreatedDocumentID {
			it.Record.CreatedDocumentID, it.Record.Status = "", ""
			return fmt.Errorf("the answer named the document of %s: %w", e.Item, signforms.ErrOutcomeUnknown)
		}
	}
	return nil
}

// judge returns the state for the journal and the outcome to print. The outcome is empty for an item that was not tried because
// the batch was interrupted, or because the limit allowed nothing within maxWait.
func (b *Batch) judge(ctx context.Context, err error) (journal.State, string) {
	silent := errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, signforms.ErrOutcomeUnknown)
	if b.inARow++; !silent || b.storeAway(err) {
		b.inARow = 0
	}
	if b.inARow >= maxUnanswered {
		b.stopped = fmt.Errorf("no clear answer from the service %d times in a row", maxUnanswered)
	}
	switch {
	case err == nil:
		return journal.Done, b.Verb
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		b.unknown++
		return journal.Unknown, outcomeUnknown
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		b.stopped = errInterrupted
		return journal.Failed, ""
	case b.noSlot(err), b.storeAway(err):
		b.stopped = err
		return journal.Failed, ""
	case errors.Is(err, signforms.ErrForbidden):
		b.stopped = errors.New("the service refuses the API key or the workspace")
	}
	b.failed++
	return journal.Failed, outcomeFailed
}

// noSlot reports whether the limit, which this machine counts, allowed no request. The next item would fare no better.
func (b *Batch) noSlot(err error) bool { return b.local(err, signforms.ErrRateLimited) }

// storeAway reports whether what counts the limit did not answer.
func (b *Batch) storeAway(err error) bool { return b.local(err, signforms.ErrUnavailable) }

func (b *Batch) local(err, kind error) bool {
	e, ok := errors.AsType[*signforms.Error](err)
	return ok && e.Local && b.Takes != nil && errors.Is(err, kind)
}
