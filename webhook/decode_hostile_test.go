package webhook_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// Payloads made to cost much: each has to be decoded in time, and with allocations of at most perByte times its size.
// The most expensive is an empty object: two or three bytes that become a whole struct. The cost of a short list of them must not be
// that of a long one.
func TestParseHostile(t *testing.T) {
	const perByte = 120
	size, keys := 1<<18, 40_000
	if testing.Short() {
		size, keys = 1<<16, 10_000
	}
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var distinct strings.Builder
	for i := range keys {
		fmt.Fprintf(&distinct, `"x(page1)[%d]":"value",`, i)
	}
	event := func(members string) string { return `{"webhookEvent":"new_template_response",` + members + `}` }
	for _, row := range []struct{ name, payload string }{
		{name: "empty events", payload: "[" + repeat("{},") + "{}]"},
		{name: "empty signers", payload: event(`"signers":[` + repeat("{},") + `{}]`)},
		{name: "null signers", payload: event(`"signers":[` + repeat("null,") + `{}]`)},
		{name: "empty answers", payload: `{"webhookEvent":"new_form_response","response":[` + repeat("{},") + `{}]}`},
		{name: "misfits", payload: event(`"signers":[` + repeat(`{"email":1},`) + `{}]`)},
		{name: "misfit signers", payload: event(`"signers":[` + repeat(`1,`) + `{}]`)},
		{name: "misfit members", payload: event(repeat(`"documentName":1,`) + `"a":1`)},
		{name: "misfit events", payload: "[" + repeat(event(`"documentName":1`)+",") + "{}]"},
		{name: "repeated lists", payload: event(repeat(`"signers":[{},{},{}],`) + `"a":1`)},
		{name: "distinct fields", payload: event(distinct.String() + `"a":1`)},
		{name: "repeated fields", payload: event(repeat(`"x(page1)[y]":"v",`) + `"a":1`)},
		{name: "escaped fields", payload: event(repeat(`"x(page1)[\u0079]":"\u0079",`) + `"a":1`)},
		{name: "unknown keys", payload: event(repeat(`"some key":"some value",`) + `"a":1`)},
		{name: "one long string", payload: event(`"documentName":"` + repeat("x") + `"`)},
		{name: "one long escape", payload: event(`"documentName":"` + repeat(`\u0041`) + `"`)},
		{name: "one long key", payload: event(`"` + repeat("x") + `":1`)},
		{name: "one long number", payload: event(`"signers":[{"signingOrderNo":` + repeat("9") + `}]`)},
		{name: "not ASCII", payload: event(`"documentName":"` + repeat("é") + `"`)},
		{name: "white space", payload: "[" + repeat(" ") + "]"},
		{name: "unknown arrays", payload: event(`"other":[` + repeat("[],") + `[]]`)},
		{name: "short then long", payload: event(`"signers":[{},{},{},{},{},{"email":"` + repeat("x") + `"}]`)},
		{name: "growing by doubts", payload: event(`"signers":[{},` + repeat(`{"email":"a longer one than the first"},`) + `{}]`)},
	} {
		t.Run(row.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := webhook.Parse([]byte(row.payload))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			require.NoError(t, err)
			require.Less(t, took, 5*time.Second)
			most := uint64(perByte)
			if row.name == "short then long" {
				most = 3
			}
			require.Less(t, allocated/uint64(len(row.payload)), most)
			t.Logf("%-18s %3d times its size allocated, %v", row.name, allocated/uint64(len(row.payload)), took)
		})
	}
}
