package queue_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

var recordFile = flag.Bool("queue.record", false, "write testdata/v0.1.0.db again, with the tables that this version makes")

// TestOpenSQLite_fileOfARelease opens a copy of the database that version 0.1.0 wrote: a failed event, a processed one
// and two that wait.
func TestOpenSQLite_fileOfARelease(t *testing.T) {
	const released = "testdata/v0.1.0.db"
	if *recordFile {
		require.NoError(t, os.RemoveAll(released))
		recordRelease(t, released)
	}
	file := filepath.Join(t.TempDir(), "events.db")
	content, err := os.ReadFile(released)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, content, 0o600))
	s := stage{T: t, where: where(file)}
	q := s.queue(nil)
	stats, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, []int64{int64(stats.Pending), int64(stats.Failed)})
	s.accept(q, completed("processed", 1)) // a repeat
	var j journal
	s.run(q, j.noting(nil))
	s.settled(q)
	require.ElementsMatch(t, []string{"waiting/1", "waiting/2"}, j.all())
}

func recordRelease(t *testing.T, file string) {
	s := stage{T: t, where: where(file)}
	q := s.queue(nil)
	s.accept(q, completed("processed", 1), completed("failed", 1))
	stop := s.run(q, webhook.Funcs{SignatureCompleted: func(_ context.Context, e *webhook.SignatureCompleted) error {
		if e.Document.DocumentID == "failed" {
			return webhook.Permanent(errors.New("refused"))
		}
		return nil
	}})
	s.settled(q)
	stop()
	s.accept(q, completed("waiting", 1), completed("waiting", 2))
	require.NoError(t, q.Close())
}
