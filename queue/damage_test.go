package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// fill stores an event in each of n ordering keys, and closes the queue.
func (s stage) fill(n int) {
	s.Helper()
	o := &queue.Options{}
	o.SetClocks(virtualClocks())
	q, close, err := s.open(s.Context(), o)
	require.NoError(s, err)
	for i := range n {
		s.accept(q, completed(fmt.Sprintf("%03d", i+1), 1))
	}
	require.NoError(s, close())
}

// A queue opens although its newest events are damaged, and the others are processed.
func TestOpen_damagedNewestEvents(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		s.fill(6)
		mend := s.damage(2, 4, 6)
		var log logged
		q := s.queue(&queue.Options{Logger: log.logger(), Workers: 1})
		var j journal
		s.run(q, j.noting(nil))
		time.Sleep(5 * time.Minute)
		require.Equal(s, []string{"001/1", "003/1", "005/1"}, j.sorted())
		n := log.count("an event cannot be read")
		require.GreaterOrEqual(s, n, 3)
		require.LessOrEqual(s, n, 3*6, "once a minute and ordering key")
		require.Zero(s, log.count("erasing events that are no longer kept"))
		mend()
		time.Sleep(2 * time.Minute)
		require.Len(s, j.sorted(), 6)
	})
}
