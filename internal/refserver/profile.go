package refserver

import (
	"encoding"
	"encoding/json"
	"reflect"
)

// Profile is one reading of what the interface leaves open. Use it to try a client and a receiver against other readings than
// the one that this SDK assumes.
type Profile struct {
	// Lists.
	PageSize       int           // records per page when the request has no limit; default 10; of documents at most MaxLimit
	MaxLimit       int           // largest limit of a list of documents; default 100; with less, the client's All needs a Limit or CutLimit, because it asks for 100
	CutLimit       bool          // a larger limit is taken for MaxLimit instead of being refused
	OldestFirst    bool          // documents come oldest first when the request has no sortOrder
	HideArchived   bool          // archived documents are listed only when the request asks for them with archive
	UnknownStatus  UnknownStatus // what a list does with an unknown status as filter; default UnknownStatusRefused
	DateFormat     DateFormat    // which texts dateFrom and dateTo take; default DateOrTime
	DateFrom       DateEnd       // what dateFrom with a time includes; default EndIncluded
	DateTo         DateEnd       // what dateTo with a time includes; default EndIncluded
	NoPagination   bool          // lists of documents come without pagination
	CountPage      bool          // documentsCount counts the page instead of all that match; with NoPagination no total is reported
	None           NoneForm      // how a list without records is written; default NoneIsEmpty
	UnknownIDEmpty bool          // the respondents or responses of an unknown id are an empty list instead of a 404

	// Bodies.
	InProgress       string         // literal of the status in progress; default "PENDING"
	Aliases          bool           // the other spellings that were seen: name, signType, isSigningOrderData, respondentsOfDoc, voided
	RespondentObject bool           // a single respondent comes as an object instead of an array of one
	MessageOnly      bool           // void and reminder answer with nothing but a message
	Extra            map[string]any // added to each body of a success, over fields of the same name
	BarePDF          bool           // pdfData is base64 alone; a data URL is refused
	StrictRoles      bool           // a send must fill each role of the template exactly once; default: a role may have no receiver, or several

	// Refusals.
	RefusalStatus        int         // HTTP status when a document's status forbids the operation; default 409
	KeyStatus            int         // HTTP status of a missing or wrong key or workspace; default 403
	ErrorLayout          ErrorLayout // of error bodies; default LayoutMessage
	AnyID                bool        // an id of another shape than the service's own is unknown instead of malformed
	FreeRefusedReminders bool        // a reminder that is refused does not count towards the limit

	// IgnoreIDs makes lists of documents ignore documentId, and makes void and reminder act on the newest PDF document. A service
	// that reads its inputs elsewhere, and takes the first record when it finds none, behaves so.
	IgnoreIDs bool

	// Deliveries.
	Timestamps     TimestampFormat // of x-timestamp; default UnixSeconds
	UntypedSamples bool            // [Server.TestWebhook] leaves out webhookEvent, as the interface's own sample does

	// Endpoints says where operations are and how they read their inputs, as the client's Options.Endpoints does. Whoever sets them has checked
	// them. An input that is in Names or Values is taken in that spelling alone, and a TimeLayout takes the place of
	// DateFormat. The other spellings that the interface's description has are taken by default, and noted in [Request].
	Endpoints map[Operation]Route
}

// UnknownStatus says what a list of documents does with an unknown status as filter.
type UnknownStatus int

// The readings of an unknown status.
const (
	UnknownStatusRefused UnknownStatus = iota // status 400
	UnknownStatusIgnored                      // the list is not filtered
	UnknownStatusEmpty                        // the list is empty
)

// DateFormat says which texts dateFrom and dateTo take.
type DateFormat int

// The formats of dates.
const (
	DateOrTime DateFormat = iota // an RFC 3339 time, or a date: dateFrom means its beginning in UTC, dateTo its end
	TimeOnly                     // a date alone is refused
	DateOnly                     // a time is refused
)

// DateEnd says what an end of a filter by date includes. A client that assumes an included end misses records when the service
// excludes it or cuts it to the day's start.
type DateEnd int

// The readings of an end. Those of a day use only the day of the given time, in UTC.
const (
	EndIncluded   DateEnd = iota // records of that millisecond are included
	EndExcluded                  // they are not
	EndAtDayStart                // the first millisecond of the day, included
	EndAtDayEnd                  // the last millisecond of the day, included
)

// NoneForm is how a list without records is written.
type NoneForm int

// The forms of a list without records.
const (
	NoneIsEmpty   NoneForm = iota // an empty array
	NoneIsMissing                 // its key is not there
	NoneIsNull
)

// ErrorLayout is how the body of an error is laid out.
type ErrorLayout int

// The layouts of error bodies.
const (
	LayoutMessage     ErrorLayout = iota // {"message","code"}
	LayoutError                          // {"error"}
	LayoutDataMessage                    // {"data":{"message","code"}}
	LayoutDataError                      // {"data":{"error"}}
	LayoutText                           // the message as plain text
)

// check refuses settings that no service can have.
func (p Profile) check() error {
	for f, value := range reflect.ValueOf(p).Fields() {
		if word, ok := value.Interface().(encoding.TextMarshaler); ok {
			if _, err := word.MarshalText(); err != nil {
				return invalid("Options.Profile."+f.Name, "%v", err)
			}
		}
	}
	switch _, err := json.Marshal(p.Extra); {
	case p.PageSize < 0:
		return invalid("Options.Profile.PageSize", "%d is not 1 or more, or 0 for the default", p.PageSize)
	case p.MaxLimit < 0:
		return invalid("Options.Profile.MaxLimit", "%d is not 1 or more, or 0 for the default", p.MaxLimit)
	case !refusal4xx(p.RefusalStatus):
		return invalid("Options.Profile.RefusalStatus", "%d is not 400 to 499, or 0 for the default", p.RefusalStatus)
	case !refusal4xx(p.KeyStatus):
		return invalid("Options.Profile.KeyStatus", "%d is not 400 to 499, or 0 for the default", p.KeyStatus)
	case err != nil:
		return invalid("Options.Profile.Extra", "%v", err)
	}
	return nil
}

func refusal4xx(status int) bool { return status == 0 || 400 <= status && status <= 499 }
