package jsonfill_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/jsonfill"
)

type record struct {
	Name    string            `json:"name" fill:"also=title,also=label"`
	Note    string            `json:"note" fill:"any"`
	Done    bool              `json:"done" fill:"also=isDone"`
	Count   int               `json:"count"`
	At      time.Time         `json:"at"`
	Maybe   *int              `json:"maybe"`
	Sub     *sub              `json:"sub"`
	Inner   sub               `json:"inner"`
	Subs    []sub             `json:"subs"`
	Raw     json.RawMessage   `json:"raw"`
	Raws    []json.RawMessage `json:"raws"`
	Skipped string            `json:"-"`
	Untaged string
}

type sub struct {
	ID string `json:"id"`
}

type list struct {
	record
	Records []record `json:"records" fill:"list"`
}

const ample = 1 << 20

// A key and a value with escapes are decoded into the same memory.
func TestObject_escapedKeyOfTwoTargets(t *testing.T) {
	var first record
	var second struct {
		Name json.RawMessage `json:"name"`
	}
	require.NoError(t, jsonfill.Object([]byte(`{"\u006eame":"\u0041nn"}`), ample, &first, &second))
	require.Equal(t, "Ann", first.Name)
	require.Equal(t, `"\u0041nn"`, string(second.Name))
}

func TestObject(t *testing.T) {
	seven, at := 7, time.Date(2026, 11, 18, 10, 15, 30, 125e6, time.UTC)
	for _, c := range []struct {
		doc  string
		want record
	}{
		{doc: `{}`},
		{doc: ` {"name":"Ann","unknown":[{"name":"x"}],"done":true,"count":3} `, want: record{Name: "Ann", Done: true, Count: 3}},
		{doc: `{"NAME":"Ann","Name2":"x"}`},
		{doc: `{"n\u0061me":"A\u006en \ud83d\ude00 \ud800"}`, want: record{Name: "Ann 😀 �"}},
		{doc: "{\"name\":\"A\xffn\xc3\"}", want: record{Name: "A\ufffdn\ufffd"}},
		{doc: `{"name":7.50}`, want: record{Name: "7.50"}},
		{doc: `{"name":true}`, want: record{Name: "true"}},
		{doc: `{"name":["x"],"note":["x", 1]}`, want: record{Note: `["x", 1]`}},
		{doc: `{"name":null,"note":null,"at":null,"maybe":null,"sub":null,"subs":null,"raw":null,"raws":null}`},
		{doc: `{"title":"T"}`, want: record{Name: "T"}},
		{doc: `{"title":"T","name":"N","label":"L"}`, want: record{Name: "N"}},
		{doc: `{"name":"","label":"L"}`, want: record{Name: "L"}},
		{doc: `{"label":"L","name":""}`, want: record{Name: "L"}},
		{doc: `{"isDone":true,"done":false}`, want: record{Done: true}},
		{doc: `{"done":"true"}`, want: record{Done: true}},
		{doc: `{"done":1}`, want: record{Done: true}},
		{doc: `{"done":"yes"}`},
		{doc: `{"done":[true]}`},
		{doc: `{"count":"12"}`, want: record{Count: 12}},
		{doc: `{"count":2.0}`, want: record{Count: 2}},
		{doc: `{"count":2.5}`},
		{doc: `{"count":1e99}`},
		{doc: `{"count":"` + strings.Repeat("1", 100) + `"}`},
		{doc: `{"at":"2026-11-18T10:15:30.125Z"}`, want: record{At: at}},
		{doc: `{"at":"2026-11-18"}`, want: record{At: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)}},
		{doc: `{"at":"2026-11-18T10:15:30.125"}`, want: record{At: at}},
		{doc: `{"at":"2026-11-18 10:15:30.125"}`, want: record{At: at}},
		{doc: `{"at":1794996930}`, want: record{At: at.Truncate(time.Second)}},
		{doc: `{"at":"1794996930"}`, want: record{At: at.Truncate(time.Second)}},
		{doc: `{"at":1794996930125}`, want: record{At: at}},
		{doc: `{"at":"1794996930125"}`, want: record{At: at}},
		{doc: `{"at":17949969301}`},
		{doc: `{"at":-179499693}`},
		{doc: `{"at":"2026-11-18T10:15:30,125Z"}`, want: record{At: at}},
		{doc: `{"at":"2026-11-18t10:15:30.125z"}`, want: record{At: at}},
		{doc: `{"at":" 2026-11-18T10:15:30.125Z\n"}`, want: record{At: at}},
		{doc: `{"at":"2026-11-18 10:15:30.125Z"}`, want: record{At: at}},
		{doc: `{"at":"Wed, 18 Nov 2026 10:15:30 GMT"}`},
		{doc: `{"at":"2026-11-18T10:15:30+1"}`},
		{doc: `{"at":"2026-11-18T25:15:30Z"}`},
		{doc: `{"at":"2026-11-18T"}`},
		{doc: `{"at":"tomorrow"}`},
		{doc: `{"maybe":7}`, want: record{Maybe: &seven}},
		{doc: `{"maybe":"7"}`, want: record{Maybe: &seven}},
		{doc: `{"maybe":"many"}`},
		{doc: `{"maybe":{}}`},
		{doc: `{"sub":{"id":5},"inner":{"id":"b"}}`, want: record{Sub: &sub{"5"}, Inner: sub{"b"}}},
		{doc: `{"sub":[],"inner":7}`},
		{doc: `{"subs":[]}`, want: record{Subs: []sub{}}},
		{doc: `{"subs":[{"id":"a"},{"id":[1]}]}`, want: record{Subs: []sub{{ID: "a"}, {}}}},
		{doc: `{"subs":{"id":"a"}}`, want: record{Subs: []sub{{ID: "a"}}}},
		{doc: `{"subs":{"other":1,"id":"a"}}`, want: record{Subs: []sub{{ID: "a"}}}},
		{doc: `{"subs":{}}`},
		{doc: `{"subs":{"other":{"id":"a"}}}`},
		{doc: `{"subs":[{"id":"a"}],"subs":[{},{"other":1}]}`, want: record{Subs: []sub{{}, {}}}},
		{doc: `{"subs":""}`},
		{doc: `{"subs":false}`},
		{doc: `{"subs":["a@b.c",null,7,[{"id":"x"}]]}`, want: record{Subs: []sub{{}, {}, {}, {}}}},
		{doc: `{"subs":["x",{"id":"a"}]}`, want: record{Subs: []sub{{}, {ID: "a"}}}},
		{doc: `{"raw": {"a": 1} ,"raws":[1, "x",null]}`, want: record{Raw: json.RawMessage(`{"a": 1}`),
			Raws: []json.RawMessage{json.RawMessage("1"), json.RawMessage(`"x"`), json.RawMessage("null")}}},
		{doc: `{"raws":{"event":1}}`},
		{doc: `{"-":"x","Skipped":"x","Untaged":"x"}`},
		{doc: `{"name":"first","name":"last","count":3,"count":0}`, want: record{Name: "last", Count: 3}},
	} {
		t.Run(c.doc, func(t *testing.T) {
			var got record
			require.NoError(t, jsonfill.Object([]byte(c.doc), ample, &got))
			require.Equal(t, c.want, got)
		})
	}
}

// TestObject_timesWithAnOffset compares instants: the zone of a parsed time depends on that of the machine.
func TestObject_timesWithAnOffset(t *testing.T) {
	want := time.Date(2026, 11, 18, 10, 15, 30, 0, time.UTC)
	for _, text := range []string{"2026-11-18T11:15:30+01:00", "2026-11-18T11:15:30+0100", "2026-11-18 05:15:30-0500",
		"2026-11-18T15:45:30+0530",
		"2026-11-18t10:15:30.000+0000"} {
		t.Run(text, func(t *testing.T) {
			var got record
			require.NoError(t, jsonfill.Object([]byte(`{"at":"`+text+`"}`), ample, &got))
			require.True(t, want.Equal(got.At), "%s is read as %s", text, got.At)
		})
	}
}

func TestObject_refuses(t *testing.T) {
	for _, row := range []struct{ doc, want string }{
		{doc: ``, want: "it is not a JSON object"}, {doc: `[{}]`, want: "it is not a JSON object"}, {doc: `null`, want: "it is not a JSON object"},
		{doc: `"x"`, want: "it is not a JSON object"},
		{doc: `{"name":"x"}{}`, want: "byte 12: text after the value"},
		{doc: `{"name":"x"`, want: "byte 11: unexpected end"},
		{doc: `{"records":7}`, want: "records is not a list"},
		{doc: `{"records":"none"}`, want: "records is not a list"},
		{doc: `{"records":{}}`, want: "records is not a list"},
		{doc: `{"records":{"x":[]}}`, want: "records is not a list"},
		{doc: `{"records":[7]}`, want: "records is not a record"},
		{doc: `{"records":[[]]}`, want: "records is not a record"},
		{doc: `{"records":[{},null`, want: "byte 19: unexpected end"},
	} {
		t.Run(row.doc, func(t *testing.T) {
			var got record
			require.EqualError(t, jsonfill.Object([]byte(row.doc), ample, &list{}, &got), row.want)
		})
	}
	var l list
	require.NoError(t, jsonfill.Object([]byte(`{"records":{"name":"x"},"count":7}`), ample, &l))
	require.Equal(t, list{record{Count: 7}, []record{{Name: "x"}}}, l)
}

// TestObject_numbersBeyondAnInt: on a machine of 32 bits, a number that an int cannot hold is like one of another kind, and not cut.
func TestObject_numbersBeyondAnInt(t *testing.T) {
	large := int64(1<<32 + 7)
	var want record
	if n := int(large); int64(n) == large {
		want = record{Count: n, Maybe: &n}
	}
	var got record
	require.NoError(t, jsonfill.Object(fmt.Appendf(nil, `{"count":%d,"maybe":"%[1]d"}`, large), ample, &got))
	require.Equal(t, want, got)
}

// TestObject_listSizesBeyond32Bits: the size of a list is compared with the bound also where it is more than an int of 32 bits can hold.
func TestObject_listSizesBeyond32Bits(t *testing.T) {
	type wide struct {
		ID string `json:"id"`
		_  [1 << 16]byte
	}
	doc := `{"list":[` + strings.Repeat("{},", 1<<16-1) + `{}]}`
	var target struct {
		List []wide `json:"list"`
	}
	require.ErrorIs(t, jsonfill.Object([]byte(doc), ample, &target), jsonfill.ErrTooMuch)
}

// TestObject_severalTargets: a key fills each that has it, also after a list that does not fit.
func TestObject_severalTargets(t *testing.T) {
	var a, b record
	require.EqualError(t, jsonfill.Object([]byte(`{"records":7,"name":"Ann","subs":[{"id":"x"}],"count":3}`), ample, &list{}, &a, &b), "records is not a list")
	require.Equal(t, record{Name: "Ann", Subs: []sub{{ID: "x"}}, Count: 3}, a)
	require.Equal(t, a, b)
}

// TestObject_memoryIsBounded counts all that is allocated, which is more than what is alive at any time.
func TestObject_memoryIsBounded(t *testing.T) {
	size := 1 << 18
	if testing.Short() {
		size = 1 << 16
	}
	repeated := func(s string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(s+",", size/len(s)), ",") + "]"
	}
	for _, row := range []struct{ name, doc string }{
		{name: "empty records", doc: `{"records":` + repeated(`{}`) + `}`},
		{name: "sparse records", doc: `{"records":` + repeated(`{"name":"a"}`) + `}`},
		{name: "odd records", doc: `{"records":` + repeated(`{"count":"7","subs":"","maybe":1}`) + `}`},
		{name: "full records", doc: `{"records":` + repeated(`{"name":"`+strings.Repeat("Ann ", 50)+`","at":"2026-11-18T10:15:30.125Z"}`) + `}`},
		{name: "no records", doc: `{"records":[{"subs":` + repeated(`5`) + `}]}`},
		{name: "nested", doc: `{"records":[{"subs":` + repeated(`{}`) + `}]}`},
		{name: "raw values", doc: `{"raws":` + repeated(`1`) + `}`},
		{name: "repeated lists", doc: "{" + strings.Repeat(`"raws":[1,2,3,4,5,6,7,8,9,0],`, size/32) + `"x":0}`},
		{name: "escapes", doc: `{"name":"` + strings.Repeat(`\u00e9`, size/6) + `"}`},
		{name: "one long key", doc: `{"` + strings.Repeat(`\u00e9`, size/6) + `":0}`},
		{name: "not UTF-8", doc: `{"name":"` + strings.Repeat("\xff", size) + `"}`},
		{name: "unknown fields", doc: `{"x":` + repeated(`{"x":[[]]}`) + `}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, times := range []int{1, 3, 7} {
				t.Run(fmt.Sprint(times), func(t *testing.T) {
					limit := times * len(row.doc)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					err := jsonfill.Object([]byte(row.doc), limit, &list{})
					runtime.ReadMemStats(&after)
					copied := uint64(len(row.doc)) // []byte(doc) above
					require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(limit)+copied+32<<10, "%s, %d times", row.name, times)
					if err != nil {
						require.ErrorIs(t, err, jsonfill.ErrTooMuch)
					}
				})
			}
		})
	}
	doc := `{"records":` + repeated(`{}`) + `}`
	require.ErrorIs(t, jsonfill.Object([]byte(doc), 7*len(doc), &list{}), jsonfill.ErrTooMuch)
	doc = `{"records":` + repeated(`{"name":"`+strings.Repeat("Ann ", 50)+`"}`) + `}`
	require.NoError(t, jsonfill.Object([]byte(doc), 7*len(doc), &list{}), "ordinary records have room")
}

// FuzzObject holds the filler to encoding/json wherever that can decode a document into the same struct.
func FuzzObject(f *testing.F) {
	for _, doc := range []string{
		`{"name":"Ann","done":true,"count":3,"at":"2026-11-18T10:15:30.125Z","maybe":1,"sub":{"id":"x"},"subs":[{"id":"y"}],"raws":[1,{}]}`,
		`{"name":"\ud800\u0000","note":"","inner":{"id":""},"raw":[ 1 ]}`, `{"subs":"","count":"7"}`, "{\"name\":\"\xff\xff\"}",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		type plain record // whose other keys encoding/json does not know
		var got, want record
		err := jsonfill.Object(doc, 1<<20, &got)
		if json.Unmarshal(bytes.ToValidUTF8(doc, []byte("\ufffd")), &want) != nil || hasDuplicates(doc) || want.Untaged != "" {
			return
		}
		if err != nil && !strings.Contains(err.Error(), "512 levels") && !(err == jsonfill.ErrNotObject) {
			t.Fatalf("encoding/json can read it: %v", err)
		}
		if err == nil && want.Name != "" && want.Name != got.Name {
			t.Fatalf("name %q, want %q", got.Name, want.Name)
		}
		if err == nil && (want.Count != 0 && want.Count != got.Count && int64(want.Count) < 1<<53 && int64(want.Count) > -1<<53 || !want.At.Equal(got.At) || len(want.Subs) != len(got.Subs) && !strings.Contains(string(doc), "null")) {
			t.Fatalf("%+v, want %+v", got, plain(want))
		}
	})
}

// hasDuplicates reports whether encoding/json would merge values of one key of doc. The filler does not merge them.
func hasDuplicates(doc []byte) bool {
	seen := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := tok.(string); ok {
			if s = strings.ToLower(s); seen[s] {
				return true
			}
			seen[s] = true
		}
	}
}
