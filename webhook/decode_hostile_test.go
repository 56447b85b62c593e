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
// The dearest is an empty object: two or three bytes that become a whole struct. A list that begins so and ends soon must
// not cost what it would if it went on.
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
	for name, payload := range map[string]string{
		"empty events":      "[" + repeat("{},") + "{}]",
		"empty signers":     event(`"signers":[` + repeat("{},") + `{}]`),
		"null signers":      event(`"signers":[` + repeat("null,") + `{}]`),
		"empty answers":     `{"webhookEvent":"new_form_response","response":[` + repeat("{},") + `{}]}`,
		"misfits":           event(`"signers":[` + repeat(`{"email":1},`) + `{}]`),
		"misfit signers":    event(`"signers":[` + repeat(`1,`) + `{}]`),
		"misfit members":    event(repeat(`"documentName":1,`) + `"a":1`),
		"misfit events":     "[" + repeat(event(`"documentName":1`)+",") + "{}]",
		"repeated lists":    event(repeat(`"signers":[{},{},{}],`) + `"a":1`),
		"distinct fields":   event(distinct.String() + `"a":1`),
		"repeated fields":   event(repeat(`"x(page1)[y]":"v",`) + `"a":1`),
		"escaped fields":    event(repeat(`"x(page1)[\u0079]":"\u0079",`) + `"a":1`),
		"unknown keys":      event(repeat(`"some key":"some value",`) + `"a":1`),
		"one long string":   event(`"documentName":"` + repeat("x") + `"`),
		"one long escape":   event(`"documentName":"` + repeat(`\u0041`) + `"`),
		"one long key":      event(`"` + repeat("x") + `":1`),
		"one long number":   event(`"signers":[{"signingOrderNo":` + repeat("9") + `}]`),
		"not ASCII":         event(`"documentName":"` + repeat("é") + `"`),
		"white space":       "[" + repeat(" ") + "]",
		"unknown arrays":    event(`"other":[` + repeat("[],") + `[]]`),
		"short then long":   event(`"signers":[{},{},{},{},{},{"email":"` + repeat("x") + `"}]`),
		"growing by doubts": event(`"signers":[{},` + repeat(`{"email":"a longer one than the first"},`) + `{}]`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := webhook.Parse([]byte(payload))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		require.NoError(t, err, name)
		require.Less(t, took, 5*time.Second, name)
		most := uint64(perByte)
		if name == "short then long" {
			most = 3
		}
		require.Less(t, allocated/uint64(len(payload)), most, name)
		t.Logf("%-18s %3d times its size allocated, %v", name, allocated/uint64(len(payload)), took)
	}
}
