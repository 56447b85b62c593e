package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
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

// mayImportRefserver lists who may name the reference service in an import: everybody else goes through signformstest.
var mayImportRefserver = []string{refserverPath + allBelow, modulePath + "/signformstest"}

type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// Tests are not counted: they may import what they like.
func TestDependenciesPointOneWay(t *testing.T) {
	mayDependOn := readRooms(t)
	used := map[string]map[string]bool{} // room → what its packages depend on
	standard := map[string]bool{}
	packages := listPackages(t)
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	for _, p := range packages {
		if !pathMatches(p.ImportPath, modulePath+allBelow) || pathMatches(p.ImportPath, docsPath, helpersPath) {
			continue
		}
		room, allowed := p.ImportPath, []string(nil)
		if examples := modulePath + "/examples"; strings.HasPrefix(room, examples) {
			room, allowed = examples, []string{examples + allBelow}
		}
		require.Contains(t, mayDependOn, room, "docs/architecture.md has no line for it")
		for next := []string{room}; len(next) > 0; next = next[1:] {
			if !slices.Contains(allowed, next[0]) {
				allowed = append(allowed, next[0])
				next = append(next, mayDependOn[next[0]]...)
			}
		}
		if used[room] == nil {
			used[room] = map[string]bool{}
		}
		for _, dep := range p.Deps {
			used[room][dep] = true
			if !standard[dep] && !pathMatches(dep, allowed...) {
				t.Errorf("%s depends on %s, which is not in its line of docs/architecture.md: it may depend on the standard library and %q",
					p.ImportPath, dep, mayDependOn[room])
			}
		}
	}
	for room, listed := range mayDependOn {
		for _, path := range listed {
			if !used[room][path] {
				t.Errorf("the line of %s in docs/architecture.md names %s, which it does not depend on", room, path)
			}
		}
	}
}

// readRooms reads the table of docs/architecture.md: for each package, what it may depend on besides what that depends on.
func readRooms(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([a-z/]+)/`[^|]*\\|[^|]+\\| ([^|]+) \\|$|^\\| `/` \\(package signforms\\) \\|[^|]+\\| ([^|]+) \\|$").
		FindAllStringSubmatch(string(text), -1)
	paths := map[string][]string{"nothing": nil, "uuid": {uuidPath}, "go-retryablehttp": {retryPath, cleanhttpPath}, "signforms": {modulePath}}
	for _, row := range rows {
		if folder := row[1]; folder != "" {
			paths[strings.TrimPrefix(folder, "internal/refserver/")] = []string{modulePath + "/" + folder}
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
		require.NotContains(t, p.Imports, helpersPath, p.ImportPath)
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

// A fifth direct dependency needs a reason that stands in the commit that adds it, and a line here.
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
