package signformstest

import (
	"time"

	"github.com/signforms/signforms-go"
)

// Options configure a [Server]. The zero value, like nil, serves on loopback with random ids and the wall clock.
type Options struct {
	// Seed, unless 0, makes ids, keys and secrets the same on every run that makes the same calls in the same order, and
	// makes faults with a probability happen on the same matches. Most ids begin with the time, so set StartTime as well for
	// ids that are the same. Golden files that hold x-timestamp or x-signature need VirtualTimestamps too, and those with
	// URLs a Network, because a loopback port differs on each run.
	Seed uint64

	// StartTime, unless zero, is when the server's clock starts, from 1970 to 2262-04-11. Then only [Server.Advance] moves it,
	// so that times are the same on every run. By default the clock is the wall clock plus what was advanced.
	StartTime time.Time

	// Network, unless nil, replaces loopback: clients reach the server in it, and the server reaches webhooks in it. It is
	// for tests in a [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers whose Verifier has
	// Now: srv.Now. By default it follows the wall clock, whatever was advanced.
	VirtualTimestamps bool

	// ReminderLimit is how many reminders the service accepts. The zero value is the documented limit.
	ReminderLimit ReminderLimit

	// Profile chooses what the interface leaves open. The zero value is what the SDK's documentation assumes.
	Profile Profile
}

// ReminderLimit is how many reminders of an API key the service accepts in any window of time. The client's own limit
// stays 5 in 15 minutes: a test advances the clock by 15 min 1 s for the next one.
type ReminderLimit struct {
	Requests int           // in any Window; default 5
	Window   time.Duration // default 15 minutes
}

// Profile is one reading of what the interface leaves open. Use it to try a client and a receiver against other
// readings than the one that this SDK assumes.
type Profile struct {
	// Lists.
	PageSize     int  // records per page when the request has no limit; default 10; of documents at most MaxLimit
	MaxLimit     int  // largest limit of a list of documents; default 100; with less, the client's All needs a Limit, because it asks for 100
	NoPagination bool // lists of documents come without pagination
	CountPage    bool // documentsCount counts the page instead of all that match; with NoPagination no total is reported
	OldestFirst  bool // documents come oldest first when the request has no sortOrder

	// Bodies and refusals.
	InProgress    string      // literal of the status in progress; default "PENDING"
	RefusalStatus int         // HTTP status when a document's status forbids the operation; default 409
	KeyStatus     int         // HTTP status of a missing or wrong key or workspace; default 403
	ErrorLayout   ErrorLayout // of error bodies; default LayoutMessage

	// Deliveries.
	Timestamps     TimestampFormat // of x-timestamp; default UnixSeconds
	SignOnce       bool            // the attempts of a delivery have one timestamp and one signature: late ones are outside the receiver's Tolerance
	UntypedSamples bool            // [Server.TestWebhook] leaves out webhookEvent, as the interface's own sample does

	// Endpoints says where operations are, as the client's Options.Endpoints does. [Server.Client] uses them too.
	Endpoints map[signforms.Operation]signforms.Endpoint
}

// ErrorLayout is how the body of an error is laid out.
type ErrorLayout int

// The layouts of error bodies.
const (
	LayoutMessage     ErrorLayout = iota // {"message","code"}
	LayoutError                          // {"error"}
	LayoutDataMessage                    // {"data":{"message","code"}}
	LayoutDataError                      // {"data":{"error"}}
)

// TimestampFormat is how x-timestamp is written, which is not documented by the service. A time before September 2001,
// as in a [testing/synctest] bubble, whose clock starts in 2000, is always written as RFC 3339: in the Unix formats it
// would have fewer digits than receivers expect.
type TimestampFormat int

// The formats of x-timestamp.
const (
	UnixSeconds      TimestampFormat = iota // 10 digits
	UnixMilliseconds                        // 13 digits
	RFC3339                                 // UTC, with milliseconds
)
