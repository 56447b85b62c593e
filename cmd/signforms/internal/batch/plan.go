package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// sort decides from the journal which items are to do, done or held back.
func (b *Batch) sort() error {
	b.matchEntries()
	var err error
	if b.resolved, err = b.resolutions(); err != nil {
		return err
	}
	for _, it := range b.Items {
		it.Record.Item = it.Label
		done := it.prior != nil && it.prior.State == journal.Done
		switch said := b.resolved(it); {
		case it.prior == nil, it.prior.State == journal.Failed, done && b.Flags.NewRun, said == "again":
			b.todo = append(b.todo, it)
			if done {
				b.again++
			}
		case done && !it.changed(), said == "done":
			b.done++
		case done:
			b.changed++
		default:
			b.held++
		}
	}
	if b.Order != nil {
		b.Order(b.todo)
	}
	if b.goneResolved == "" && !b.Flags.NewRun {
		b.goneHeld = len(b.gone)
	}
	return nil
}

// matchEntries finds what the journal holds about each item. An item that was changed since then has another key than its entry.
func (b *Batch) matchEntries() {
	if b.journal == nil {
		return
	}
	keys, here := map[string]bool{}, map[string]bool{}
	for _, it := range b.Items {
		keys[it.Key], here[it.who] = true, true
	}
	run := b.journal.Run()
	others := map[string][]journal.Entry{}
	for _, e := range b.journal.Entries() {
		if e.Who != "" && !keys[e.Key] && e.State != journal.Failed {
			others[e.Who] = append(others[e.Who], e)
		}
		if run != nil && e.Run == run.ID && e.State.Open() && !here[e.Who] {
			b.gone = append(b.gone, e)
		}
	}
	for _, it := range b.Items {
		if e, ok := b.journal.Entry(it.Key); ok {
			it.prior = &e
		} else if left := others[it.who]; len(left) > 0 {
			first := max(0, slices.IndexFunc(left, func(e journal.Entry) bool { return e.State.Open() }))
			it.prior = &left[first]
			others[it.who] = slices.Delete(slices.Clone(left), first, first+1)
		}
	}
}

// The words of --resolve for several items: those whose outcome is unknown, and those that were changed.
const resolveAll, resolveChanged = "all", "changed"

// resolutions reads --resolve and refuses items that it cannot resolve.
func (b *Batch) resolutions() (func(*Item) string, error) {
	said := map[string]string{}
	for _, flag := range b.Flags.Resolve {
		label, what, _ := strings.Cut(flag, "=")
		if what != "done" && what != "again" {
			return nil, cli.UsageError("--resolve %q: say ITEM=done or ITEM=again", flag)
		}
		said[strings.TrimPrefix(label, "line ")] = what
	}
	open := map[string]bool{resolveAll: true}
	for _, it := range b.Items {
		if it.open() || it.changed() {
			open[strings.TrimPrefix(it.Label, "line ")] = true
			open[resolveChanged] = open[resolveChanged] || it.changed()
		}
	}
	for label := range said {
		if !open[label] {
			return nil, cli.UsageError("--resolve: the outcome of %q is not unknown", label)
		}
	}
	if len(b.gone) > 0 {
		b.goneResolved = said[resolveAll]
	}
	return func(it *Item) string {
		own := said[strings.TrimPrefix(it.Label, "line ")]
		switch {
		case it.open():
			return cmp.Or(own, said[resolveAll])
		case it.changed():
			return cmp.Or(own, said[resolveChanged])
		}
		return ""
	}, nil
}

// settleResolved notes in the journal the items that --resolve says were done, and what it says of those that are gone.
func (b *Batch) settleResolved() error {
	for _, e := range b.gone {
		if state := map[string]journal.State{"done": journal.Done, "again": journal.Failed}[b.goneResolved]; state != "" {
			if err := b.journal.Settle(e.Key, state, ""); err != nil {
				return err
			}
		}
	}
	for _, it := range b.Items {
		if b.resolved(it) != "done" {
			continue
		}
		if it.prior.Key != it.Key {
			if err := b.journal.Intend(it.entry(b.intents.run)); err != nil {
				return err
			}
		}
		if err := b.journal.Settle(it.Key, journal.Done, ""); err != nil {
			return err
		}
	}
	return nil
}

// begin notes that a run begins. A new run abandons one that has not ended: only what is unknown stays.
func (b *Batch) begin() error {
	switch {
	case b.mailing != nil:
		return b.mailing.begin()
	case b.journal != nil && b.Flags.NewRun:
		return b.journal.Forget(b.settled())
	}
	return nil
}

// settled returns the keys of the entries of this run whose outcome is known.
func (b *Batch) settled() (keys []string) {
	for _, e := range b.journal.Entries() {
		if e.Run == b.intents.run && !e.State.Open() {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// over reports whether the run has ended: each item is done or, if that is enough, each was tried once. What failed earlier in the run
// may not have been tried again.
func (b *Batch) over() bool {
	if b.Whole {
		return b.stopped == nil && b.failed+b.unknown+b.held+b.changed+b.goneHeld == 0
	}
	return !slices.ContainsFunc(b.todo, func(it *Item) bool { return it.Record.Outcome == "" && (it.prior == nil || b.Flags.NewRun) })
}

// forgetEnded removes a finished run from the journal. Otherwise its entries would hold back items of the next run.
func (b *Batch) forgetEnded() error {
	if b.journal == nil || !b.over() {
		return nil
	}
	ended := b.settled()
	if b.Whole {
		here := map[string]bool{}
		for _, it := range b.Items {
			here[it.who] = true
		}
		for _, e := range b.journal.Entries() {
			if e.Run == b.intents.run || here[e.Who] {
				ended = append(ended, e.Key)
			}
		}
	}
	if err := b.journal.Forget(ended); err != nil || b.mailing == nil {
		return err
	}
	return b.mailing.ended()
}
