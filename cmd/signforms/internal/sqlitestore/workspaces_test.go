package sqlitestore_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/storagetest"
)

// TestStorageOfAWorkspace runs the checks that every storage must pass, beside another workspace.
func TestStorageOfAWorkspace(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (refserver.Storage, func() refserver.Storage) {
		path := newPath(t)
		s := open(t, path)
		require.NoError(t, s.Workspace("other").Save(t.Context(), []refserver.Record{record("document", "1", "of another")}))
		return s.Workspace("w"), func() refserver.Storage {
			require.NoError(t, s.Close())
			s = open(t, path)
			return s.Workspace("w")
		}
	})
}

// TestWorkspacesOfAFile: each workspace has its own records and files, and removing one leaves the others.
func TestWorkspacesOfAFile(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	ids := []string{"", "a", "b", "ab"}
	storage := func(s *sqlitestore.Store, id string) refserver.Storage {
		if id == "" {
			return s
		}
		return s.Workspace(id)
	}
	for _, id := range ids {
		require.NoError(t, storage(s, id).Save(t.Context(), []refserver.Record{record("document", "1", "of "+id), record("blob", "f1", "file of "+id)}))
		if id != "" {
			require.NoError(t, s.PutWorkspace(t.Context(), id, []byte("about "+id)))
		}
	}
	check := func(s *sqlitestore.Store, ids ...string) {
		t.Helper()
		for _, id := range ids {
			require.Equal(t, map[string]string{"document 1": "of " + id}, contents(t, storage(s, id)))
			file, err := storage(s, id).Blob(t.Context(), "f1")
			require.NoError(t, err)
			require.Equal(t, "file of "+id, string(file))
		}
	}
	check(s, ids...)
	require.NoError(t, s.RemoveWorkspace(t.Context(), "a"))
	check(s, "", "b", "ab")
	require.NoError(t, s.Close())
	s = open(t, path)
	check(s, "", "b", "ab")
	all, err := s.Workspaces(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"b": []byte("about b"), "ab": []byte("about ab")}, all)
	require.Empty(t, contents(t, s.Workspace("a")))
	_, err = s.Workspace("a").Blob(t.Context(), "f1")
	require.Error(t, err)
	require.ErrorContains(t, s.Save(t.Context(), []refserver.Record{record("document", "b/1", "x")}), "holds a slash")
}

// TestLoadBesideOtherWorkspaces: the checksum of all records is that of the moment, while others save.
func TestLoadBesideOtherWorkspaces(t *testing.T) {
	s := open(t, newPath(t))
	stop := make(chan struct{})
	var saving sync.WaitGroup
	for _, kind := range []string{"audit", "zebra"} { // before and after what is loaded last
		require.NoError(t, s.Workspace("w").Save(t.Context(), []refserver.Record{record(kind, "first", "x")}))
		saving.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Workspace("w").Save(t.Context(), []refserver.Record{record(kind, fmt.Sprint(i), "x")}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		require.Empty(t, contents(t, s))
	}
	close(stop)
	saving.Wait()
}
