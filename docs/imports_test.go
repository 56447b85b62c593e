package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	modulePath    = "github.com/signforms/signforms-go"
	refserverPath = modulePath + "/internal/refserver"
	uuidPath      = "github.com/google/uuid"
	retryPath     = "github.com/hashicorp/go-retryablehttp"
	cleanhttpPath = "github.com/hashicorp/go-cleanhttp" // required by go-retryablehttp
	docsPath      = modulePath + "/docs"                // tests alone
	helpersPath   = modulePath + "/internal/clienttest" // compiled into tests alone
	allBelow      = "…"                                 // after a path: the package and all in its folder
)

// testsOfProgram are folders of the program's module that hold tests alone.
var testsOfProgram = []string{"cmd/signforms/endtoend", "cmd/signforms/internal/browsertest"}

// libraries are the names that the tables of docs/architecture.md use for packages without a line.
var libraries = map[string][]string{
	"nothing": nil, "uuid": {uuidPath}, "go-retryablehttp": {retryPath, cleanhttpPath}, "signforms": {modulePath},
	"filestore": {modulePath + "/stores/filestore"}, "redisstore": {modulePath + "/stores/redisstore"},
	"cobra": {"github.com/spf13/cobra"}, "pflag": {"github.com/spf13/pflag"}, "x/term": {"golang.org/x/term"}, "x/text": {"golang.org/x/text…"}, "x/sys": {"golang.org/x/sys" + allBelow},
	"x/image": {"golang.org/x/image" + allBelow}, "fpdf": {"codeberg.org/go-pdf/fpdf"}, "pdfcpu": {"github.com/pdfcpu/pdfcpu" + allBelow},
	"pkcs7": {"github.com/smallstep/pkcs7"}, "progressbar": {"github.com/schollz/progressbar/v3"}, "yaml": {"go.yaml.in/yaml/v3"}, "sqlite": {"modernc.org/sqlite" + allBelow},
}

// mayImportRefserver lists which packages of this module may name the reference service in an import: everybody else goes through
// signformstest. The program is a module of its own.
var mayImportRefserver = []string{refserverPath + allBelow, modulePath + "/signformstest", helpersPath + allBelow}

type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// Tests are not counted: they may import what they like.
func TestDependenciesPointOneWay(t *testing.T) {
	mayDependOn := readRooms(t)
	used := map[string][]string{} // room → what its packages depend on, but for the standard library
	standard := map[string]bool{}
	packages := listPackages(t)
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	for _, p := range packages {
		if !pathMatches(p.ImportPath, modulePath+allBelow) || pathMatches(p.ImportPath, docsPath, helpersPath, helpersPath+allBelow) {
			continue
		}
		room := p.ImportPath
		if examples := modulePath + "/examples"; strings.HasPrefix(room, examples) {
			room = examples
		}
		used[room] = append(used[room], slices.DeleteFunc(p.Deps, func(dep string) bool { return standard[dep] })...)
	}
	for room, imports := range programImports(t) {
		used[room] = imports
	}
	for room, deps := range used {
		if _, there := mayDependOn[room]; !there {
			t.Errorf("docs/architecture.md has no line for %s", room)
		}
		allowed := []string{room}
		if room == modulePath+"/examples" {
			allowed = []string{room + allBelow}
		}
		for next := mayDependOn[room]; len(next) > 0; next = next[1:] {
			if !slices.Contains(allowed, next[0]) {
				allowed = append(allowed, next[0])
				next = append(next, mayDependOn[next[0]]...)
			}
		}
		for _, dep := range deps {
			if !pathMatches(dep, allowed...) {
				t.Errorf("%s depends on %s, which is not in its line of docs/architecture.md: it may depend on the standard library and %q", room, dep, mayDependOn[room])
			}
		}
	}
	for room, listed := range mayDependOn {
		if _, there := used[room]; !there {
			t.Errorf("docs/architecture.md has a line for %s, which is not there", room)
		}
		for _, path := range listed {
			if !slices.ContainsFunc(used[room], func(dep string) bool { return pathMatches(dep, path) }) {
				t.Errorf("the line of %s in docs/architecture.md names %s, which it does not depend on", room, path)
			}
		}
	}
}

// programImports returns what each package of the module cmd/signforms imports, on any system. It reads the sources, because the
// go command would first download the libraries.
func programImports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir("cmd/signforms", func(path string, _ fs.DirEntry, err error) error {
		folder := filepath.ToSlash(filepath.Dir(path))
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || pathMatches(folder, testsOfProgram...) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := modulePath + "/" + folder
		found[room] = append(found[room], []string{}...)
		for _, spec := range file.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && strings.Contains(imported, ".") {
				found[room] = append(found[room], imported)
			}
		}
		return nil
	}))
	return found
}

// readRooms reads the tables of docs/architecture.md: for each package, what it may depend on besides what that depends on.
func readRooms(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([a-z/]+)/`[^|]*\\|[^|]+\\| ([^|]+) \\|$|^\\| `/` \\(package signforms\\) \\|[^|]+\\| ([^|]+) \\|$").
		FindAllStringSubmatch(string(text), -1)
	paths := maps.Clone(libraries)
	for _, row := range rows {
		if folder := row[1]; folder != "" {
			name := strings.TrimPrefix(strings.TrimPrefix(folder, "internal/refserver/"), "cmd/signforms/internal/")
			require.NotContains(t, paths, name, "two packages of this name")
			paths[name] = []string{modulePath + "/" + folder}
		}
	}
	rooms := map[string][]string{}
	for _, row := range rows {
		path := strings.TrimSuffix(modulePath+"/"+row[1], "/")
		rooms[path] = []string{}
		for name := range strings.SplitSeq(row[2]+row[3], ", ") {
			require.Contains(t, paths, name, "docs/architecture.md: %s may depend on it", path)
			rooms[path] = append(rooms[path], paths[name]...)
		}
	}
	require.Contains(t, rooms, modulePath)
	return rooms
}

func TestNothingButTestsImportsTheHelpersOfTests(t *testing.T) {
	for _, p := range listPackages(t) {
		if !pathMatches(p.ImportPath, helpersPath, helpersPath+allBelow) {
			require.False(t, slices.ContainsFunc(p.Imports, func(imported string) bool { return strings.HasPrefix(imported, helpersPath) }), p.ImportPath)
		}
	}
}

func TestOnlySignformstestImportsTheReferenceService(t *testing.T) {
	for _, p := range listPackages(t) {
		if pathMatches(p.ImportPath, mayImportRefserver...) {
			continue
		}
		for _, imported := range p.Imports {
			if pathMatches(imported, refserverPath+allBelow) {
				t.Errorf("%s imports %s; use %s/signformstest", p.ImportPath, imported, modulePath)
			}
		}
	}
}

// A fifth direct dependency needs a reason in the commit that adds it, and a line here.
func TestDirectDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json").Output()
	require.NoError(t, err, "go mod edit")
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &file))
	var got []string
	for _, r := range file.Require {
		if !r.Indirect {
			got = append(got, r.Path)
		}
	}
	require.ElementsMatch(t, []string{uuidPath, retryPath, "github.com/jarcoal/httpmock", "github.com/stretchr/testify"}, got)
}

// listOnce asks the go command, which takes its time, once for all tests.
var listOnce = sync.OnceValues(func() (packages []listedPackage, err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})

// listPackages returns the packages of the module and all they depend on, without tests.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	packages, err := listOnce()
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(packages, func(p listedPackage) bool { return p.ImportPath == modulePath }), "go list did not find %s", modulePath)
	return packages
}

func pathMatches(path string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		folder, isFolder := strings.CutSuffix(pattern, allBelow)
		return path == folder || isFolder && strings.HasPrefix(path, folder+"/")
	})
}
