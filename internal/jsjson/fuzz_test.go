package jsjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzNormalize checks what holds without Node.js: the result is JSON that means the same, has no more to normalise,
// and is never much longer than the body.
func FuzzNormalize(f *testing.F) {
	for _, body := range []string{`{"b":[1.0,-0,1e400],"1":"\ud800\u0041","b":{"__proto__":null}}`, " [ ] ", "\"\xe2\x82\"", `{"a":1,"\u0061":2}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := Normalize(nil, body)
		if err != nil {
			if json.Valid(body) && !errors.Is(err, errTooCostly) && !strings.HasSuffix(err.Error(), "nested more than 512 levels deep") {
				t.Fatalf("it is JSON, but Normalize says %v", err)
			}
			return
		}
		require.True(t, json.Valid(out) && utf8.Valid(out))
		require.LessOrEqual(t, len(out), 5*len(body)+1)
		again, err := Normalize(nil, out)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		if bytes.Contains(out, []byte("null")) {
			return // a number that JavaScript has no room for becomes null, and encoding/json refuses it
		}
		var want, got any
		require.NoError(t, json.Unmarshal(body, &want))
		require.NoError(t, json.Unmarshal(out, &got))
		if utf8.Valid(body) {
			require.Equal(t, want, got)
		}
	})
}
