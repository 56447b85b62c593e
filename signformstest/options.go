package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
)

// Options configure a [Server]. The zero value, like nil, serves on loopback with random ids and the wall clock.
type Options struct {
	// Seed, unless 0, makes ids, keys and secrets the same in every run that makes the same calls
	// in the same order. Faults with a probability then apply to the same matches.
	//
	// Most ids begin with the time, so set StartTime too if ids must be the same. Golden files that
	// contain x-timestamp or x-signature also need VirtualTimestamps. Golden files with URLs also
	// need a Network, because a loopback port differs in each run.
	Seed uint64

	// StartTime, unless zero, is the time at which the server's clock starts, from 1970 to
	// 2262-04-11. Then only [Server.Advance] moves the clock, so that times are the same in every
	// run. By default the clock is the wall clock plus the sum of all advances.
	StartTime time.Time

	// Network, unless nil, replaces loopback: clients reach the server in it, and the server reaches webhooks in it. It is
	// for tests in a [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers
	// whose VerifierOptions.Now is srv.Now. By default x-timestamp follows the wall clock, even
	// after [Server.Advance].
	VirtualTimestamps bool

	// ReminderLimit is how many reminders the service accepts. The zero value is the documented limit.
	ReminderLimit ReminderLimit

	// Profile selects the behaviours that the interface leaves open. The zero value is the
	// behaviour that the SDK's documentation assumes.
	Profile Profile
}

// ReminderLimit is how many reminders of an API key the service accepts in any window of time. The
// client's own limit stays 5 in 15 minutes. To send further reminders, a test advances the clock by
// 15 min 1 s.
type ReminderLimit struct {
	Requests int           // requests in any Window; default 5
	Window   time.Duration // default 15 minutes
}

// Profile is one reading of the points that the interface leaves open. Use it to test a client and
// a receiver against other readings than the one that this SDK assumes.
type Profile struct {
	// Lists.
	PageSize     int  // records per page if the request has no limit; default 10; for documents, at most MaxLimit
	MaxLimit     int  // largest limit of a list of documents that is accepted; default 100. All of the client requests 100 unless its Limit is set.
	NoPagination bool // lists of documents come without pagination
	CountPage    bool // documentsCount is the number of documents on the page, not of all that match; with NoPagination no total is reported
	OldestFirst  bool // documents are sorted oldest first if the request has no sortOrder

	// Bodies and refusals.
	InProgress    string      // literal of the status in progress; default "PENDING"
	RefusalStatus int         // HTTP status if the document's status forbids the operation; default 409
	KeyStatus     int         // HTTP status for a missing or wrong key or workspace; default 403
	ErrorLayout   ErrorLayout // layout of error bodies; default LayoutMessage

	// Deliveries.
	Timestamps     TimestampFormat // format of x-timestamp; default UnixSeconds
	SignOnce       bool            // all attempts of a delivery have one timestamp and one signature, so late attempts exceed the receiver's Tolerance
	UntypedSamples bool            // [Server.TestWebhook] leaves out webhookEvent, as the sample in the interface's description does

	// Endpoints sets the method and path of operations, as the client's Options.Endpoints does.
	// [Server.Client] uses them too.
	Endpoints map[signforms.Operation]signforms.Endpoint
}

// ErrorLayout is the layout of the body of an error response.
type ErrorLayout int

// The layouts of error bodies.
const (
	LayoutMessage     ErrorLayout = iota // {"message","code"}
	LayoutError                          // {"error"}
	LayoutDataMessage                    // {"data":{"message","code"}}
	LayoutDataError                      // {"data":{"error"}}
)

// TimestampFormat is the format of x-timestamp, which the service does not document. A time before
// September 2001 is always written as RFC 3339, because in the Unix formats it would have fewer
// digits than receivers expect. The clock of a [testing/synctest] bubble starts in 2000.
type TimestampFormat int

// The formats of x-timestamp.
const (
	UnixSeconds      TimestampFormat = iota // 10 digits
	UnixMilliseconds                        // 13 digits
	RFC3339                                 // UTC, with milliseconds
)
