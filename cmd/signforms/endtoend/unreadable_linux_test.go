package endtoend_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

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
	}
	damages := []damage{
		{name: "none", content: whole},
		{name: "cut", content: whole[:len(whole)/2]},
		{name: "first page alone", content: whole[:page]},
		{name: "text", content: []byte("no database, but long enough to be read as the header of one, which has a hundred bytes, so here are more")},
		{name: "empty"},
		{name: "copy of the first workspace", content: main},
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
				require.NotEqual(t, "none", d.name, err)
				require.ErrorContains(t, err, filepath.Join(folder, name))
				require.NotContains(t, err.Error(), "start empty")
				require.Regexp(t, "move (it|this one) away|choose another file|use .*version", err.Error())
				return
			}
			s.APIKey, s.WorkspaceID, s.BaseURL = made.APIKey, made.WorkspaceID, s.Listening
			var list struct{ Documents []any }
			require.Equal(t, http.StatusOK, s.call(t, "GET", "/get-documents", nil, &list))
			require.Len(t, list.Documents, 1)
		})
	}
}

// TestServe_misplacedFiles moves, copies and empties the files of a sandbox with two workspaces. The sandbox refuses to
// start, or warns of each workspace that it starts without.
func TestServe_misplacedFiles(t *testing.T) {
	whole := t.TempDir()
	s := start(t, "--data", filepath.Join(whole, "sandbox.db"))
	one, err := createWorkspace(t, s, "one")
	require.NoError(t, err)
	two, err := createWorkspace(t, s, "two")
	require.NoError(t, err)
	s.stop(t)
	fileOf := func(id string) string { return "sandbox-" + id + ".db" }
	const unknown = "11111111-1111-4111-8111-111111111111"

	for _, c := range []struct {
		name    string
		data    string // the value of --data; empty: sandbox.db
		change  func(t *testing.T, in string)
		refused string   // part of the error
		without []string // names of the workspaces that a warning names
		warns   string
	}{
		{name: "nothing", change: func(*testing.T, string) {}},
		{name: "link to the data file", data: "link.db", change: func(t *testing.T, in string) {
			require.NoError(t, os.Symlink("sandbox.db", filepath.Join(in, "link.db")))
		}},
		{name: "link to no file", data: "link.db", refused: "no such file", change: func(t *testing.T, in string) {
			require.NoError(t, os.Symlink("none.db", filepath.Join(in, "link.db")))
		}},
		{name: "data file renamed", data: "other.db", without: []string{"one", "two"}, change: func(t *testing.T, in string) { move(t, in, "sandbox.db", "other.db") }},
		{name: "data file empty", refused: "the files of 2 workspaces", change: func(t *testing.T, in string) { empty(t, in, "sandbox.db") }},
		{name: "data file missing", refused: "the files of 2 workspaces", change: func(t *testing.T, in string) { move(t, in, "sandbox.db", "away") }},
		{name: "data file a copy of a workspace's", refused: "it is a copy of", change: func(t *testing.T, in string) { duplicate(t, in, fileOf(one.ID), "sandbox.db") }},
		{name: "workspace's file as data file", data: fileOf(one.ID), change: func(*testing.T, string) {}},
		{name: "missing", without: []string{"one"}, change: func(t *testing.T, in string) { move(t, in, fileOf(one.ID), "away") }},
		{name: "empty", refused: "it is empty; put the workspace's own file back", change: func(t *testing.T, in string) { empty(t, in, fileOf(one.ID)) }},
		{name: "link to a missing file", refused: "link to a file that is missing; put", change: func(t *testing.T, in string) {
			move(t, in, fileOf(one.ID), "away")
			require.NoError(t, os.Symlink("none.db", filepath.Join(in, fileOf(one.ID))))
		}},
		{name: "swapped", refused: "it holds the workspace ", change: func(t *testing.T, in string) {
			move(t, in, fileOf(one.ID), "away")
			move(t, in, fileOf(two.ID), fileOf(one.ID))
			move(t, in, "away", fileOf(two.ID))
		}},
		{name: "copy under an unknown id", warns: "it holds the workspace " + one.ID, change: func(t *testing.T, in string) { duplicate(t, in, fileOf(one.ID), fileOf(unknown)) }},
		{name: "empty under an unknown id", warns: "it is empty; move it away", change: func(t *testing.T, in string) { empty(t, in, fileOf(unknown)) }},
		{name: "ended while it was made", warns: "deleting the file of a workspace that was being made or removed", change: func(t *testing.T, in string) {
			edit(t, filepath.Join(in, fileOf(one.ID)), `update meta set value = replace(value, '"whole":true', '"whole":false') where name = 'workspace'`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := t.TempDir()
			require.NoError(t, os.CopyFS(in, os.DirFS(whole)))
			c.change(t, in)
			data := filepath.Join(in, cmp.Or(c.data, "sandbox.db"))
			for range 2 { // the second start says the same
				s, err := launch(t, exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--json", "--data", data))
				if c.refused != "" {
					require.ErrorContains(t, err, c.refused)
					continue
				}
				require.NoError(t, err)
				log := s.stop(t)
				require.Contains(t, log, c.warns)
				require.Equal(t, len(c.without), strings.Count(log, "the file of a workspace is missing"), log)
				for _, name := range c.without {
					require.Contains(t, log, "name="+name)
				}
				c.warns = strings.TrimPrefix(c.warns, "deleting the file of a workspace that was being made or removed") // once
			}
		})
	}
}

// TestServe_nameOfAMissingWorkspace gives the name of a workspace whose file was moved away to another, and puts the file
// back: a name leads to one workspace.
func TestServe_nameOfAMissingWorkspace(t *testing.T) {
	in := t.TempDir()
	data := filepath.Join(in, "sandbox.db")
	s := start(t, "--data", data)
	first, err := createWorkspace(t, s, "tests")
	require.NoError(t, err)
	s.stop(t)
	name := "sandbox-" + first.ID + ".db"
	move(t, in, name, "away")
	s = start(t, "--data", data)
	second, err := createWorkspace(t, s, "tests")
	require.NoError(t, err)
	s.stop(t)
	move(t, in, "away", name)
	_, err = launch(t, exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--json", "--data", data))
	require.ErrorContains(t, err, `is named "tests", as is that of `)
	require.ErrorContains(t, err, "move one of the two files away")

	move(t, in, "sandbox-"+second.ID+".db", "away")
	s = start(t, "--data", data)
	require.NoError(t, s.client.Delete(t.Context(), "/workspaces/"+second.ID), "forgets it")
	require.Error(t, s.client.Delete(t.Context(), "/workspaces/"+second.ID))
	require.Contains(t, s.stop(t), "the file of a workspace is missing")
	s = start(t, "--data", data)
	require.NotContains(t, s.stop(t), "WARN")
}

func move(t *testing.T, in, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(filepath.Join(in, from), filepath.Join(in, to)))
}

func duplicate(t *testing.T, in, from, to string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(in, from))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(in, to), content, 0o600))
}

func empty(t *testing.T, in, name string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(in, name), nil, 0o600))
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
