package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEmptyListAsCSVHasItsHeader(t *testing.T) {
	s := newService(t, nil)
	stdout, stderr, code := s.run(t, "documents list --status DECLINED --csv")
	require.Equal(t, exitOK, code, stderr)
	require.True(t, strings.HasPrefix(stdout, "documentId,documentName,"), stdout)
	require.Equal(t, 1, strings.Count(stdout, "\n"))
	stdout, _, _ = s.run(t, "documents list --status DECLINED")
	require.Empty(t, stdout)
}

func TestCSVCells(t *testing.T) {
	for in, want := range map[string]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a",
		"a=1": "a=1", "": "", "\x1b[31mred": " [31mred", "two\nlines": "two\nlines",
	} {
		require.Equal(t, want, noFormula(in), "%q", in)
	}
}

// The variable is meant for serve: a script keeps the id that a command prints.
func TestVariableOfServesJSONLeavesCommandsAlone(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_SANDBOX_JSON", "true")
	stdout, stderr, code := execute(t, "documents", "add", "Lease", "--signer", "ann@example.com", "--signer", "ben@example.com")
	require.Equal(t, exitOK, code, stderr)
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
