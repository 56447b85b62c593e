package endtoend_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// A data file is whole after a kill and beside a running program, in a copy. A finished PDF that has lost a bit is not served; the
// answer of /readyz, the log and check name its document.
func TestADamagedDataFile(t *testing.T) {
	folder := t.TempDir()
	data, monday := filepath.Join(folder, "sandbox.db"), filepath.Join(folder, "monday.db")
	s := start(t, "--data", data)
	var signed wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), &signed))
	require.NoError(t, s.client.Post(t.Context(), "/documents/"+signed.ID+"/sign", wire.Signature{Signer: "ann@example.com"}, nil))
	require.NoError(t, s.client.Post(t.Context(), "/clock/settle", nil, nil))
	require.Equal(t, http.StatusOK, s.call(t, "GET", "/finished/"+signed.ID+".pdf", nil, nil))

	_, err := command(t, nil, "check", data)
	require.ErrorContains(t, err, "exit status 1")
	require.ErrorContains(t, err, "in use by another process")
	require.ErrorContains(t, err, "signforms backup")
	stdout, err := command(t, nil, "backup", data, monday)
	require.NoError(t, err)
	require.Contains(t, stdout, monday+" is whole: ")
	s.kill(t)
	stdout, err = command(t, nil, "check", data)
	require.NoError(t, err)
	require.Contains(t, stdout, data+" is whole: ")

	for _, file := range []string{data, monday} {
		edit(t, file, `update blob set data = zeroblob(100) || substr(data, 101)`)
		stdout, err = command(t, nil, "check", file)
		require.ErrorContains(t, err, "exit status 1")
		require.ErrorContains(t, err, file+" has 1 problem")
		require.Contains(t, stdout, "a file of document "+signed.ID+" cannot be read: it is damaged")
	}
	s = start(t, "--data", data)
	require.Equal(t, http.StatusServiceUnavailable, s.call(t, "GET", "/finished/"+signed.ID+".pdf", nil, nil))
	_, err = command(t, nil, "ready", "--url", s.Listening)
	require.ErrorContains(t, err, "a file of document "+signed.ID+" cannot be read: it is damaged")
	require.Contains(t, s.stop(t), `of="document `+signed.ID+`"`)
}

// What the start refuses, check reports, each in a file of its own.
func TestCheckFindsWhatTheStartRefuses(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), nil))
	s.stop(t)
	whole, err := os.ReadFile(data)
	require.NoError(t, err)
	for change, want := range map[string]string{
		`delete from _meta where name = 'sealing_key'`:                                         "the row of the sealing key is missing",
		`update _meta set value = replace(value, 'BEGIN', 'begin') where name = 'sealing_key'`: "a private key and a certificate in PEM",
		`delete from service`:                                "none of the service itself",
		`update document set data = replace(data, 'L', 'l')`: " is not as it was saved: its checksum is another",
		`delete from document`:                               "records are missing from it",
		`update service set data = substr(data, 1, 20)`:      " is not as it was saved",
		`update _saved set sums = 0`:                         "records are missing from it",
		`delete from _saved`:                                 "the row that counts its changes is missing",
	} {
		require.NoError(t, os.WriteFile(data, whole, 0o600))
		edit(t, data, change)
		if change == `delete from service` { // as if it had never been saved
			resum(t, data)
		}
		stdout, err := command(t, nil, "check", data)
		require.ErrorContains(t, err, "exit status 1", change)
		require.Contains(t, stdout+err.Error(), want)
		_, err = command(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
		require.ErrorContains(t, err, want)
	}
}

// check examines a file of an older version as it is.
func TestCheckOfAnOlderVersionsFile(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "a7e257f.db"))
	require.NoError(t, err)
	data := filepath.Join(t.TempDir(), "sandbox.db")
	require.NoError(t, os.WriteFile(data, content, 0o400))
	stdout, err := command(t, nil, "check", data)
	require.NoError(t, err)
	require.Contains(t, stdout, "is whole: ")
	after, err := os.ReadFile(data)
	require.NoError(t, err)
	require.Equal(t, content, after)
}
