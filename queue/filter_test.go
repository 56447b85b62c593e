package queue_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// A time that Unix milliseconds cannot represent bounds like the first or the last that they can.
func TestTimesBeyondMilliseconds(t *testing.T) {
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

func TestManySigners(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		for _, id := range []string{"s<7>", "s<77>"} {
			s.accept(q, &webhook.TemplateSigned{Document: webhook.Document{DocumentID: id}, Signers: []webhook.Signer{{SignerID: id}}})
		}
		ids := make([]string, 70_000)
		for i := range ids {
			ids[i] = fmt.Sprintf("s<%d>", i+100)
		}
		require.Empty(s, s.list(q, queue.Filter{Signers: ids}))
		ids[5_000] = "s<7>"
		require.Len(s, s.list(q, queue.Filter{Signers: ids}), 1)
		done, err := q.Erase(s.Context(), queue.Filter{Signers: ids})
		require.NoError(s, err)
		require.Equal(s, 1, done.Events)
	})
}
