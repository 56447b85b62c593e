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

// matchEntries finds what the journal holds about each item. An item that was changed since it was sent has another key than its
// entry. An entry of no item, for a line that is gone or has other receivers now, counts for each item that shares people with it who are no counterparts.
func (b *Batch) matchEntries() {
	if b.journal == nil {
		return
	}
	keys := map[string]bool{}
	for _, it := range b.Items {
		keys[it.Key] = true
		if e, ok := b.journal.Entry(it.Key); ok {
			it.prior = &e
		}
	}
	left := slices.DeleteFunc(b.journal.Entries(), func(e journal.Entry) bool {
		return keys[e.Key] || e.State == journal.Failed || len(e.Who) == 0
	})
	left = b.matchChanged(left)
	of := map[string]journal.Entry{} // by person
	for _, e := range left {
		for _, w := range e.Who {
			if !of[w].State.Open() {
				of[w] = e
			}
		}
		if e.State.Open() {
			b.gone = append(b.gone, e)
		}
	}
	for _, it := range b.Items {
		for _, w := range it.own {
			if e, ok := of[w]; ok && (it.untried() || it.toOthers() && !it.open()) {
				it.prior = &e
			}
		}
	}
}

// matchChanged gives each item that was not sent, as far as its own entry tells, another entry for the same people, those of unknown
// outcome first. It returns the rest.
func (b *Batch) matchChanged(left []journal.Entry) (rest []journal.Entry) {
	same := map[string][]*journal.Entry{}
	for _, open := range []bool{true, false} {
		for i, e := range left {
			if e.State.Open() == open {
				same[journal.Key(e.Who...)] = append(same[journal.Key(e.Who...)], &left[i])
			}
		}
	}
	taken := map[string]bool{}
	for _, it := range b.Items {
		who := journal.Key(it.who...)
		if entries := same[who]; len(entries) > 0 && it.untried() {
			it.prior, same[who] = entries[0], entries[1:]
			taken[it.prior.Key] = true
		}
	}
	for _, e := range left {
		if !taken[e.Key] {
			rest = append(rest, e)
		}
	}
	return rest
}

// The words of --resolve for several items: those whose outcome is unknown, and those that were changed.
const resolveAll, resolveChanged = "all", "changed"

// resolutions reads --resolve and refuses items that it cannot resolve.
func (b *Batch) resolutions() (func(*Item) string, error) {
	said, names := map[any]string{}, b.names() // said has items, and the words for several
	changed := slices.ContainsFunc(b.Items, (*Item).changed)
	for _, flag := range b.Flags.Resolve {
		at := max(0, strings.LastIndexByte(flag, '='))
		name, what := flag[:at], strings.TrimPrefix(flag[at:], "=")
		if decided[what] == "" {
			return nil, cli.UsageError("--resolve %q: say ITEM=done or ITEM=again", flag)
		}
		var of any = name
		if name != resolveAll && (name != resolveChanged || !changed) {
			it, err := b.named(names, name)
			if err != nil {
				return nil, err
			}
			of = it
		}
		if before := said[of]; before != "" && before != what {
			return nil, cli.UsageError("--resolve %q: an earlier --resolve says %s", flag, before)
		}
		said[of] = what
	}
	if len(b.gone) > 0 {
		b.goneResolved = said[resolveAll]
	}
	return func(it *Item) string {
		switch {
		case it.open():
			return cmp.Or(said[it], said[resolveAll])
		case it.changed():
			return cmp.Or(said[it], said[resolveChanged])
		}
		return ""
	}, nil
}

// names returns the items that --resolve can decide, by the names that it takes for them: the label, and each address.
func (b *Batch) names() map[string][]*Item {
	by := map[string][]*Item{}
	for _, it := range b.Items {
		if it.open() || it.changed() {
			for _, name := range append(slices.Compact(it.addresses()), number(it.Label)) {
				by[name] = append(by[name], it)
			}
		}
	}
	return by
}

func number(label string) string { return strings.TrimPrefix(label, "line ") }

// named returns the item that --resolve names. The number of a line does so only if the line had it when it was sent: whoever read it
// before the file was sorted means another person.
func (b *Batch) named(names map[string][]*Item, name string) (*Item, error) {
	found := names[number(name)]
	if len(found) == 0 {
		found = names[address(name)]
	}
	switch len(found) {
	case 0:
		return nil, cli.UsageError("--resolve: the outcome of %q is not unknown", name)
	case 1:
	default:
		return nil, cli.UsageError("--resolve: %q is in %s and %s: say which line", name, found[0].title(), found[1].title())
	}
	it := found[0]
	another := func(e journal.Entry) bool { return e.Item == it.Label && e.Key != it.prior.Key }
	moved := it.prior.Item != it.Label || slices.ContainsFunc(b.gone, another) ||
		slices.ContainsFunc(b.Items, func(o *Item) bool { return o.open() && another(*o.prior) })
	if moved && number(name) == number(it.Label) {
		return nil, cli.UsageError("--resolve: %s was not that line when it was sent: name it by an address, or put the lines in the order of then", it.title())
	}
	return it, nil
}

// nameFor returns a name of an item for --resolve: an address that no other item has which it can decide, or else the label.
func nameFor(it *Item, names map[string][]*Item) string {
	for i, a := range it.addresses() {
		if len(names[a]) == 1 && slices.Contains(it.own, it.who[i]) {
			return shellWord(a)
		}
	}
	return number(it.Label)
}

// shellWord quotes a text for a shell where it needs that.
func shellWord(text string) string {
	if strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789@.+-_") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// decided is the state of an item by what --resolve says of it.
var decided = map[string]journal.State{"done": journal.Done, "again": journal.Failed}

// settleResolved notes in the journal the items that --resolve says were done, and what it says of those that are gone.
func (b *Batch) settleResolved() error {
	for _, e := range b.gone {
		if state := decided[b.goneResolved]; state != "" {
			if err := b.journal.Settle(e.Key, state, ""); err != nil {
				return err
			}
		}
	}
	for _, it := range b.Items {
		if err := b.settleItem(it); err != nil {
			return err
		}
	}
	return nil
}

// settleItem notes what --resolve says of an item. Its line as it was is settled too, if it was for the same people.
func (b *Batch) settleItem(it *Item) error {
	state := decided[b.resolved(it)]
	if state == "" {
		return nil
	}
	if it.prior.Key != it.Key && it.open() && !it.toOthers() {
		if err := b.journal.Settle(it.prior.Key, state, ""); err != nil {
			return err
		}
	}
	if state != journal.Done { // the request will be noted
		return nil
	}
	if it.prior.Key != it.Key {
		if err := b.journal.Intend(it.entry(b.intents.run)); err != nil {
			return err
		}
	}
	return b.journal.Settle(it.Key, journal.Done, "")
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
		here := whoOf(b.Items)
		away := func(w string) bool { return !here[w] }
		for _, e := range b.journal.Entries() {
			if e.Run == b.intents.run || !slices.ContainsFunc(e.Who, away) {
				ended = append(ended, e.Key)
			}
		}
	}
	if err := b.journal.Forget(ended); err != nil || b.mailing == nil {
		return err
	}
	return b.mailing.ended()
}
