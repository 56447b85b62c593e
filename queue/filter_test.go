package queue_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// A time that Unix milliseconds cannot represent bounds like the first or the last that they can.
func TestFilter_timesBeyondMilliseconds(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		past, future := time.Unix(-(1<<60), 0), time.Unix(1<<60, 0)
		last := time.Unix(1<<63-62135596801, 999999999)
		for _, nothing := range []queue.Filter{{Since: future}, {Since: last}, {Before: past}, {Since: time.Unix(math.MaxInt64/1000+1, 0)}} {
			require.Empty(s, s.list(q, nothing))
			done, err := q.Erase(s.Context(), nothing)
			require.NoError(s, err)
			require.Zero(s, done)
		}
		for _, all := range []queue.Filter{{Since: past}, {Before: future}, {Before: last}} {
			require.Len(s, s.list(q, all), 1)
		}
	})
}
