//go:build !race

// The race detector makes sync.Pool drop things at random.

package webhook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerifyAllocations(t *testing.T) {
	v := newVerifier(t, nil, "another-secret-0123", secret)
	for _, timestamp := range []string{"1795176000", "1795176000123", "2026-11-20T12:00:00.123Z"} {
		body := strings.Repeat("x", 20_000)
		h := signed(secret, timestamp, body)
		payload := []byte(body)
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := v.Verify(h, payload); err != nil {
				t.Fatal(err)
			}
		})
		require.Zero(t, allocations, timestamp)
	}
}
