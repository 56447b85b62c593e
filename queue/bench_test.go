package queue_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// BenchmarkStore stores events of 1 KB, 16 at a time.
func BenchmarkStore(b *testing.B) {
	q, close, err := newFile(b).open(b.Context(), nil)
	require.NoError(b, err)
	defer close()
	var n atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			events, err := webhook.Parse(webhooktest.Payload(kilobyte(int(n.Add(1)))))
			require.NoError(b, err)
			require.NoError(b, q.Store(b.Context(), events))
		}
	})
}
