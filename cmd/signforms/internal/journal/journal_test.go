package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

func open(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { j.Close() })
	return j
}

func states(j *journal.Journal) map[string]journal.State {
	all := map[string]journal.State{}
	for _, e := range j.Entries() {
		all[e.Key] = e.State
	}
	return all
}

// written makes a journal with one entry of each state, and closes it.
func written(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "folder", "journal")
	j := open(t, path)
	for key, result := range map[string]journal.State{"a": journal.Done, "b": journal.Failed, "c": journal.Unknown} {
		require.NoError(t, j.Intend(journal.Entry{Key: key, Who: []string{"who " + key}, Run: "run", Item: "line " + key}))
		require.NoError(t, j.Settle(key, result, "id of "+key))
	}
	require.NoError(t, j.Intend(journal.Entry{Key: "d", Run: "run", Item: "line d"}))
	require.NoError(t, j.Close())
	return path
}

func TestReopened(t *testing.T) {
	j := open(t, written(t))
	require.Equal(t, map[string]journal.State{"a": journal.Done, "b": journal.Failed, "c": journal.Unknown, "d": journal.Begun}, states(j))
	a, ok := j.Entry("a")
	require.True(t, ok)
	require.Equal(t, "line a", a.Item)
	require.Equal(t, "id of a", a.ID)
	require.Equal(t, []string{"who a"}, a.Who)
	require.False(t, a.Intended.IsZero())
	_, ok = j.Entry("e")
	require.False(t, ok)
}

// If only a part of the last line is on disk, the lines before it are read, and the next line is written after them.
func TestTornLastLine(t *testing.T) {
	path := written(t)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	last := strings.LastIndexByte(strings.TrimSpace(string(whole)), '\n') + 1
	for end := last; end < len(whole); end++ {
		require.NoError(t, os.WriteFile(path, whole[:end], 0o600))
		j := open(t, path)
		require.NotContains(t, states(j), "d", "%d bytes", end)
		require.NoError(t, j.Intend(journal.Entry{Key: "e", Run: "run", Item: "line e"}))
		require.NoError(t, j.Close())
		j = open(t, path)
		require.Equal(t, journal.Begun, states(j)["e"], "%d bytes", end)
		require.Equal(t, journal.Done, states(j)["a"])
		require.NoError(t, j.Close())
	}
}

func TestTornFirstLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	for _, text := range []string{"", "{", `{"journal":1}`} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, open(t, path).Close(), "%q", text)
	}
}

func TestForgottenItemsAreNotHeldBack(t *testing.T) {
	path := written(t)
	j := open(t, path)
	require.NoError(t, j.Forget([]string{"a", "b", "never seen"}))
	require.Equal(t, map[string]journal.State{"c": journal.Unknown, "d": journal.Begun}, states(j))
	require.NoError(t, j.Close())
	j = open(t, path)
	require.Equal(t, map[string]journal.State{"c": journal.Unknown, "d": journal.Begun}, states(j))
	require.NoError(t, j.Forget([]string{"c", "d"}))
	require.NoError(t, j.Close())
	open(t, path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "{\"journal\":1}\n", string(text), "a journal that holds nothing does not grow")
}

func TestLocked(t *testing.T) {
	path := written(t)
	j := open(t, path)
	_, err := journal.Open(path)
	require.ErrorIs(t, err, journal.ErrInUse)
	require.NoError(t, j.Close())
	open(t, path)
}

func TestOwnersAlone(t *testing.T) {
	path := written(t)
	require.NoError(t, os.Chmod(path, 0o644))
	open(t, path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	for _, text := range []string{"name,email\nAnn,ann@example.com\n", "name", "{\"journal\":2}\n", "\n", "{}\n"} {
		path := filepath.Join(t.TempDir(), "people.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := journal.Open(path)
		require.ErrorContains(t, err, "is not a journal", "%q", text)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(after))
	}
}

func TestDevicesAreLeftAlone(t *testing.T) {
	_, err := journal.Open(os.DevNull)
	require.ErrorContains(t, err, "is not a journal")
}

func TestDamagedInTheMiddle(t *testing.T) {
	path := written(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[30] = '\x00'
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err = journal.Open(path)
	require.ErrorContains(t, err, "line 2 is damaged")
}

func TestKeysTellPartsApart(t *testing.T) {
	require.NotEqual(t, journal.Key("ab", "c"), journal.Key("a", "bc"))
	require.NotEqual(t, journal.Key("a", ""), journal.Key("a"))
	require.Equal(t, journal.Key("a", "b"), journal.Key("a", "b"))
}

func TestRun(t *testing.T) {
	path := written(t)
	j := open(t, path)
	require.Nil(t, j.Run())
	settings := map[string]string{"subject": "Offer"}
	require.NoError(t, j.Begin("first", settings))
	require.Equal(t, map[string]journal.State{"c": journal.Unknown, "d": journal.Begun}, states(j), "what is unknown stays")
	require.NoError(t, j.Close())

	j = open(t, path)
	require.Equal(t, "first", j.Run().ID)
	require.Equal(t, settings, j.Run().Settings)
	require.NoError(t, j.Forget([]string{"c", "d"}))
	require.Nil(t, j.Run(), "it has ended")
	require.NoError(t, j.Begin("second", nil))
	require.NoError(t, j.Close())
	for range 2 {
		j = open(t, path)
		require.Equal(t, "second", j.Run().ID, "a run without entries is kept")
		require.NoError(t, j.Close())
	}
}
