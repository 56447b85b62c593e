package openapicheck_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

var update = flag.Bool("update", false, "write the examples of openapi.yaml anew")

var reference = regexp.MustCompile(`"#/components/examples/(\w+)"`)

// The examples of the description are the files of testdata: answers by their name, the bodies of requests behind "request_".
func TestExamplesAreTestdata(t *testing.T) {
	text, err := os.ReadFile(description)
	require.NoError(t, err)
	const heading = "\n  examples:\n" // the last section
	described, got, found := strings.Cut(string(text), heading)
	require.True(t, found)
	var names []string
	for _, m := range reference.FindAllStringSubmatch(described, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	answers, sent := files(t, "answers"), requests(t)
	var want strings.Builder
	for _, name := range slices.Compact(names) {
		body, ok := answers[name+".json"]
		if request, isRequest := strings.CutPrefix(name, "request_"); isRequest {
			body, ok = sent[request].Body, len(sent[request].Body) > 0
		}
		require.True(t, ok, "testdata has no body for the example %s", name)
		fmt.Fprintf(&want, "    %s: {value: %s}\n", name, onOneLine(t, body))
	}
	if *update {
		require.NoError(t, os.WriteFile(description, []byte(described+heading+want.String()), 0o644))
		return
	}
	require.True(t, want.String() == got, "the examples differ from testdata: go test -C openapicheck -run TestExamples -update .")
	require.NotEmpty(t, got)
}

// onOneLine prints JSON so that it is YAML too, where U+2028 ends a line.
func onOneLine(t *testing.T, body []byte) string {
	t.Helper()
	var spaced bytes.Buffer
	require.NoError(t, json.Indent(&spaced, body, "", ""))
	return strings.NewReplacer("\n", " ", "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(strings.TrimSpace(spaced.String()))
}

// Each example of a request is one of its operation, and each operation has one that answers it with success.
func TestExamplesAreOfTheirOperation(t *testing.T) {
	all := requests(t)
	for key, op := range load(t, openapicheck.Open).Operations() {
		require.NotEmpty(t, op.Responses.Status(200).Value.Content["application/json"].Examples, key)
		if op.RequestBody == nil {
			continue
		}
		examples := op.RequestBody.Value.Content["application/json"].Examples
		require.NotEmpty(t, examples, key)
		for name := range examples {
			require.Equal(t, key, all[name].Method+" "+all[name].Path, name)
		}
	}
}
