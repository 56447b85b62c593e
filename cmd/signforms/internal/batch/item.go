package batch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// Item is one recipient of a batch.
type Item struct {
	Key    string   // in the journal
	who    []string // hashes of whom it is for, in the order of addresses; empty where the key says it all
	own    []string // those of them who are not counterparts
	Label  string   // shown to people and used by --resolve, such as "line 4" or the id of a document
	Record Record
	Made   time.Time // when its document was made; zero where that is not known
	// Do makes the call and fills in the record from the answer. It returns the SDK's error, in words for people.
	Do func(ctx context.Context, r *Record) error

	prior *journal.Entry // what the journal holds about it, from earlier runs; nil for nothing
}

// changed reports whether other contents were sent.
func (it *Item) changed() bool {
	return it.prior != nil && it.prior.Key != it.Key && it.prior.State == journal.Done
}

// open reports whether it is unknown if it was sent.
func (it *Item) open() bool { return it.prior != nil && it.prior.State.Open() }

// untried reports whether the journal does not hold that it was sent, or may have been.
func (it *Item) untried() bool { return it.prior == nil || it.prior.State == journal.Failed }

// toOthers reports whether what was sent had other receivers, some of which are the same.
func (it *Item) toOthers() bool { return it.prior != nil && !slices.Equal(it.prior.Who, it.who) }

// shared names its people who are among those of the entry.
func (it *Item) shared() string {
	var both []string
	for i, a := range it.addresses() {
		if slices.Contains(it.prior.Who, it.who[i]) {
			both = append(both, a)
		}
	}
	return cli.Plain(Named(slices.Compact(both)))
}

// TriedAt returns when it was last tried, by the journal; zero for never.
func (it *Item) TriedAt() time.Time {
	if it.prior == nil {
		return time.Time{}
	}
	return it.prior.At
}

func (it *Item) entry(run string) journal.Entry {
	return journal.Entry{Key: it.Key, Who: it.who, Run: run, Item: it.Label}
}

// title returns the label with the addresses, for people.
func (it *Item) title() string {
	if len(it.Record.To) == 0 {
		return it.Label
	}
	var to []string
	for _, r := range it.Record.To {
		to = append(to, r.Email)
	}
	return it.Label + " (" + cli.Plain(Named(to)) + ")"
}

// addresses returns the addresses of its people in one spelling and order.
func (it *Item) addresses() []string {
	var all []string
	for _, r := range it.Record.To {
		all = append(all, address(r.Email))
	}
	slices.Sort(all)
	return all
}

// whoOf returns the people of all items, each once.
func whoOf(items []*Item) map[string]bool {
	who := map[string]bool{}
	for _, it := range items {
		for _, w := range it.who {
			who[w] = true
		}
	}
	return who
}

// KeyOf returns a hash of the people of all items, whatever their order.
func KeyOf(items []*Item) string {
	return journal.Key(slices.Sorted(maps.Keys(whoOf(items)))...)
}

// Record is what a batch prints for one item.
type Record struct {
	Item              string                   `json:"item"`
	Outcome           string                   `json:"outcome"`
	To                []Recipient              `json:"to,omitempty"`
	DocumentID        string                   `json:"documentId,omitempty"`
	TemplateID        string                   `json:"templateId,omitempty"`
	CreatedDocumentID string                   `json:"createdDocumentId,omitempty"`
	Status            signforms.DocumentStatus `json:"status,omitempty"`
	RemindersSent     *int                     `json:"remindersSent,omitempty"`
	Message           string                   `json:"message,omitempty"`
}

// Recipient is who gets what a batch sends.
type Recipient struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Recipients returns who gets a mailing.
func Recipients(m Mailing) []Recipient {
	var all []Recipient
	for _, r := range m.Receivers {
		all = append(all, Recipient{r.Name, r.Email})
	}
	return all
}
