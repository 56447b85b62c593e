package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
)

func TestAppendJSONPrintsWhatJavaScriptPrints(t *testing.T) {
	all := ""
	for c := range byte(0x20) {
		all += string(rune(c))
	}
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"HTML is not escaped", `A & B <c> "d"`, `"A & B <c> \"d\""`},
		{"line separators are literal", "\u2028\u2029", "\"\u2028\u2029\""},
		{"beyond ASCII is literal", "é 😀 \x7f", "\"é 😀 \x7f\""},
		{"backslash and slash", `a\b/c`, `"a\\b/c"`},
		{"control characters", all, `"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f` +
			`\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"`},
		{"ill-formed UTF-8", "a\xffb\xed\xa0\x80", "\"a\ufffdb\ufffd\ufffd\ufffd\""},
		{"values", delivery.Array{nil, true, false, 0, -7, 9007199254740991, "", delivery.Array{}, delivery.Object{}},
			`[null,true,false,0,-7,9007199254740991,"",[],{}]`},
		{"members keep their order", delivery.Object{{"b", 1}, {"a", 2}}, `{"b":1,"a":2}`},
		{"integer-like keys come first", delivery.Object{{"b", 1}, {"10", 2}, {"9", 3}, {"01", 4}, {"4294967295", 5}, {"4294967294", 6}, {"0", 7}},
			`{"0":7,"9":3,"10":2,"4294967294":6,"b":1,"01":4,"4294967295":5}`},
		{"the last of equal keys wins in the first's place", delivery.Object{{"a", 1}, {"b", 2}, {"a", 3}}, `{"a":3,"b":2}`},
		{"keys are escaped", delivery.Object{{"contact_field(page1)[A \"q\" <b>]", "x"}}, `{"contact_field(page1)[A \"q\" <b>]":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(delivery.AppendJSON(nil, c.in)))
		})
	}
	require.PanicsWithValue(t, "delivery: float64 is not a JSON value", func() { delivery.AppendJSON(nil, 1.5) })
}

func TestSign(t *testing.T) {
	// printf '1784570400.[{"a":1}]' | openssl dgst -sha256 -hmac key
	require.Equal(t, "0389deda6a9e24ff3f3b2ecfd68124a209ced09ff33782a2f56c8b4426848297", delivery.Sign("key", "1784570400", []byte(`[{"a":1}]`)))
}
