package jsjson

import (
	"encoding/hex"
	"encoding/json"
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
	for in, want := range map[string]string{
		"0." + zeros + "123e120002":                             "12.3",
		"123" + zeros + "e-120003":                              "0.123",
		"-0." + zeros + "5e119677":                              "-5e-324",
		"5" + zeros + "e-120330":                                "0",
		"1" + zeros + "e-119690":                                "null",
		zeros[:1] + "e" + zeros + "5":                           "0",
		"2" + zeros + "." + zeros + "e-" + zeros[:9] + "120000": "2",
	} {
		got, err := Normalize(nil, []byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%.20s… of %d bytes", in, len(in))
	}
}

// Numbers that take long to read are few in an honest document. Without a bound, a megabyte of them takes seconds.
func TestNormalizeCostlyNumbers(t *testing.T) {
	list := func(number string, n int) []byte {
		return []byte("[" + strings.Repeat(number+",", n-1) + number + "]")
	}
	for _, costly := range []string{"5e-324", "-4e-310", "2e-308", "9e308", "12345678901234567891", "0.12345678901234567891e300"} {
		_, err := Normalize(nil, list(costly, maxCostly))
		require.NoError(t, err, costly)
		got, err := Normalize([]byte("before"), list(costly, maxCostly+1))
		require.ErrorIs(t, err, errTooCostly, costly)
		require.Equal(t, "before", string(got))
	}
	for _, cheap := range []string{"0.0", "-0", "0e-324", "1e-400", "1e400", "1e-307", "9e307", "-1234567.890123456789", "1.00000000000000000000", "123456789012345678900000"} {
		_, err := Normalize(nil, list(cheap, 2*maxCostly))
		require.NoError(t, err, cheap)
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
		levels := strings.Count(shape.open, "[") + strings.Count(shape.open, "{")
		nested := func(depth int) []byte {
			n := depth / levels
			return []byte(strings.Repeat(shape.open, n) + shape.inner + strings.Repeat(shape.end, n))
		}
		_, err := Normalize(nil, nested(jsonscan.MaxDepth))
		require.NoError(t, err, shape.open)
		_, err = Normalize(nil, nested(jsonscan.MaxDepth+levels))
		require.ErrorContains(t, err, "nested more than 512 levels deep", shape.open)
		_, err = Normalize(nil, nested(100_000))
		require.ErrorContains(t, err, "nested more than 512 levels deep", shape.open)
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
	for name, body := range map[string]string{
		"deep and reordered":  deepReordered,
		"duplicates":          "{" + sameBucket.String() + `"z":0}`,
		"descending indices":  "{" + descending.String() + `"z":0}`,
		"numbers that grow":   "[" + strings.Repeat("1e20,", size/5) + "0]",
		"one long number":     strings.Repeat("9", size),
		"one long fraction":   "0." + strings.Repeat("1", size),
		"one long exponent":   "1e-" + strings.Repeat("9", size),
		"ill-formed":          `"` + strings.Repeat("\xff", size) + `"`,
		"cut short":           `"` + strings.Repeat("\xf0\x9f\x98", size/3) + `"`,
		"escapes":             `"` + strings.Repeat(`\u001f\ud800`, size/12) + `"`,
		"empty objects":       "[" + strings.Repeat("{},", size/3) + "{}]",
		"reordered objects":   "[" + strings.Repeat(`{"a":0,"1":0},`, size/14) + "{}]",
		"small members":       "{" + strings.Repeat(`"":1,`, size/5) + `"z":0}`,
		"backslashes":         `"` + strings.Repeat(`\\`, size/2) + `"`,
		"keys with an escape": "{" + strings.Repeat(`"\u0061":0,`, size/11) + `"z":0}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		out, err := Normalize(nil, []byte(body))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		perByte := (after.TotalAlloc - before.TotalAlloc) / uint64(len(body))
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(out), 5*len(body), name)
		require.True(t, json.Valid(out), name)
		require.Less(t, took, 5*time.Second, name)
		require.Less(t, perByte, uint64(60), name)
		t.Logf("%-20s %8d bytes in, %8d out, %2d times its size allocated, %v", name, len(body), len(out), perByte, took)
	}
}
