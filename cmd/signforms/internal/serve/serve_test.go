package serve

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrameAncestorsMustBeOrigins(t *testing.T) {
	for _, c := range []struct {
		origin string
		ok     bool
	}{
		{origin: "https://app.example.com", ok: true},
		{origin: "http://localhost:3000", ok: true},
		{origin: "https://app.example.com/path"},
		{origin: "*"},
		{origin: "app.example.com"},
		{origin: "https://a.example; script-src *"},
	} {
		t.Run(c.origin, func(t *testing.T) { require.Equal(t, c.ok, checkFrameAncestors([]string{c.origin}) == nil) })
	}
}
