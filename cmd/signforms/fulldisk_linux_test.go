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

// fillDisk has the next write to an open file fail as on a full disk.
func fillDisk(t *testing.T, path string) {
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
	t.Error("the journal is not open")
}

// The line whose outcome could not be written may have been sent, and no line is sent after it.
func TestFullDiskInTheJournal(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 3 {
			fillDisk(t, m.path+".journal")
		}
	}}
	g.stand(t, m.testService)
	stdout, stderr, code := m.send(t)
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Contains(t, stderr, "no space left on device; 3 not tried; the same command again goes on with the rest\n")
	require.Contains(t, stdout, "line 4\tsent\tp2@example.com")
	require.Len(t, m.mails(), 3)
	_, stderr, code = m.send(t)
	require.Equal(t, cli.ExitUnknown, code, stderr)
	require.Contains(t, stderr, "sent: 3, and 2 before\nunknown: 1: line 4 (p2@example.com)\n")
	m.once(t)
	_, stderr, code = m.send(t, "--resolve", "4=done")
	require.Equal(t, cli.ExitOK, code, stderr)
	m.once(t)
}
