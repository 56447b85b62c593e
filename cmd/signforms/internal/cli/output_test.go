package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestCSVCells(t *testing.T) {
	for in, want := range map[string]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": `" a"`, "\r=1": "' '=1", "a\u202eb\u2066c\r\nd": "\"a b c\nd\"", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a",
		"a=1": "a=1", "": "", "\x1b[31mred": `" [31mred"`, "two\nlines": "\"two\nlines\"", " =1": "' '=1", " a b": `" a b"`, "a b": "a b", `"=1"`: `"'""'=1"""`,
		`Doe, "Ann"`: `"Doe, ""Ann"""`, "a;b": `"a;b"`, "a;-b": `"'a;'-b"`, "two\n=1": "\"'two\n'=1\"", "x\t@y": "x @y",
		"x;=cmd|' /C calc'!A0;y": `"'x;'=cmd|' /C calc'!A0;y"`,
	} {
		require.Equal(t, want, csvCell(in), "%q", in)
	}
}

// A reader with semicolons splits a line elsewhere, and takes a quote within a cell as it is. None of its cells is a formula either.
func TestNoReaderOfCSVFindsAFormula(t *testing.T) {
	formula := regexp.MustCompile(`^["\s]*[=+\-@＝＋－＠]`)
	for _, cell := range []string{"x;=cmd|' /C calc'!A0;y", ";+1", "\"; =1", "a\n;@b", "a\r-b", "a\t=b", "=1", `";"=1`, "a;\"\"=1"} {
		var b bytes.Buffer
		require.NoError(t, line(&b, []string{"id", csvCell(cell), "end"}, ","))
		rows, err := csv.NewReader(&b).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Len(t, rows[0], 3)
		line := "id," + csvCell(cell) + ",end\n"
		for _, part := range regexp.MustCompile(`[;\t\r\n]`).Split(line, -1) {
			require.NotRegexp(t, formula, part, "%q", cell)
		}
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

// Columns are as wide as a terminal shows them, and a cut is between two characters as a reader sees them.
func TestWidthsAreCells(t *testing.T) {
	const family, flag, combined = "👩\u200d👩\u200d👧", "🇺🇦", "e\u0301"
	for text, want := range map[string]int{"abc": 3, "漢字": 4, family: 2, flag: 2, combined: 1, "ｶﾅ": 2, "": 0, "กำ": 2} {
		require.Equal(t, want, width(text), "%q", text)
	}
	require.Equal(t, family, Plain(family))
	for text, want := range map[string]string{
		"漢字漢字": "漢字…", "abcdef": "abcd…", "abc" + family + "d": "abc…", strings.Repeat(combined, 6): strings.Repeat(combined, 4) + "…",
	} {
		require.Equal(t, want, cut(text, 5), "%q", text)
	}
	var b bytes.Buffer
	t1 := &table{w: &b, width: 80, long: []bool{false, false}, times: []bool{false, false}, page: 3}
	for _, row := range [][]string{{"漢字", "x"}, {"abc", "x"}, {family, "x"}} {
		require.NoError(t, t1.row(row))
	}
	require.Equal(t, "漢字  x\nabc   x\n"+family+"    x\n", b.String())
	b.Reset()
	PrintRows(&b, []string{"漢字", "x"}, []string{"a", "y"})
	require.Equal(t, "漢字  x\na     y\n", b.String())
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

func TestBroken(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"a word", "a word"}, {"1234567890\n", "1234567890\n"}, {"12345 7890\n", "12345 7890\n"}, {"12345 78901\n", "12345\n78901\n"},
		{"one two three four\nfive\n\nsix\n", "one two\nthree four\nfive\n\nsix\n"}, {"12345678901234 x y\n", "12345678901234\nx y\n"},
		{"  set in, and for copying\n", "  set in, and for copying\n"}, {"\tset in, and so on\n", "\tset in, and so on\n"},
		{"Go on? [y/N] ", "Go on?\n[y/N] "}, {"1234567890 ", "1234567890 "}, {"123456789 \n", "123456789 \n"},
		{"日本語 日本 x\n", "日本語\n日本 x\n"}, {"e\u0301e\u0301e\u0301e\u0301e\u0301 12345", "e\u0301e\u0301e\u0301e\u0301e\u0301\n12345"}, {"a  b   c\n", "a  b   c\n"},
	} {
		require.Equal(t, c.want, broken(c.text, 10), c.text)
	}
}

func TestWrapped(t *testing.T) {
	require.Equal(t, "aa bb\ncc dd\nlonger\ne\n\n  x  y z\nf", Wrapped("aa bb cc\ndd longer e\n\n  x  y z\nf", 5))
}

func TestFlagsWrapped(t *testing.T) {
	const help = "Flags:\n      --to time        not after this\n  -y, --yes            do not ask (default $SIGNFORMS_A_LONG_NAME) and go on\nSee more"
	require.Equal(t, help, FlagsWrapped(help, 100))
	require.Equal(t, "Flags:\n      --to time        not after this\n  -y, --yes            do not ask (default\n                       $SIGNFORMS_A_LONG_NAME)\n"+
		"                       and go on\nSee more", FlagsWrapped(help, 47))
	require.Equal(t, "Flags:\n      --to time\n          not after this\n  -y, --yes\n          do not ask\n          (default\n          $SIGNFORMS_A_LONG_NAME)\n"+
		"          and go on\nSee more", FlagsWrapped(help, 26))
}
