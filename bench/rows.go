package bench

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Secret is the secret of every row, in the form that most schemes take.
const Secret = "5b0c4f6ad2b94e0f8c3d1a7e9f2b6c80"

// Kind is what a row is compared in: rows of one kind start and end at the same point.
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

// Decoding is how far a row decodes the payload.
type Decoding string

// How far rows decode. The payload's own fields are known to signforms and to what is written by hand; other libraries
// get them inside the envelope of their own service and decode that, and the payload as far as they decode what they
// do not know.
const (
	DecodesNot      Decoding = "–"
	DecodesTyped    Decoding = "typed"         // every field into a struct
	DecodesGeneric  Decoding = "maps"          // every field into map[string]any
	DecodesShallow  Decoding = "fields raw"    // each event into a map of raw fields
	DecodesEnvelope Decoding = "envelope only" // the payload stays raw JSON
)

// Work says what a row does for its time.
type Work struct {
	Clock  string   // what the timestamp is held against: "both ways", "too old only" or "–"
	Decode Decoding // how far the payload is decoded
	Copies string   // copies of the body beyond reading it: where from, or "–"
	Repeat string   // what is done about repeated deliveries
}

// Receiver takes one delivery as a library's documentation says, and returns how many parts of the payload it decoded.
// It is not safe for concurrent use. A delivery that is refused is an error.
type Receiver func(*Delivery) (decoded int, err error)

// Row is one way to receive deliveries.
type Row struct {
	Name string
	Kind Kind
	Ours bool
	Work Work
	// Wrap puts the payload into what the library's own service would send around it; nil when it takes any bytes.
	Wrap func(payload []byte) []byte
	// Sign returns the headers of a delivery in the library's own scheme.
	Sign func(body []byte, at time.Time) http.Header
	// New returns a receiver with a state of its own.
	New func() Receiver
	// Forgets is how many events a receiver may get until a new one is needed; 0: any number. Such a row gets only events
	// that it has not seen.
	Forgets int
}

// Rows lists all rows, ours first within their kind.
func Rows() []Row {
	rows := slices.Concat(signformsRows(), handRows(), stripeRows(), standardRows(), githubRows(), chatRows(), paddleRows())
	order := Kinds()
	slices.SortStableFunc(rows, func(a, b Row) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	return rows
}

// serving makes a Receiver of a handler. decoded is where the handler's functions count.
func serving(h http.Handler, decoded *int) Receiver {
	w := &discard{header: http.Header{}}
	return func(d *Delivery) (int, error) {
		w.reset()
		*decoded = 0
		h.ServeHTTP(w, d.Request())
		if w.status/100 > 2 { // 0: nothing was written, which net/http makes a 200
			return *decoded, fmt.Errorf("answered %d", w.status)
		}
		return *decoded, nil
	}
}
