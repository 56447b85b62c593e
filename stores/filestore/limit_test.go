package filestore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/limitstoretest"
	"github.com/signforms/signforms-go/stores/filestore"
)

// machine is a clock that a test moves.
type machine struct {
	mu      sync.Mutex
	session string
	since   time.Duration
}

func (m *machine) clock() (string, time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session, m.since, nil
}

func (m *machine) set(session string, since time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session, m.since = session, since
}

func (m *machine) pass(d time.Duration) { m.set(m.session, m.since+d) }

func TestLimitStore_contract(t *testing.T) {
	limitstoretest.Run(t, func(t *testing.T) (signforms.LimitStore, func(time.Duration)) {
		m := &machine{session: "one", since: time.Hour}
		return filestore.NewAt(filepath.Join(t.TempDir(), "state", "limits"), m.clock), m.pass
	})
}

func TestLimitStore_nextProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits")
	m := &machine{session: "one", since: time.Hour}
	slot, _, err := filestore.NewAt(path, m.clock).Take(t.Context(), "k", 1, time.Minute)
	require.NoError(t, err)
	require.NotEmpty(t, slot)
	m.pass(20 * time.Second)
	slot, wait, err := filestore.NewAt(path, m.clock).Take(t.Context(), "k", 1, time.Minute)
	require.NoError(t, err)
	require.Empty(t, slot)
	require.Equal(t, 40*time.Second, wait)
}

// After a reboot it is unknown how long the machine was off. Slots are held for the time that remained when the file was last written.
func TestLimitStore_restartOfTheMachine(t *testing.T) {
	for _, next := range []struct {
		name    string
		session string
		since   time.Duration
	}{
		{name: "the clock begins anew", session: "two", since: 5 * time.Second},
		{name: "and is further on than before", session: "two", since: 30 * time.Hour},
		{name: "a wall clock is set back", session: "one", since: 10 * time.Minute},
	} {
		t.Run(next.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "limits")
			m := &machine{session: "one", since: time.Hour}
			store := filestore.NewAt(path, m.clock)
			_, _, err := store.Take(t.Context(), "k", 2, time.Minute)
			require.NoError(t, err)
			m.pass(10 * time.Second)
			require.NoError(t, store.Block(t.Context(), "k", 30*time.Second)) // the last time that is written
			m.pass(5 * time.Second)
			m.set(next.session, next.since)
			waits, err := filestore.NewAt(path, m.clock).Peek(t.Context(), "k", 2)
			require.NoError(t, err)
			require.Equal(t, []time.Duration{30 * time.Second, 50 * time.Second}, waits)
			m.pass(20 * time.Second)
			waits, err = filestore.NewAt(path, m.clock).Peek(t.Context(), "k", 2)
			require.NoError(t, err)
			require.Equal(t, []time.Duration{10 * time.Second, 30 * time.Second}, waits, "a look alone begins the new count")
			m.pass(30 * time.Second)
			slot, _, err := filestore.NewAt(path, m.clock).Take(t.Context(), "k", 2, time.Minute)
			require.NoError(t, err)
			require.NotEmpty(t, slot)
		})
	}
}

func TestLimitStore_damagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits")
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1,"keys":{`), 0o600))
	slot, _, err := filestore.NewLimitStore(path).Take(t.Context(), "k", 5, time.Minute)
	require.ErrorContains(t, err, "is damaged")
	require.Empty(t, slot)
}

// A file with a misspelt field name is not read as an empty one.
func TestLimitStore_fileWithAWrongFieldName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits")
	store := filestore.NewLimitStore(path)
	_, _, err := store.Take(t.Context(), "k", 1, time.Minute)
	require.NoError(t, err)
	require.NoError(t, store.Block(t.Context(), "k", time.Minute))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, name := range []string{"version", "session", "saved", "keys", "slots", "id", "until", "for", "closed"} {
		t.Run(name, func(t *testing.T) {
			for _, wrong := range []string{"x" + name[1:], strings.ToUpper(name)} {
				t.Run(wrong, func(t *testing.T) {
					text := strings.Replace(string(whole), `"`+name+`":`, `"`+wrong+`":`, 1)
					require.NotEqual(t, string(whole), text)
					require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
					slot, _, err := store.Take(t.Context(), "k", 5, time.Minute)
					require.ErrorContains(t, err, "is damaged")
					require.Empty(t, slot)
				})
			}
		})
	}
	for _, text := range []string{`{"version":1}`, `{"version":1,"session":"","saved":0,"keys":null}` + "\n"} {
		t.Run(text, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, _, err := store.Take(t.Context(), "k", 5, time.Minute)
			require.ErrorContains(t, err, "is damaged")
		})
	}
}

func TestLimitStore_pathIsNoFile(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	_, _, err := filestore.NewLimitStore("").Take(t.Context(), "k", 5, time.Minute)
	require.ErrorContains(t, err, "the path is empty")
	for _, path := range []string{os.DevNull, folder} {
		t.Run(path, func(t *testing.T) {
			_, _, err = filestore.NewLimitStore(path).Take(t.Context(), "k", 5, time.Minute)
			require.ErrorContains(t, err, "is not a regular file")
			require.NotContains(t, err.Error(), "remove")
			require.NoFileExists(t, path+".lock")
		})
	}
	require.NoFileExists(t, ".lock")
}

func TestLimitStore_filePermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "limits")
	_, _, err := filestore.NewLimitStore(path).Take(t.Context(), "k", 5, time.Minute)
	require.NoError(t, err)
	for _, name := range []string{path, path + ".lock"} {
		t.Run(name, func(t *testing.T) {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
		})
	}
}

// TestMain makes the test program a process that takes slots, for the test below.
func TestMain(m *testing.M) {
	path := os.Getenv("FILESTORE_TEST_TAKE")
	if path == "" {
		os.Exit(m.Run())
	}
	store := filestore.NewLimitStore(path)
	for {
		slot, _, err := store.Take(context.Background(), "k", 50, time.Hour)
		if err != nil || slot == "" {
			fmt.Println("end", err)
			os.Exit(0)
		}
		fmt.Println(slot)
	}
}

func TestLimitStore_killedProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits")
	var mu sync.Mutex
	taken := map[string]bool{}
	var all sync.WaitGroup
	for i := range 4 {
		take := exec.Command(os.Args[0])
		take.Env = append(os.Environ(), "FILESTORE_TEST_TAKE="+path)
		out, err := take.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, take.Start())
		all.Go(func() {
			lines := bufio.NewScanner(out)
			for n := 0; lines.Scan(); n++ {
				if text := lines.Text(); !strings.HasPrefix(text, "end") {
					mu.Lock()
					taken[text] = true
					mu.Unlock()
				}
				if i < 2 && n == 3 {
					take.Process.Kill()
				}
			}
			take.Wait()
		})
	}
	all.Wait()
	waits, err := filestore.NewLimitStore(path).Peek(t.Context(), "k", 50)
	require.NoError(t, err)
	require.Positive(t, waits[0], "the survivors go on until nothing is free")
	require.LessOrEqual(t, len(taken), 50)
	require.Greater(t, len(taken), 40, "a killed process loses at most what it took and did not tell")
}
