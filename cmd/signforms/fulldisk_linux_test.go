package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// loseFile takes an open file from this process, which writes to a full disk in its place.
func loseFile(t *testing.T, path string) {
	links, err := filepath.Glob("/proc/self/fd/*")
	assert.NoError(t, err)
	for _, link := range links {
		if target, _ := os.Readlink(link); target != path {
			continue
		}
		open, err := strconv.Atoi(filepath.Base(link))
		assert.NoError(t, err)
		full, err := syscall.Open("/dev/full", syscall.O_WRONLY, 0)
		assert.NoError(t, err)
		assert.NoError(t, syscall.Dup3(full, open, 0))
		assert.NoError(t, syscall.Close(full))
		return
	}
	t.Error("the results file is not open")
}

// The line whose outcome could not be written may have been sent, and no line is sent after it.
func TestResultsThatCannotBeWritten(t *testing.T) {
	m := newMailing(t, sixPeople)
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 3 {
			loseFile(t, m.results())
		}
	}}
	g.stand(t, m.testService)
	stdout, stderr := m.sends(t, m.path, cli.ExitUnknown)
	require.Contains(t, stderr, "2 sent; 0 failed; 1 unknown; 3 not tried; nothing more is sent: "+m.results())
	require.Regexp(t, `(?m)^4\tsent\t`, stdout)
	require.Len(t, m.mails(), 3)
	m.sends(t, m.path, cli.ExitUnknown)
	m.requireEach(t, 6)
}

// A results file that could not be begun does not stay.
func TestResultsThatCannotBeBegun(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	m := newMailing(t, sixPeople)
	folder := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=4k")) // one page: the people's
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	m.path = filepath.Join(folder, "people.csv")
	m.write(t, m.path, sixPeople)
	_, stderr := m.sends(t, m.path, cli.ExitUsage)
	require.Contains(t, stderr, "nothing was sent: "+m.results()+": no space left on device")
	require.NoFileExists(t, m.results())
	require.Empty(t, m.asked())
}
