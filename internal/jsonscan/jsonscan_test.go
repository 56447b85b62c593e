package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// skip reads doc as a whole, and walk reads it member by member. They must agree.
func skip(doc string) error {
	s := jsonscan.New([]byte(doc))
	s.Skip()
	s.End()
	return s.Err()
}

func walk(doc string, text func(t jsonscan.Text)) error {
	s := jsonscan.New([]byte(doc))
	walkValue(&s, text)
	s.End()
	return s.Err()
}

func walkValue(s *jsonscan.Scanner, text func(jsonscan.Text)) {
	switch s.Next() {
	case '{':
		s.Open()
		for key, more := s.Member(true); more; key, more = s.Member(false) {
			text(key)
			walkValue(s, text)
		}
	case '[':
		s.Open()
		for first := true; s.More(first); first = false {
			walkValue(s, text)
		}
	case '"':
		text(s.String())
	default:
		text(s.Scalar())
	}
}

func texts(t *testing.T, doc string) []string {
	var got []string
	require.NoError(t, walk(doc, func(x jsonscan.Text) { got = append(got, doc[x.Start:x.End]) }), doc)
	return got
}

func TestScanner_walk(t *testing.T) {
	require.Equal(t, []string{"a", "1", "b", "", "-2.5e+10", "null", "c", "x", "true", `y\n`, "é", "false"},
		texts(t, "\r\n{ \"a\" : 1,\t\"b\":[\"\",-2.5e+10 ,null ], \"c\": {\"x\":true}, \"y\\n\":{\"é\":false}}\n"))
}

// Eight bytes are looked at together, so every byte has to be tried at every place.
func TestScanner_everyByteAtEveryIndex(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 24} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for at := range size {
				for c := range 256 {
					content := []byte(strings.Repeat("x", size))
					content[at] = byte(c)
					for _, doc := range []string{`"` + string(content) + `"`, `{"` + string(content) + `":1}`} {
						t.Run(doc, func(t *testing.T) {
							want := json.Valid([]byte(doc)) && utf8.ValidString(doc)
							require.Equal(t, want, skip(doc) == nil)
						})
					}
				}
			}
		})
	}
}

func TestScanner_UTF8(t *testing.T) {
	check := func(content ...byte) {
		doc := `"` + string(content) + `"`
		if want := utf8.ValidString(doc) && json.Valid([]byte(doc)); want != (skip(doc) == nil) {
			t.Fatalf("%q accepted %v, want %v", doc, !want, want)
		}
	}
	edges := []byte{'x', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF}
	for a := 0x7F; a <= 0xFF; a++ {
		for b := range 256 {
			check(byte(a), byte(b))
			if a < 0xC0 || a < 0xE0 && !bytes.Contains(edges, []byte{byte(b)}) { // a third byte only follows what two make
				continue
			}
			for _, c := range edges {
				check(byte(a), byte(b), c)
				check(byte(a), byte(b), c, 0x80)
			}
		}
	}
}

func TestScanner_hexadecimal(t *testing.T) {
	for at := range 4 {
		for c := range 256 {
			digits := []byte("01aF")
			digits[at] = byte(c)
			doc := `"\u` + string(digits) + `"`
			require.Equal(t, json.Valid([]byte(doc)) && utf8.ValidString(doc), skip(doc) == nil, "%q", doc)
		}
	}
}

func TestScanner_charactersInAString(t *testing.T) {
	for r := rune(0x80); r <= utf8.MaxRune; r += 1 + r>>12 {
		if doc := `"` + string(r) + `"`; skip(doc) != nil {
			t.Fatalf("%U is refused", r)
		}
	}
}

func TestScanner_Err(t *testing.T) {
	for _, row := range []struct{ doc, want string }{
		{doc: ``, want: "byte 0: unexpected end"},
		{doc: `{"a":1`, want: "byte 6: unexpected end"},
		{doc: `{"a`, want: "byte 3: unexpected end"},
		{doc: `{"secret":secret}`, want: "byte 10: expected a value"},
		{doc: `{secret:1}`, want: "byte 1: expected a key in double quotes"},
		{doc: `{"a" 1}`, want: "byte 5: expected a colon"},
		{doc: `[1 2]`, want: "byte 3: expected a comma or the end of the object or array"},
		{doc: `[1}`, want: "byte 2: expected a comma or the end of the object or array"},
		{doc: "\"secret\nsecret\"", want: "byte 7: control character in a string"},
		{doc: `"secret\x"`, want: "byte 7: unknown escape in a string"},
		{doc: "\"secret\xff\"", want: "byte 7: text is not UTF-8"},
		{doc: `[01]`, want: "byte 2: expected a comma or the end of the object or array"},
		{doc: `-01`, want: "byte 2: text after the value"},
		{doc: `[-]`, want: "byte 2: malformed number"},
		{doc: `[1.x]`, want: "byte 3: malformed number"},
		{doc: `{} secret`, want: "byte 3: text after the value"},
		{doc: strings.Repeat("[", 600), want: "byte 512: nested more than 512 levels deep"},
	} {
		t.Run(fmt.Sprintf("%.60s", row.doc), func(t *testing.T) {
			require.EqualError(t, skip(row.doc), row.want)
			require.EqualError(t, walk(row.doc, func(jsonscan.Text) {}), row.want)
		})
	}
}

func TestScanner_depth(t *testing.T) {
	for _, shape := range [][2]string{{"[", "]"}, {`{"a":[`, `]}`}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			levels := strings.Count(shape[0], "[") + strings.Count(shape[0], "{")
			n := jsonscan.MaxDepth / levels
			require.NoError(t, skip(strings.Repeat(shape[0], n)+strings.Repeat(shape[1], n)))
			require.Error(t, skip(strings.Repeat(shape[0], n+1)+strings.Repeat(shape[1], n+1)))
			require.Error(t, skip(strings.Repeat(shape[0], 1_000_000)))
		})
	}
	require.NoError(t, skip("["+strings.Repeat("[],{},", 1000)+"[]]"), "siblings do not add up")
}

func TestUnescape(t *testing.T) {
	for _, raw := range []string{
		`plain`, `\"\\\/\b\f\n\r\t`, `\u0041\u00e9\u20AC\uD83D\uDE00`, `a\u0000b`, `\ud800`, `\ude00\ud83d`, `\ud83d\ud83d\ude00`,
		`\ud83dx`, `\ud83d\n`, `\uDFFF end`, `é\u00e9é`,
	} {
		t.Run(raw, func(t *testing.T) {
			var want string
			require.NoError(t, json.Unmarshal([]byte(`"`+raw+`"`), &want))
			require.Equal(t, want, string(jsonscan.Unescape(nil, []byte(raw))))
		})
	}
}

func TestScanner_noAllocations(t *testing.T) {
	doc := []byte(`{"a":["x\n",1.5,{"é":null}],"b":[[[[]]]]}`)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s := jsonscan.New(doc)
		s.Skip()
		s.End()
	}))
}

// FuzzScan holds the scanner to encoding/json, which it is stricter than in UTF-8 and depth only.
func FuzzScan(f *testing.F) {
	for _, doc := range []string{`{"a":[1,-0.5e-7,"\ud83d\ude00",true,null]}`, "[\"\xe2\x82\"]", ` [ ] `, `{"":{}}x`, "\"\u2028\""} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := skip(string(doc))
		deep := err != nil && strings.HasSuffix(err.Error(), "nested more than 512 levels deep")
		if want := json.Valid(doc) && utf8.Valid(doc); want != (err == nil) && !deep {
			t.Fatalf("valid %v, but the scanner says %v", want, err)
		}
		err = walk(string(doc), func(x jsonscan.Text) { checkText(t, doc, x) })
		if again := skip(string(doc)); (again == nil) != (err == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("walk says %v, skip %v", err, again)
		}
	})
}

func checkText(t *testing.T, doc []byte, x jsonscan.Text) {
	raw := doc[x.Start:x.End]
	if x.Start == 0 || doc[x.Start-1] != '"' || !utf8.Valid(raw) {
		return // a scalar, or nothing at a mistake
	}
	var want string
	if err := json.Unmarshal(doc[x.Start-1:x.End+1], &want); err != nil {
		t.Fatalf("%q is no string: %v", raw, err)
	}
	got := raw
	if x.Escaped {
		got = jsonscan.Unescape(nil, raw)
	}
	if string(got) != want {
		t.Fatalf("%q means %q, want %q", raw, got, want)
	}
}
