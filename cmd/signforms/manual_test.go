package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Every command has a page, which groff reads without a warning, and every shell its completions.
func TestManualPages(t *testing.T) {
	folder := t.TempDir()
	_, stderr, code := execute(t, "manual", folder)
	require.Equal(t, cli.ExitOK, code, stderr)
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		page := filepath.Join(folder, "man/man1", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(text), roff(cmd.Short))
		for _, child := range cmd.Commands() {
			each(child)
		}
	}
	each(newRoot(hasty))
	for _, name := range []string{"signforms.bash", "_signforms", "signforms.fish", "signforms.ps1"} {
		require.FileExists(t, filepath.Join(folder, "completions", name))
	}
	text, err := os.ReadFile(filepath.Join(folder, "man/man1/signforms-documents-list.1"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\n.TP\n\\-\\-status status\nonly those")
	text, err = os.ReadFile(filepath.Join(folder, "man/man1/signforms.1"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\n.TP\nNO_COLOR\nno escape")
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	pages, err := filepath.Glob(filepath.Join(folder, "man/man1/*.1"))
	require.NoError(t, err)
	out, err := exec.Command("groff", append(strings.Fields("-man -ww -Wbreak -Kutf8 -Tutf8 -P-cbou"), pages...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "warning")
}

// A manual page shows each character of a help as it is, wherever it stands.
func TestManualPagesShowTheText(t *testing.T) {
	text := ".SH dot\n'quote' at 'both'\n\\back\\slash\n--dry-run `a` ~/b ^c \"d\" .e…"
	require.Equal(t, `\&.SH dot`+"\n"+`\(aqquote\(aq at \(aqboth\(aq`+"\n"+`\eback\eslash`+"\n"+`\-\-dry\-run \(gaa\(ga \(tib \(hac "d" .e…`,
		roff(strings.Replace(text, "~/b", "~b", 1)))
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	show := exec.Command("groff", "-man", "-Kutf8", "-Tutf8", "-P-cbou")
	show.Stdin = strings.NewReader(".TH X 1\n.nf\n" + roff(text) + "\n")
	out, err := show.Output()
	require.NoError(t, err)
	for line := range strings.SplitSeq(text, "\n") {
		require.Contains(t, string(out), line+"\n")
	}
}

// Commands that only a sandbox knows say so in errors.
func TestCommandsOnASandboxSaySo(t *testing.T) {
	s := newService(t, nil)
	for _, flag := range []string{"--sandbox", "--base-url=" + s.URL, "--account=x", "--settings=x", "--api-key-file=x"} {
		_, stderr, code := execute(t, "forms", "list", flag)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, stderr, "is not a flag of signforms forms list, which works only on a sandbox: say with --url where it is")
	}
	_, stderr, _ := execute(t, "forms", "list", "--nonsense")
	require.Contains(t, stderr, "unknown flag: --nonsense")
	for _, url := range []string{s.URL, "http://127.0.0.1:1"} { // the service itself, and nothing
		_, stderr, code := execute(t, "forms", "list", "--url", url)
		require.Equal(t, cli.ExitFailure, code)
		require.Contains(t, stderr, "; signforms forms list works only on a sandbox\n")
	}
}
