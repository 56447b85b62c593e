package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// No cell begins like a formula, moves a cursor, or turns text around.
func TestCSVCells(t *testing.T) {
	for in, want := range map[string]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": " a", "\r=1": "' =1", "a\u202eb\u2066c\r\nd": "a b c\nd", "＝1": "'＝1",
		"a=1": "a=1", "": "", "\x1b[31mred": " [31mred", " =1": "' =1", "\n+1": "'\n+1", "a b": "a b", `"=1"`: `"=1"`, "x\t@y": "x @y",
	} {
		require.Equal(t, want, csvCell(in), "%q", in)
	}
}

// Controls beyond ASCII and characters that turn the order of text around could hide what a JSON line says on a terminal.
func TestJSONHidesNothing(t *testing.T) {
	const name = "a\u009b31m\u007f\u202etxt.exe\u2066\u200e ünï 👩\u200d🚀"
	for _, write := range []func(w io.Writer) error{
		func(w io.Writer) error { return EncodeJSON(w, map[string]string{name: name}, "  ") },
		func(w io.Writer) error {
			cmd := &cobra.Command{}
			cmd.SetOut(w)
			return NewPrinter(cmd, Output{JSON: true}, nil, func(s string) any { return s }, 1).Print(name)
		},
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Contains(t, b.String(), `a\u009b31m\u007f\u202etxt.exe\u2066\u200e ünï 👩`+"\u200d🚀")
		var back any
		require.NoError(t, json.Unmarshal(b.Bytes(), &back))
		if text, ok := back.(string); ok {
			require.Equal(t, name, text)
		}
	}
}

func TestDaysWithoutMidnight(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		require.NoError(t, err)
		return z
	}
	for _, c := range []struct{ zone, day, begins, ends string }{
		{"Africa/Cairo", "2026-04-23", "2026-04-22T22:00:00Z", "2026-04-23T21:59:59.999Z"},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59.999Z"},   // begins at 01:00
		{"Africa/Cairo", "2026-10-29", "2026-10-28T21:00:00Z", "2026-10-29T21:59:59.999Z"},   // has 25 hours
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59.999Z"}, // midnight comes twice
		{"America/Havana", "2026-10-31", "2026-10-31T04:00:00Z", "2026-11-01T03:59:59.999Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T02:59:59.999Z"},
		{"America/Santiago", "2026-09-05", "2026-09-05T04:00:00Z", "2026-09-06T03:59:59.999Z"},
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T09:59:59.999Z"}, // the next day is missing
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T09:59:59.999Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T09:59:59.999Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z"},
		{"UTC", "2026-12-31", "2026-12-31T00:00:00Z", "2026-12-31T23:59:59.999Z"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		require.Equal(t, c.begins, beginOf(day, zone(c.zone)).UTC().Format("2006-01-02T15:04:05.999Z"), "%s %s", c.zone, c.day)
		require.Equal(t, c.ends, endOf(day, zone(c.zone)).UTC().Format("2006-01-02T15:04:05.999Z"), "%s %s", c.zone, c.day)
	}
}
