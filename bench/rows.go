package bench

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Secret is the secret of every row. Most schemes use it in this form.
const Secret = "5b0c4f6ad2b94e0f8c3d1a7e9f2b6c80"

// Kind says which rows can be compared: rows of one kind have the same inputs and results.
type Kind string

// The kinds of rows.
const (
	KindVerify     Kind = "verify"          // header and bytes in, yes or no out
	KindDecode     Kind = "verify + decode" // header and bytes in, events out
	KindMiddleware Kind = "middleware"      // request in, request with an authentic body out; the next handler reads it and answers
	KindHandler    Kind = "handler"         // request in, a function run for each event, answer out
)

// Kinds lists the kinds in the order of the table.
func Kinds() []Kind { return []Kind{KindVerify, KindDecode, KindMiddleware, KindHandler} }

// Decoding says how far a row decodes the payload.
type Decoding string

// How far rows decode. signforms and the code written by hand know the fields of the payload. stripe-go gets the payload in an
// envelope of its own service, and decodes it as it decodes unknown content.
const (
	DecodesNot     Decoding = "–"
	DecodesTyped   Decoding = "typed" // every field into a struct
	DecodesGeneric Decoding = "maps"  // every field into map[string]any
)

// Work says what work a row does.
type Work struct {
	Clock  string   // how the timestamp is checked: "both ways", "too old only" or "–"
	Decode Decoding // how far the payload is decoded
	Copies string   // which copies of the body are made, besides reading it; or "–"
	Repeat string   // how repeated deliveries are recognised, or "–"
}

// Receiver processes one delivery as the library's documentation says, and returns how many parts of the payload it decoded. It
// returns an error for a delivery that is refused. It is not safe for concurrent use.
type Receiver func(*Delivery) (decoded int, err error)

// Row is one way to receive deliveries.
type Row struct {
	Name string
	Kind Kind
	Ours bool
	Work Work
	// Wrap puts the payload into the envelope of the library's own service. It is nil for libraries that accept any bytes.
	Wrap func(payload []byte) []byte
	// Sign returns the headers of a delivery in the library's own scheme.
	Sign func(body []byte, at time.Time) http.Header
	// New returns a receiver with its own state.
	New func() Receiver
	// Forgets is how many events a receiver may get until a new one is needed; 0 means any number. A receiver with such a limit
	// gets only new events.
	Forgets int
}

// Rows returns all rows, sorted by kind, with ours first in each kind.
func Rows() []Row {
	rows := slices.Concat(signformsRows(), handRows(), stripeRows())
	order := Kinds()
	slices.SortStableFunc(rows, func(a, b Row) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	return rows
}

// serving makes a Receiver from a handler. The handler's functions count decoded parts in decoded.
func serving(h http.Handler, decoded *int) Receiver {
	w := &discard{header: http.Header{}}
	return func(d *Delivery) (int, error) {
		w.reset()
		*decoded = 0
		h.ServeHTTP(w, d.Request())
		if w.status/100 > 2 { // 0 means that nothing was written, for which net/http sends 200
			return *decoded, fmt.Errorf("answered %d", w.status)
		}
		return *decoded, nil
	}
}
