package queue

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// State is the processing state of an event.
type State string

// The states of an event.
const (
	Pending State = "pending" // waits for its first or next try, or is being processed
	Done    State = "done"    // processed; its key is kept
	Failed  State = "failed"  // permanently failed; kept until it is retried, delivered again or erased
	Erased  State = "erased"  // erased; its key is kept
)

// The states in their stored form. Statements contain the numbers literally, because the databases
// choose partial indexes by literals.
var states = [...]State{0: Pending, 1: Done, 2: Failed, 3: Erased}

// Entry is what the queue stores about an event, without the event's JSON. Printed as JSON, it is a
// line of signforms-queue list -json.
type Entry struct {
	ID          int64             `json:"id"`           // ascending in the order of receipt within an ordering key
	Key         string            `json:"key"`          // 64 hexadecimal digits, the same in each delivery of the event: see [webhook.ReplayKeys]
	OrderingKey string            `json:"ordering_key"` // events of one ordering key run in order
	Type        webhook.EventType `json:"type"`
	Subject     string            `json:"subject"` // document id (of a template event: template id) or form response id; empty if the event has none
	State       State             `json:"state"`
	Attempts    int               `json:"attempts"` // tries that have failed
	Received    time.Time         `json:"received"`
	Due         time.Time         `json:"due,omitzero"`     // when the ordering key is due; zero unless State is Pending
	Settled     time.Time         `json:"settled,omitzero"` // when the event was processed, failed or was erased; zero when State is Pending
	Error       string            `json:"error,omitempty"`  // the error of the last failed try; at most 500 bytes
	Note        string            `json:"note,omitempty"`   // what [Options.Note] returned for its delivery
}

// Filter selects events. An event must satisfy all conditions that are set; the zero value selects
// all events. A list that is empty but not nil selects no event. In ids and types, a NUL character
// or invalid UTF-8 is equal to U+FFFD.
type Filter struct {
	States   []State           // events in any of these states
	Document string            // events whose [Entry].Subject is this document or, for template events, this template
	Response string            // events whose [Entry].Subject is this form response
	Signers  []string          // events that name any of these signer ids
	Type     webhook.EventType // events of this type
	Since    time.Time         // events received at this time or later
	Before   time.Time         // events received before this time
	IDs      []int64           // events with any of these ids
}

var errNoSelection = errors.New("queue: Erase with an empty Filter would erase everything: set at least one condition")

func (f *Filter) empty() bool {
	return f.States == nil && f.Document == "" && f.Response == "" && f.Signers == nil && f.Type == "" &&
		f.Since.IsZero() && f.Before.IsZero() && f.IDs == nil
}

type entryKey struct{}

// EntryFromContext returns the entry of the event for which the function with this ctx was called.
// The entry shows the state before the call. EntryFromContext returns false for any other ctx. Use
// Key to recognise repeats, and OrderingKey as a partition key.
func EntryFromContext(ctx context.Context) (Entry, bool) {
	e, ok := ctx.Value(entryKey{}).(Entry)
	return e, ok
}

func millis(t time.Time) int64 { return t.UnixMilli() }

// boundMillis is millis for any time. A time that UnixMilli cannot represent becomes the first or
// the last time that it can represent.
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
