package jsjson

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// The vectors were recorded by Node.js; testdata/record.mjs says how.
func TestNormalizeVectors(t *testing.T) {
	file, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var vectors []struct {
		In    string
		Bytes string
		Out   *string
	}
	require.NoError(t, json.Unmarshal(file, &vectors))
	require.Greater(t, len(vectors), 280)
	for _, v := range vectors {
		in := []byte(v.In)
		if v.Bytes != "" {
			in, err = hex.DecodeString(v.Bytes)
			require.NoError(t, err)
		}
		got, err := Normalize(nil, in)
		if v.Out == nil {
			require.Error(t, err, "Normalize(%q) = %q, want an error", in, got)
			continue
		}
		require.NoError(t, err, "Normalize(%.80q)", in)
		require.Equal(t, *v.Out, string(got), "Normalize(%.80q)", in)
	}
}

// A document of a megabyte has room for numbers whose exponent no test by hand would think of.
func TestNormalizeLongNumbers(t *testing.T) {
	zeros := strings.Repeat("0", 120_000)
	for _, row := range []struct{ in, want string }{
		{in: "0." + zeros + "123e120002", want: "12.3"},
		{in: "123" + zeros + "e-120003", want: "0.123"},
		{in: "-0." + zeros + "5e119677", want: "-5e-324"},
		{in: "5" + zeros + "e-120330", want: "0"},
		{in: "1" + zeros + "e-119690", want: "null"},
		{in: zeros[:1] + "e" + zeros + "5", want: "0"},
		{in: "2" + zeros + "." + zeros + "e-" + zeros[:9] + "120000", want: "2"},
	} {
		t.Run(fmt.Sprintf("%.60s", row.in), func(t *testing.T) {
			got, err := Normalize(nil, []byte(row.in))
			require.NoError(t, err)
			require.Equal(t, row.want, string(got), "%.20s… of %d bytes", row.in, len(row.in))
		})
	}
}

// Numbers that take long to read are few in an honest document. Without a bound, a megabyte of them takes seconds.
func TestNormalizeCostlyNumbers(t *testing.T) {
	list := func(number string, n int) []byte {
		return []byte("[" + strings.Repeat(number+",", n-1) + number + "]")
	}
	for _, costly := range []string{"5e-324", "-4e-310", "2e-308", "9e308", "12345678901234567891", "0.12345678901234567891e300"} {
		t.Run(costly, func(t *testing.T) {
			_, err := Normalize(nil, list(costly, maxCostly))
			require.NoError(t, err)
			got, err := Normalize([]byte("before"), list(costly, maxCostly+1))
			require.ErrorIs(t, err, errTooCostly)
			require.Equal(t, "before", string(got))
		})
	}
	for _, cheap := range []string{"0.0", "-0", "0e-324", "1e-400", "1e400", "1e-307", "9e307", "-1234567.890123456789", "1.00000000000000000000", "123456789012345678900000"} {
		t.Run(cheap, func(t *testing.T) {
			_, err := Normalize(nil, list(cheap, 2*maxCostly))
			require.NoError(t, err)
		})
	}
}

func TestNormalizeAppends(t *testing.T) {
	got, err := Normalize([]byte("before "), []byte(` {"b":1, "0": 2} `))
	require.NoError(t, err)
	require.Equal(t, `before {"0":2,"b":1}`, string(got))

	got, err = Normalize([]byte("before "), []byte(`{"b":1`))
	require.Error(t, err)
	require.Equal(t, "before ", string(got))
}

func TestNormalizeDepth(t *testing.T) {
	for _, shape := range []struct{ open, inner, end string }{
		{open: "[", inner: "1", end: "]"}, {open: `{"a":`, inner: "1", end: "}"}, {open: `[{"b":0,"1":`, inner: "1", end: "}]"}, {open: "[", inner: "", end: "]"},
	} {
		t.Run(shape.open, func(t *testing.T) {
			levels := strings.Count(shape.open, "[") + strings.Count(shape.open, "{")
			nested := func(depth int) []byte {
				n := depth / levels
				return []byte(strings.Repeat(shape.open, n) + shape.inner + strings.Repeat(shape.end, n))
			}
			_, err := Normalize(nil, nested(jsonscan.MaxDepth))
			require.NoError(t, err)
			_, err = Normalize(nil, nested(jsonscan.MaxDepth+levels))
			require.ErrorContains(t, err, "nested more than 512 levels deep")
			_, err = Normalize(nil, nested(100_000))
			require.ErrorContains(t, err, "nested more than 512 levels deep")
		})
	}
}

// Documents made to cost much: each has to end in time and with an output of at most five times its size.
func TestNormalizeHostile(t *testing.T) {
	size, keys := 1<<18, 100_000
	if testing.Short() {
		size, keys = 1<<16, 25_000
	}
	deepReordered := strings.Repeat(`{"b":"`+strings.Repeat("x", 1000)+`","1":`, 500) + "1" + strings.Repeat("}", 500)
	var sameBucket, descending strings.Builder
	for i := range keys {
		sameBucket.WriteString(`"` + strconv.Itoa(i%7) + `":{},`)
		descending.WriteString(`"` + strconv.FormatUint(4294967294-uint64(i), 10) + `":0,`)
	}
	for _, row := range []struct{ name, body string }{
		{name: "deep and reordered", body: deepReordered},
		{name: "duplicates", body: "{" + sameBucket.String() + `"z":0}`},
		{name: "descending indices", body: "{" + descending.String() + `"z":0}`},
		{name: "numbers that grow", body: "[" + strings.Repeat("1e20,", size/5) + "0]"},
		{name: "one long number", body: strings.Repeat("9", size)},
		{name: "one long fraction", body: "0." + strings.Repeat("1", size)},
		{name: "one long exponent", body: "1e-" + strings.Repeat("9", size)},
		{name: "ill-formed", body: `"` + strings.Repeat("\xff", size) + `"`},
		{name: "cut short", body: `"` + strings.Repeat("\xf0\x9f\x98", size/3) + `"`},
		{name: "escapes", body: `"` + strings.Repeat(`\u001f\ud800`, size/12) + `"`},
		{name: "empty objects", body: "[" + strings.Repeat("{},", size/3) + "{}]"},
		{name: "reordered objects", body: "[" + strings.Repeat(`{"a":0,"1":0},`, size/14) + "{}]"},
		{name: "small members", body: "{" + strings.Repeat(`"":1,`, size/5) + `"z":0}`},
		{name: "backslashes", body: `"` + strings.Repeat(`\\`, size/2) + `"`},
		{name: "keys with an escape", body: "{" + strings.Repeat(`"\u0061":0,`, size/11) + `"z":0}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			out, err := Normalize(nil, []byte(row.body))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			perByte := (after.TotalAlloc - before.TotalAlloc) / uint64(len(row.body))
			require.NoError(t, err)
			require.LessOrEqual(t, len(out), 5*len(row.body))
			require.True(t, json.Valid(out))
			require.Less(t, took, 5*time.Second)
			require.Less(t, perByte, uint64(60))
			t.Logf("%-20s %8d bytes in, %8d out, %2d times its size allocated, %v", row.name, len(row.body), len(out), perByte, took)
		})
	}
}
