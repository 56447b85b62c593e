package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Go lines of using.md are in functions that are compiled.
func TestLinesOfUsingAreCompiled(t *testing.T) {
	source, err := os.ReadFile("example_using_test.go")
	require.NoError(t, err)
	compiled := strings.ReplaceAll(string(source), "\n\t", "\n")
	page, err := os.ReadFile("docs/using.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		require.Contains(t, compiled, "\n"+block[1])
	}
}
