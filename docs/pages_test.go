package docs_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestMain moves to the folder of the module: pages, sources and programs are named from there.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// documents lists the pages that people read.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	root, err := filepath.Glob("*.md")
	require.NoError(t, err)
	return append(root, pages...)
}

// A guarantee names the tests that show it as `./package TestName TestOther`.
var namedTests = regexp.MustCompile("`(\\.(?:/[a-z]+)*)((?:\\s(?:Test|Fuzz|Example|Benchmark)\\w*)+)`")

func TestNamedTestsExist(t *testing.T) {
	there := testFunctions(t)
	var missing []string
	names := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range namedTests.FindAllSubmatch(text, -1) {
			for test := range strings.FieldsSeq(string(m[2])) {
				names++
				if name := string(m[1]) + " " + test; !there[name] {
					missing = append(missing, page+": "+name)
				}
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, slices.Compact(missing), "named on a page, but not in the tree: mend the name, or write the test")
	require.Greater(t, names, 150, "tests that pages name")
}

// testFunctions finds every test of the repository, also in modules of their own, as "./package TestName".
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := "."
		if d := filepath.ToSlash(filepath.Dir(path)); d != "." {
			dir = "./" + d
		}
		for _, m := range declared.FindAllSubmatch(source, -1) {
			found[dir+" "+string(m[1])] = true
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// Links to files lead somewhere, and so do the programs that pages say to run.
func TestLinksAndCommandsOfPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	command := regexp.MustCompile(`(?:cd (\w+) && )?go run (\./[\w/-]+)`)
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), string(m[1])))
			require.NoErrorf(t, err, "link in %s", page)
		}
		for _, m := range command.FindAllSubmatch(text, -1) {
			main, err := filepath.Glob(filepath.Join(string(m[1]), string(m[2]), "*.go"))
			require.NoError(t, err)
			require.NotEmptyf(t, main, "%s says: %s", page, m[0])
		}
	}
}

// Prose is read in a terminal and in diffs too. Tables, code and URLs may be as wide as they must.
func TestLinesOfProseAreShort(t *testing.T) {
	url := regexp.MustCompile(`\]\([^)]*\)|https?://\S+`)
	var long []string
	pages := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if !code && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(url.ReplaceAllString(line, "")) > 120 {
				long = append(long, fmt.Sprintf("%s:%d", path, i+1))
			}
		}
		return err
	}))
	require.Empty(t, long)
	require.Greater(t, pages, 10)
}

// publicPackages are the folders of the packages that users import, by the name under which they do.
var publicPackages = map[string]string{
	"signforms": ".", "webhook": "webhook", "webhooktest": "webhook/webhooktest", "signformstest": "signformstest", "refserver": "internal/refserver",
	"queue": "queue", "outbox": "outbox", "pgxtx": "outbox/pgxtx",
}

// Names in pages and doc comments exist: `Options.Endpoints` in a page, webhook.Sign in a comment.
func TestNamesInDocumentationExist(t *testing.T) {
	exported := map[string]bool{}
	comments := map[string]string{}
	for name, dir := range publicPackages {
		comments[dir] = readPackage(t, name, dir, exported)
	}
	var missing []string
	inPage := regexp.MustCompile("`((?:[a-z]+\\.)?[A-Z]\\w*[a-z]\\w*(?:\\.[A-Z]\\w*)?)[`({\\[]")
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range inPage.FindAllSubmatch(text, -1) {
			name, foreign := string(m[1]), false
			if pkg, _, ok := strings.Cut(name, "."); ok && pkg == strings.ToLower(pkg) {
				_, ours := publicPackages[pkg]
				foreign = !ours
			}
			if !foreign && !exported[name] {
				missing = append(missing, page+": "+name)
			}
		}
	}
	inComment := regexp.MustCompile(`\b(?:signforms|webhook|webhooktest|signformstest)\.[A-Z]\w*(?:\.[A-Z]\w*)?`)
	for dir, text := range comments {
		for _, name := range inComment.FindAllString(text, -1) {
			if !exported[name] {
				missing = append(missing, dir+": "+name)
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, slices.Compact(missing), "named in documentation, but not exported")
}

// readPackage adds what a package exports, as Name, Type.Member and both behind the package's name, and returns its doc
// comments.
func readPackage(t *testing.T, name, dir string, exported map[string]bool) (comments string) {
	t.Helper()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
		for _, c := range file.Comments {
			comments += c.Text()
		}
	}
	add := func(names ...string) {
		for _, n := range names {
			exported[n], exported[name+"."+n] = true, true
		}
	}
	p, err := doc.NewFromFiles(set, files, modulePath)
	require.NoError(t, err)
	for _, typ := range p.Types {
		add(typ.Name)
		for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
			add(f.Name, typ.Name+"."+f.Name, strings.TrimSuffix(typ.Name, "Service")+"."+f.Name)
		}
		for _, v := range slices.Concat(typ.Consts, typ.Vars) {
			add(v.Names...)
		}
		add(members(typ)...)
	}
	for _, f := range p.Funcs {
		add(f.Name)
	}
	for _, v := range slices.Concat(p.Consts, p.Vars) {
		add(v.Names...)
	}
	return comments
}

// members returns the fields of a struct or the methods of an interface, as Type.Member and alone.
func members(typ *doc.Type) (names []string) {
	ast.Inspect(typ.Decl, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			for _, id := range f.Names {
				names = append(names, typ.Name+"."+id.Name, id.Name)
			}
		}
		return true
	})
	return names
}
