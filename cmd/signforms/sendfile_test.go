package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// TestResults_headerIsNeverHalf looks at the results file while runs make it. At no time is it there without its header,
// so that a kill at any time leaves a file with which the same command goes on.
func TestResults_headerIsNeverHalf(t *testing.T) {
	m := newMailing(t, "Buyer.name,Buyer.email\nAnn,no address\n")
	var ended atomic.Bool
	var looking sync.WaitGroup
	for _, path := range []string{m.results(), filepath.Join(t.TempDir(), "reminded.csv")} {
		looking.Go(func() {
			for !ended.Load() {
				if info, err := os.Stat(path); err == nil && info.Size() == 0 {
					t.Errorf("%s is empty", path)
					return
				}
			}
		})
		for range 30 {
			if path == m.results() {
				m.sends(t, m.path, cli.ExitUsage)
				continue
			}
			_, stderr, code := execute(t, "documents", "remind", "--all-pending", "--results", path) // without --yes
			require.Equal(t, cli.ExitUsage, code, stderr)
		}
	}
	ended.Store(true)
	looking.Wait()
	left, err := fs.Glob(os.DirFS(filepath.Dir(m.path)), ".*")
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestSend_refusedFiles sends files that are refused before any send. A file that began keeps its results.
func TestSend_refusedFiles(t *testing.T) {
	wide := func(order string, text string) string {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			two := string([]byte{byte(unit >> 8), byte(unit)})
			if order == "LE" {
				two = two[1:] + two[:1]
			}
			b.WriteString(two)
		}
		return b.String()
	}
	const whole = "Buyer.name,Buyer.email\n\"Ann\",ann@example.com\n"
	for _, c := range []struct{ name, text, says string }{
		{name: "UTF-16, little-endian", text: wide("LE", whole), says: "save it as UTF-8"},
		{name: "UTF-16, big-endian", text: wide("BE", whole), says: "save it as UTF-8"},
		{name: "NUL in a name", text: strings.Replace(whole, "nn", "n\x00n", 1), says: "NUL character"},
		{name: "role of no template", text: strings.ReplaceAll(whole, "Buyer", "Byuer"), says: `line 2: the template has no role "Byuer"; it has "Buyer"`},
		{name: "role in another case", text: strings.ReplaceAll(whole, "Buyer", "buyer"), says: `no role "buyer"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMailing(t, c.text)
			_, stderr := m.sends(t, m.path, cli.ExitUsage)
			require.Contains(t, stderr, c.says)
			require.Empty(t, m.mails())
			require.NoFileExists(t, m.results())
		})
	}
	t.Run("begun, then damaged", func(t *testing.T) {
		m := newMailing(t, whole)
		m.sends(t, m.path, cli.ExitOK)
		m.write(t, m.path, strings.Replace(whole, `n"`, "n", 1))
		_, stderr := m.sends(t, m.path, cli.ExitUsage)
		require.Contains(t, stderr, "undo the edit")
	})
	t.Run("no regular file", func(t *testing.T) {
		m := newMailing(t, whole)
		for _, path := range []string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/null", filepath.Dir(m.path)} {
			_, stderr := m.sends(t, path, cli.ExitUsage)
			require.Contains(t, stderr, "not a regular file", path)
			require.NoFileExists(t, path+".results.csv")
		}
		_, stderr, code := execute(t, "documents", "remind", "--all-pending", "--results", "/dev/null")
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, stderr, "not a regular file")
		require.Empty(t, m.mails())
	})
}

// TestFilesOfWindows reads and prints files as Windows programs write and need them.
func TestFilesOfWindows(t *testing.T) {
	for _, text := range []string{
		"sep=;\r\nBuyer.name;Buyer.email\r\nP0;p0@example.com\r\n",
		"\ufeffSEP=,\nBuyer.name,Buyer.email\nP0,p0@example.com\n",
		"sep=\t\nBuyer.name\tBuyer.email\nP0\tp0@example.com\n",
	} {
		m := newMailing(t, text)
		m.sends(t, m.path, cli.ExitOK)
		m.requireEach(t, 1)
	}
	m := newMailing(t, "")
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("\ufeff"+m.APIKey+"\r\n"), 0o600))
	os.Unsetenv("SIGNFORMS_API_KEY")
	stdout, stderr, code := execute(t, "documents", "list", "--bom", "--api-key-file", key)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.True(t, strings.HasPrefix(stdout, "\ufeffdocumentId,"), stdout)
}
