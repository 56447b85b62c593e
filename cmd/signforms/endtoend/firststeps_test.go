package endtoend_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first steps of sandbox.md work as they are written, at any address.
func TestFirstSteps(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sandbox.md")
	require.NoError(t, err)
	steps, _, found := strings.Cut(string(page), "\n## Pages")
	require.True(t, found)
	var blocks []string
	port := freePort(t)
	for _, m := range regexp.MustCompile("(?s)\n   ```sh\n(.*?)   ```\n").FindAllStringSubmatch(steps, -1) {
		blocks = append(blocks, strings.ReplaceAll(m[1], "3000", port))
	}
	require.Len(t, blocks, 6, "build, serve, list, receive, webhooks, documents")

	folder := t.TempDir()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(root, "cmd"), filepath.Join(folder, "cmd")))
	require.NoError(t, os.Symlink(binary, filepath.Join(folder, "signforms"))) // what the first block builds
	shell := func(script string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "sh", "-ec", script)
		c.Dir = folder
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "SIGNFORMS_SANDBOX_ADDR=127.0.0.1:0"}
		return c
	}
	background(t, shell("exec "+strings.TrimSpace(blocks[1])), "Stop it with Ctrl+C")
	listed, err := shell(blocks[2]).CombinedOutput()
	require.NoError(t, err, "%s", listed)
	require.Contains(t, string(listed), `"documents"`)
	until := background(t, shell(strings.Replace(blocks[3], "./signforms receive", "exec ./signforms receive", 1)), "receiving at")
	variables, _, _ := strings.Cut(blocks[3], "\n")
	out, err := shell(variables + "\n" + blocks[4] + "./signforms status").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "0 pending, 0 given up", "the receiver has it")
	until("new_signature_pdf_completed")
	out, err = shell(variables + "\n" + blocks[5]).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ahead of the wall clock")
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// background starts a program, waits until it has printed a text, and returns a function that waits for another one.
func background(t *testing.T, c *exec.Cmd, ready string) (until func(text string)) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	c.Stdout, c.Stderr = w, w
	require.NoError(t, c.Start())
	w.Close()
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		r.Close()
	})
	lines := bufio.NewScanner(r)
	until = func(text string) {
		for found := false; !found; found = strings.Contains(lines.Text(), text) {
			require.True(t, lines.Scan(), "it has ended without %q", text)
		}
	}
	until(ready)
	return until
}
