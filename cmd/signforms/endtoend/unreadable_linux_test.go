package endtoend_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// createWorkspace makes a workspace with one document and returns its credentials.
func createWorkspace(t *testing.T, s *sandbox, name string) (created wire.CreatedWorkspace, err error) {
	t.Helper()
	err = s.client.Post(t.Context(), "/workspaces", wire.NewWorkspace{Name: name, Seed: &wire.Seed{Documents: []wire.Document{lease("Lease")}}}, &created)
	return created, err
}

// TestServe_damagedWorkspaceFile damages each page of a workspace's file in several ways. The sandbox then refuses to
// start and names the file, or the workspace is there.
func TestServe_damagedWorkspaceFile(t *testing.T) {
	folder := t.TempDir()
	s := start(t, "--data", filepath.Join(folder, "sandbox.db"))
	made, err := createWorkspace(t, s, "tests")
	require.NoError(t, err)
	s.stop(t)
	name := "sandbox-" + made.ID + ".db"
	whole, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	main, err := os.ReadFile(filepath.Join(folder, "sandbox.db"))
	require.NoError(t, err)
	const page = 4096
	type damage struct {
		name    string
		content []byte
		starts  bool // it may start without the workspace, with a warning
	}
	damages := []damage{
		{name: "none", content: whole},
		{name: "cut", content: whole[:len(whole)/2]},
		{name: "first page alone", content: whole[:page]},
		{name: "text", content: []byte("no database, but long enough to be read as the header of one, which has a hundred bytes, so here are more")},
		{name: "empty", starts: true},
		{name: "copy of the first workspace", content: main, starts: true},
	}
	for at := 0; at < len(whole); at += page {
		for fill, bytesOf := range map[string][]byte{"zeros": {0}, "ones": {0xff}, "text": []byte("damaged "), "another page": whole[page : 2*page]} {
			content := bytes.Clone(whole)
			copy(content[at:at+page], bytes.Repeat(bytesOf, page/len(bytesOf)))
			damages = append(damages, damage{name: fmt.Sprintf("page %d: %s", at/page+1, fill), content: content})
		}
	}
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "sandbox.db"), main, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), d.content, 0o600))
			s, err := launch(t, exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--json", "--data", filepath.Join(folder, "sandbox.db")))
			if err != nil {
				require.False(t, d.name == "none" || d.starts, err)
				require.ErrorContains(t, err, filepath.Join(folder, name))
				require.Regexp(t, "move it away|choose another file|use .*version", err.Error())
				return
			}
			if d.starts {
				require.Contains(t, s.stop(t), "level=WARN msg=\"a file beside the data file is of no workspace")
				return
			}
			s.APIKey, s.WorkspaceID, s.BaseURL = made.APIKey, made.WorkspaceID, s.Listening
			var list struct{ Documents []any }
			require.Equal(t, http.StatusOK, s.call(t, "GET", "/get-documents", nil, &list))
			require.Len(t, list.Documents, 1)
		})
	}
}

// TestServe_limitOfOpenFiles makes workspaces until the limit of open files refuses one, and starts with fewer.
func TestServe_limitOfOpenFiles(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	limited := func(limit int) (*sandbox, error) {
		return launch(t, exec.Command("sh", "-c", `ulimit -n "$1"; exec "$0" serve --addr 127.0.0.1:0 --json --data "$2"`, binary, fmt.Sprint(limit), data))
	}
	s, err := limited(64)
	require.NoError(t, err)
	made := 0
	for ; err == nil && made < 20; made++ {
		_, err = createWorkspace(t, s, fmt.Sprint("w", made))
	}
	var refused *wire.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Contains(t, refused.Message, "raise the limit of open files")
	require.NotContains(t, refused.Message, "writable")
	require.Greater(t, made, 5)
	require.NotContains(t, s.stop(t), "ERROR")
	for limit := 8; limit < 64; limit++ {
		s, err = limited(limit)
		if err == nil {
			s.stop(t)
			continue
		}
		require.ErrorContains(t, err, "raise the limit of open files", limit)
		require.NotContains(t, err.Error(), "move it away")
	}
	s, err = limited(1024)
	require.NoError(t, err)
	require.NotContains(t, s.stop(t), "WARN")
}
