package openapicheck_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

func TestREADMENamesEveryFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdata, "README.md"))
	require.NoError(t, err)
	words := strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" ,|\n:", r) })
	for _, folder := range []string{"requests", "answers", "events"} {
		for name := range files(t, folder) {
			stem := strings.TrimSuffix(name, ".json")
			if folder == "events" { // one line of the table for all of these
				stem = strings.TrimSuffix(strings.TrimSuffix(stem, "_object"), "_untyped")
			}
			require.True(t, slices.Contains(words, stem), "%s/%s has no line in testdata/README.md", folder, name)
		}
	}
}

func TestWireFormatNamesEveryField(t *testing.T) {
	text, err := os.ReadFile("../docs/wire-format.md")
	require.NoError(t, err)
	words := strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for key, op := range load(t, openapicheck.Open).Operations() {
		described := append(inputs(op), paths(op.Responses.Status(http.StatusOK).Value.Content["application/json"].Schema.Value, "")...)
		for _, path := range described {
			name := path[strings.LastIndexAny(path, ".?")+1:]
			require.True(t, slices.Contains(words, strings.TrimSuffix(name, "[]")), "docs/wire-format.md does not name %s of %s", path, key)
		}
	}
}

func TestEventsAreWhatJavaScriptPrints(t *testing.T) {
	for name, body := range files(t, "events") {
		require.Equal(t, strings.TrimSpace(string(body)), string(body), name)
		require.NotRegexp(t, `\\u(003[ce]|0026|202[89])`, string(body), name)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH: install Node 20 to compare the events with JSON.stringify")
	}
	const script = `
		const fs = require("fs");
		for (const file of process.argv.slice(1)) {
			const text = fs.readFileSync(file, "utf8");
			if (JSON.stringify(JSON.parse(text)) !== text) { console.log(file); process.exitCode = 1; }
		}`
	all, err := filepath.Glob(filepath.Join(testdata, "events", "*.json"))
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), node, append([]string{"-e", script}, all...)...).CombinedOutput()
	require.NoError(t, err, "not what JSON.stringify prints:\n%s", out)
}

func TestSignatures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdata, "signatures.json"))
	require.NoError(t, err)
	var vectors []struct{ Name, Secret, Timestamp, Body, Signature string }
	require.NoError(t, json.Unmarshal(text, &vectors))

	events := files(t, "events")
	for _, v := range vectors {
		mac := hmac.New(sha256.New, []byte(v.Secret))
		mac.Write([]byte(v.Timestamp + "." + v.Body))
		require.Equal(t, v.Signature, hex.EncodeToString(mac.Sum(nil)), v.Name)
		if body, isEvent := events[v.Name]; isEvent {
			require.Equal(t, string(body), v.Body, v.Name)
			delete(events, v.Name)
		}
	}
	require.Empty(t, slices.Collect(maps.Keys(events)), "events without a signature")
}
