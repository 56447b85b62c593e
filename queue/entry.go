package queue

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// State is how far an event has come.
type State string

// The states of an event.
const (
	Pending State = "pending" // waits for its first or next try, or is being processed
	Done    State = "done"    // processed; its key is kept
	Failed  State = "failed"  // given up; kept until it is retried, delivered again or erased
	Erased  State = "erased"  // erased; its key is kept
)

// The states as they are stored. Statements name them literally, because partial indexes are chosen by literals.
var states = [...]State{0: Pending, 1: Done, 2: Failed, 3: Erased}

// Entry is what the queue knows about an event, without its JSON. As JSON it is a line of signforms-queue list -json.
type Entry struct {
	ID          int64             `json:"id"`           // ascending in the order of receipt within an ordering key
	Key         string            `json:"key"`          // 64 hexadecimal digits, the same each time that the event is delivered: see [webhook.ReplayKeys]
	OrderingKey string            `json:"ordering_key"` // events of one ordering key run in order
	Type        webhook.EventType `json:"type"`
	Subject     string            `json:"subject"` // document id (of template events the template's) or form response id; empty when it has none
	State       State             `json:"state"`
	Attempts    int               `json:"attempts"` // tries that have failed
	Received    time.Time         `json:"received"`
	Due         time.Time         `json:"due,omitzero"`     // when the ordering key is due; zero unless State is Pending
	Settled     time.Time         `json:"settled,omitzero"` // when it was processed, failed or erased; zero when State is Pending
	Error       string            `json:"error,omitempty"`  // the error of the last failed try; at most 500 bytes
	Note        string            `json:"note,omitempty"`   // what [Options.Note] returned for its delivery
}

// Filter selects events. Conditions that are set must all hold; the zero value selects all events. A list that is empty
// but not nil selects none. In ids and types a NUL character, or what is not UTF-8, is the same as U+FFFD.
type Filter struct {
	States   []State           // events in any of these states
	Document string            // events whose [Entry].Subject is this document or, of template events, template
	Response string            // events whose [Entry].Subject is this form response
	Signers  []string          // events that name any of these signer ids
	Type     webhook.EventType // one event type
	Since    time.Time         // received then or later
	Before   time.Time         // received before
	IDs      []int64           // any of these
}

var errNoSelection = errors.New("queue: Erase with an empty Filter would erase everything: set at least one condition")

func (f *Filter) empty() bool {
	return f.States == nil && f.Document == "" && f.Response == "" && f.Signers == nil && f.Type == "" &&
		f.Since.IsZero() && f.Before.IsZero() && f.IDs == nil
}

type entryKey struct{}

// EntryFromContext returns the entry of the event for which the function with this ctx was called,
// as it was before the call. It returns false for any other ctx. Use Key to recognise repeats, and
// OrderingKey as a partition key.
func EntryFromContext(ctx context.Context) (Entry, bool) {
	e, ok := ctx.Value(entryKey{}).(Entry)
	return e, ok
}

func millis(t time.Time) int64 { return t.UnixMilli() }

// boundMillis is millis for any time: one that UnixMilli cannot represent becomes the first or the last that it can.
func boundMillis(t time.Time) int64 {
	const most = math.MaxInt64 / 1000
	switch s := t.Unix(); {
	case s >= most:
		return math.MaxInt64
	case s <= -most:
		return math.MinInt64
	}
	return millis(t)
}

// fromMillis returns the zero time for 0.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
