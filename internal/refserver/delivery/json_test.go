package delivery_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
)

func TestAppendJSON_likeJavaScript(t *testing.T) {
	all := ""
	for c := range byte(0x20) {
		all += string(rune(c))
	}
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{name: "HTML is not escaped", in: `A & B <c> "d"`, want: `"A & B <c> \"d\""`},
		{name: "line separators are literal", in: "\u2028\u2029", want: "\"\u2028\u2029\""},
		{name: "beyond ASCII is literal", in: "é 😀 \x7f", want: "\"é 😀 \x7f\""},
		{name: "backslash and slash", in: `a\b/c`, want: `"a\\b/c"`},
		{name: "control characters", in: all, want: `"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f` +
			`\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"`},
		{name: "ill-formed UTF-8", in: "a\xffb\xed\xa0\x80", want: "\"a\ufffdb\ufffd\ufffd\ufffd\""},
		{name: "values", in: delivery.Array{nil, true, false, 0, -7, math.MaxInt32, "", delivery.Array{}, delivery.Object{}},
			want: `[null,true,false,0,-7,2147483647,"",[],{}]`},
		{name: "members keep their order", in: delivery.Object{{"b", 1}, {"a", 2}}, want: `{"b":1,"a":2}`},
		{name: "the last of equal keys wins in the first's place", in: delivery.Object{{"a", 1}, {"b", 2}, {"a", 3}}, want: `{"a":3,"b":2}`},
		{name: "keys are escaped", in: delivery.Object{{"contact_field(page1)[A \"q\" <b>]", "x"}},
			want: `{"contact_field(page1)[A \"q\" <b>]":"x"}`},
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
