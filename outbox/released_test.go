package outbox

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

var recordFile = flag.Bool("outbox.record", false, "write testdata/v0.1.0.db again, with the tables that this version makes")

// TestOpen_fileOfARelease opens a copy of the database that version 0.1.0 wrote.
func TestOpen_fileOfARelease(t *testing.T) {
	const released = "testdata/v0.1.0.db"
	if *recordFile {
		require.NoError(t, os.RemoveAll(released))
		recordRelease(t, released)
	}
	file := filepath.Join(t.TempDir(), "app.db")
	content, err := os.ReadFile(released)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, content, 0o600))
	db := place{"sqlite", sqliteSource(file)}.open(t)
	box, err := Open(t.Context(), db, nil, nil)
	require.NoError(t, err)
	require.NoError(t, box.Void(t.Context(), db, "waiting"))
	require.NoError(t, box.Retry(t.Context(), db, "failed"))
	states := map[string]State{}
	for e, err := range box.List(t.Context(), Filter{}) {
		require.NoError(t, err)
		states[e.Key] = e.State
	}
	require.Equal(t, map[string]State{"sent": Sent, "failed": Pending, "doubt": Sending, "waiting": Cancelled}, states)
	e, err := box.Get(t.Context(), db, "sent")
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{24}$", e.DocumentID)
}

func recordRelease(t *testing.T, file string) {
	f := newFixture(t, place{"sqlite", sqliteSource(file)})
	f.add("sent", "ann@example.com")
	f.work()
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: 1, Status: http.StatusConflict})
	f.add("failed", "ben@example.com")
	f.work()
	f.lose(1, true)
	f.add("doubt", "cem@example.com")
	f.work()
	f.add("waiting", "dan@example.com")
	_, err := f.db.Exec("PRAGMA journal_mode = DELETE")
	require.NoError(t, err)
	require.NoError(t, f.db.Close())
}
