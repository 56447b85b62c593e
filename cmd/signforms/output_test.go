package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

func TestAnEmptyListAsCSVHasItsHeader(t *testing.T) {
	s := newService(t, nil)
	stdout, stderr, code := s.run(t, "documents list --status DECLINED --csv")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.True(t, strings.HasPrefix(stdout, "documentId,documentName,"), stdout)
	require.Equal(t, 1, strings.Count(stdout, "\n"))
	stdout, _, _ = s.run(t, "documents list --status DECLINED")
	require.Empty(t, stdout)
}

func TestPasswordsInAddressesAreNotShown(t *testing.T) {
	for _, args := range [][]string{{"status", "--url"}, {"ready", "--url"}, {"listen", "--url"}} {
		_, stderr, code := execute(t, append(args, "http://ann:hunter2@127.0.0.1:1")...)
		require.Equal(t, cli.ExitFailure, code)
		require.Contains(t, stderr, "127.0.0.1:1")
		require.NotContains(t, stderr, "hunter2", "%v", args)
	}
}

// The variable is only for serve. A script that sets it still gets the plain id that a command prints.
func TestJSONVariableAffectsServeOnly(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_SANDBOX_JSON", "true")
	stdout, stderr, code := execute(t, "documents", "add", "Lease", "--signer", "ann@example.com", "--signer", "ben@example.com")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Regexp(t, `^[0-9a-f-]{36}\n$`, stdout)
	id := strings.TrimSpace(stdout)
	stdout, _, _ = execute(t, "trigger", "new_signature_pdf_completed")
	require.Contains(t, stdout, "ann@example.com signed "+id+", which is PENDING\nben@example.com signed "+id+", which is SIGNED\n")
	execute(t, "documents", "add", "Lease", "--signer", "ann@example.com")
	stdout, _, _ = execute(t, "trigger", "new_signature_pdf_individual_viewed", "--json")
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Equal(t, []any{}, out["deliveries"])
}

// Lists of a sandbox are whole, however many pages that takes.
func TestListsOfASandboxAreWhole(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	text := "forms:\n" + strings.Repeat("  - {title: Survey, fields: [{question: Why}]}\n", 1001) + "webhooks:\n" + strings.Repeat("  - {event: new_form_response, url: 'http://127.0.0.1:1'}\n", 1001)
	require.NoError(t, os.WriteFile(seed, []byte(text), 0o600))
	_, stderr, code := execute(t, "seed", seed)
	require.Equal(t, cli.ExitOK, code, stderr)
	for _, list := range []string{"forms", "webhooks"} {
		stdout, stderr, code := execute(t, list, "list", "--json")
		require.Equal(t, cli.ExitOK, code, stderr)
		records := map[string]bool{}
		for record := range strings.Lines(stdout) {
			records[record] = true
		}
		require.Len(t, records, 1001, list)
	}
}

// A list that breaks off ends with the code of a part, after the records that came. One that fails at once fails.
func TestListsThatEndWithAnErrorArePartial(t *testing.T) {
	s := newService(t, nil)
	for range 150 {
		s.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	}
	for _, format := range []string{"", "--json", "--csv"} {
		remove := s.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Nth: 2, Times: 9, Status: http.StatusBadRequest})
		stdout, stderr, code := s.run(t, "documents list --max-attempts 1 "+format)
		require.Equal(t, cli.ExitPartial, code, stderr)
		require.Regexp(t, `^signforms: .*; this list ends early, after 100 records\n$`, stderr)
		require.GreaterOrEqual(t, strings.Count(stdout, "\n"), 100)
		remove()
		remove = s.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Status: http.StatusBadRequest})
		stdout, stderr, code = s.run(t, "documents list --max-attempts 1 "+format)
		require.Equal(t, cli.ExitFailure, code, stderr)
		require.Empty(t, stdout)
		remove()
	}

	// A table that waits for more records is printed all the same.
	ofTemplates := func(r *http.Request) bool { return r.URL.Query().Get("documentType") == "PDF_TEMPLATE" }
	altered(t, s, ofTemplates, func(body string) string { return strings.ReplaceAll(body, `"totalDocuments":1`, `"totalDocuments":3`) })
	shown, code := screen(t, 100, "", "templates", "list")
	require.Equal(t, cli.ExitPartial, code, shown)
	require.Contains(t, shown, "Buyer, Seller")
}

// Output that cannot be written is a failure of every command, also of those that have done their work.
func TestOutputThatCannotBeWritten(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	for _, args := range [][]string{
		{"version"}, {"--version"}, {"--help"}, {"help", "serve"}, {"documents"}, {"completion", "bash"}, {"status"}, {"status", "--json"}, {"status", "--env"}, {"clock"}, {"clock", "advance", "1s"},
		{"documents", "add", "Lease", "--signer", "ann@example.com"}, {"documents", "list", "--sandbox"}, {"documents", "list", "--sandbox", "--csv"}, {"webhooks", "add", "http://127.0.0.1:1", "--event", "new_form_response"}, {"webhooks", "list"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("this system has no /dev/full")
		}
		defer full.Close()
		var stderr strings.Builder
		require.Equal(t, cli.ExitFailure, run(t.Context(), hasty, args, strings.NewReader(""), full, &stderr), "%v: %s", args, stderr.String())
		require.Equal(t, 1, strings.Count(stderr.String(), "standard output: no space left on device"), "%v: %s", args, stderr.String())
		require.NotContains(t, stderr.String(), "--help", "%v", args)
	}
}
