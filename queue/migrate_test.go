package queue_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// old puts the events of testdata, which commit a7e257f stored, into an empty store.
func (s stage) old() {
	s.Helper()
	if !s.isFile() {
		script, err := os.ReadFile("testdata/a7e257f.sql")
		require.NoError(s, err)
		s.exec(string(script))
		return
	}
	file, err := os.ReadFile("testdata/a7e257f.db")
	require.NoError(s, err)
	require.NoError(s, os.WriteFile(string(s.where), file, 0o600))
}

// A queue of an older version keeps its events, their states and their order.
func TestOlderQueueIsMigrated(t *testing.T) {
	eachStore(t, func(s stage) {
		s.old()
		q := s.queue(&queue.Options{Retries: []time.Duration{8 * time.Hour, 8 * time.Hour}})
		all := s.list(q, queue.Filter{})
		require.Len(s, all, 9)
		require.Equal(s, "done failed retrying retrying odd   fresh fresh", subjects(all))
		require.Equal(s, queue.Failed, all[1].State)
		require.Equal(s, "no luck", all[1].Error)
		require.Equal(s, 1, all[2].Attempts)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, []byte(`{"webhookEvent":"new_signature_pdf_completed","documentName":"1","documentId":"done"}`)).Body.String())
		n, err := q.Retry(s.Context(), queue.Filter{Failed: true, Pending: true})
		require.NoError(s, err)
		var j journal
		on := j.noting(nil)
		on.Unknown = nil
		s.accept(q, completed("fresh", 3))
		s.run(q, on)
		st := s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.Equal(s, 2, st.Failed, "two could not be decoded")
		ran := j.all()
		require.Subset(s, ran, []string{"failed/1", "retrying/1", "retrying/2", "fresh/1", "fresh/2", "fresh/3"})
		require.Less(s, n, 9)
		require.NoError(s, q.Close())
		require.Len(s, s.list(s.queue(nil), queue.Filter{}), 10, "opens again")
	})
}

func subjects(all []queue.Entry) (list string) {
	for i, e := range all {
		if i > 0 {
			list += " "
		}
		list += e.Subject
	}
	return list
}
