package endtoend_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A data file is whole after a kill and beside a running program, in a copy. A finished PDF that has lost a bit is not served,
// and check finds it, and a record that cannot be read.
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
		edit(t, file, `update file set data = zeroblob(100) || substr(data, 101)`)
		stdout, err = command(t, nil, "check", file)
		require.ErrorContains(t, err, "exit status 1")
		require.ErrorContains(t, err, file+" has 1 problem")
		require.Contains(t, stdout, "the PDF or image ")
		require.Contains(t, stdout, " is not as it was saved")
	}
	edit(t, monday, `update record set data = '{' where kind = 'service'`)
	stdout, _ = command(t, nil, "check", monday)
	require.Contains(t, stdout, "reading service ", "a record that serve would refuse")

	s = start(t, "--data", data)
	require.Equal(t, http.StatusServiceUnavailable, s.call(t, "GET", "/finished/"+signed.ID+".pdf", nil, nil))
	s.stop(t)
}

// TestCheck_whatAStartRefuses: check names each value and file whose loss a start or a page would meet.
func TestCheck_whatAStartRefuses(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "sandbox.db")
	s := start(t, "--data", data)
	page, err := pdf.Draw("Offer", []string{"text"})
	require.NoError(t, err)
	offer := wire.Template{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: page}}
	require.NoError(t, s.client.Post(t.Context(), "/templates", offer, nil))
	made, err := createWorkspace(t, s, "tests")
	require.NoError(t, err)
	s.stop(t)
	workspace := filepath.Join(folder, "sandbox-"+made.ID+".db")
	for _, file := range []string{data, workspace} {
		_, err = command(t, nil, "check", file)
		require.NoError(t, err)
	}

	edit(t, workspace, `update meta set value = '{' where name = 'workspace'`)
	stdout, err := command(t, nil, "check", workspace)
	require.ErrorContains(t, err, workspace+" has 1 problem")
	require.Contains(t, stdout, `the value "workspace": `)
	edit(t, data, `delete from file`)
	edit(t, data, `update meta set value = 'x' where name = 'sealing_key'`)
	edit(t, data, `update meta set value = '[]' where name = 'workspaces'`)
	stdout, err = command(t, nil, "check", data)
	require.ErrorContains(t, err, data+" has 3 problems")
	require.Contains(t, stdout, `the value "sealing_key": `)
	require.Contains(t, stdout, `the value "workspaces": `)
	require.Regexp(t, "the PDF or image [0-9a-f]{64}, which a record has, is missing", stdout)
}
