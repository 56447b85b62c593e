package webhook_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestReplayKey has the keys of three equal events and another one. Stores that are shared keep them across versions.
func TestReplayKey(t *testing.T) {
	var keys []string
	store := &fakeStore{begin: func(_ context.Context, key webhook.ReplayKey) (webhook.ReplayState, error) {
		keys = append(keys, key.String())
		return webhook.ReplayFresh, nil
	}}
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Unknown: func(context.Context, *webhook.UnknownEvent) error { return nil }}, &webhook.HandlerOptions{ReplayStore: store})
	require.Equal(t, 200, serve(h, `[{"a":1}, {"a":1},{"b":[2]},{"a":1}]`).Code)
	require.Equal(t, 200, serve(h, `{"a":1}`).Code)
	require.Equal(t, []string{
		"015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862", // SHA-256 of {"a":1}
		"75b9eae9ea5ef10fc5303083a8ee9271af8dd43ccdf9c7d0b7188277be1c63e4", // SHA-256 of that and 0000000000000001
		"9ee9fff6ede692c5089630ad014ad3e7ad54e4ea6da0ac4b6c334f455b821ce0",
		"cc5edb8ef670ce1cff5682d408260c2896ca14d8c185607e7add997c8e03d6db",
		"015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
	}, keys)

	// Many equal events, each with a number of its own, among many others.
	var large, want []string
	for n := range 40 {
		large = append(large, `{"a":1}`, fmt.Sprintf(`{"n":%d}`, n))
		first, other := sha256.Sum256([]byte(`{"a":1}`)), sha256.Sum256([]byte(large[2*n+1]))
		if n > 0 {
			first = sha256.Sum256(append(first[:], 0, 0, 0, 0, 0, 0, 0, byte(n)))
		}
		want = append(want, hex.EncodeToString(first[:]), hex.EncodeToString(other[:]))
	}
	for _, events := range []int{2, 31, 32, 33, 80} {
		t.Run(fmt.Sprint(events), func(t *testing.T) {
			keys = nil
			require.Equal(t, 200, serve(h, array(large[:events]...)).Code)
			require.Equal(t, want[:events], keys, "a delivery of %d", events)

			parsed, err := webhook.Parse([]byte(array(large[:events]...)))
			require.NoError(t, err)
			var exported []string
			for _, key := range webhook.ReplayKeys(parsed) {
				exported = append(exported, key.String())
			}
			require.Equal(t, keys, exported, "ReplayKeys of a delivery of %d", events)
		})
	}
	require.Empty(t, webhook.ReplayKeys(nil))
}
