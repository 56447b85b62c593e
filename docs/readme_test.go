package docs_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Go program of these pages is a function of example_readme_test.go or of outbox/example_test.go, word by word, with the
// imports it needs.
func TestREADMEProgramsAreCompiled(t *testing.T) {
	source, err := os.ReadFile("example_readme_test.go")
	require.NoError(t, err)
	outbox, err := os.ReadFile("outbox/example_test.go")
	require.NoError(t, err)
	for _, row := range []struct {
		page string
		want []string
	}{
		{page: "README.md", want: []string{
			program(t, source, "Example_send"), lines(t, outbox, "readmeSendOnce"), lines(t, source, "readmeReceive"),
			program(t, source, "TestOfferIsSigned"),
		}},
		{page: "docs/receiving.md", want: []string{program(t, source, "Example_receive")}},
	} {
		t.Run(row.page, func(t *testing.T) {
			text, err := os.ReadFile(row.page)
			require.NoError(t, err)
			var got []string
			for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1) {
				got = append(got, string(m[1]))
			}
			require.Len(t, got, len(row.want), "Go programs in %s", row.page)
			for i := range row.want {
				require.Equal(t, row.want[i], got[i], "program %d of %s: copy the wanted text into it", i+1, row.page)
				require.Less(t, strings.Count(row.want[i], "\n"), 50, "lines of program %d", i+1)
			}
		})
	}
}

// program makes a whole program, or a whole test file, of one function of a file.
func program(t *testing.T, source []byte, name string) string {
	t.Helper()
	files := token.NewFileSet()
	file, f := function(t, files, source, name)
	at := func(p token.Pos) int { return files.Position(p).Offset }
	head, signature := "package main", "func main()"
	if strings.HasPrefix(name, "Test") {
		head, signature = "package shop_test", string(source[at(f.Pos()):at(f.Body.Pos())-1])
	}
	return fmt.Sprintf("%s\n\nimport (\n%s)\n\n%s %s\n", head, imports(file, f), signature, source[at(f.Body.Pos()):at(f.Body.End())])
}

// lines returns the lines within one function of a file.
func lines(t *testing.T, source []byte, name string) string {
	t.Helper()
	files := token.NewFileSet()
	_, f := function(t, files, source, name)
	body := source[files.Position(f.Body.Lbrace).Offset+2 : files.Position(f.Body.Rbrace).Offset]
	return strings.ReplaceAll("\n"+string(body), "\n\t", "\n")[1:]
}

func function(t *testing.T, files *token.FileSet, source []byte, name string) (*ast.File, *ast.FuncDecl) {
	t.Helper()
	file, err := parser.ParseFile(files, "example_readme_test.go", source, parser.SkipObjectResolution|parser.ParseComments)
	require.NoError(t, err)
	i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.Name == name
	})
	require.GreaterOrEqual(t, i, 0, "example_readme_test.go has no function %s", name)
	return file, file.Decls[i].(*ast.FuncDecl)
}

// imports prints the imports of a file that one of its functions uses, the module's own after a blank line.
func imports(file *ast.File, f *ast.FuncDecl) string {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	var standard, own strings.Builder
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		switch name := strings.TrimSuffix(filepath.Base(path), "-go"); {
		case !used[name]:
		case strings.HasPrefix(path, "github.com/"):
			fmt.Fprintf(&own, "\t%q\n", path)
		default:
			fmt.Fprintf(&standard, "\t%q\n", path)
		}
	}
	return standard.String() + "\n" + own.String()
}

// The README's test command is the one that is run before each merge.
func TestREADMETestCommand(t *testing.T) {
	for _, row := range []struct{ page, command string }{
		{page: "README.md", command: "\ngo test ./..."}, {page: ".ci/run", command: `step "go test ./..." go test ./...`},
	} {
		t.Run(row.page, func(t *testing.T) {
			text, err := os.ReadFile(row.page)
			require.NoError(t, err)
			require.True(t, bytes.Contains(text, []byte(row.command)), "%s should have %q", row.page, row.command)
		})
	}
}
