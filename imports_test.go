package signforms_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	modulePath    = "github.com/signforms/signforms-go"
	refserverPath = modulePath + "/internal/refserver"
	uuidPath      = "github.com/google/uuid"
	retryPath     = "github.com/hashicorp/go-retryablehttp"
	cleanhttpPath = "github.com/hashicorp/go-cleanhttp" // required by go-retryablehttp
	allBelow      = "…"                                 // after a path: the package and all in its folder
)

// mayDependOn lists, for each package, what may be in its dependency closure besides itself and the standard library.
// Tests are not counted: they may import what they like. docs/architecture.md draws the same as a picture.
var mayDependOn = map[string][]string{
	modulePath:                          {uuidPath, retryPath, cleanhttpPath},
	modulePath + "/internal/jsonscan":   {},
	modulePath + "/webhook":             {modulePath + "/internal/jsonscan"},
	modulePath + "/webhook/webhooktest": {modulePath + "/webhook", modulePath + "/internal/jsonscan"},
	refserverPath + "/signing":          {uuidPath},
	refserverPath + "/store":            {refserverPath + "/signing", uuidPath},
	refserverPath + "/api":              {refserverPath + "/store", refserverPath + "/signing", uuidPath},
	refserverPath + "/delivery":         {refserverPath + "/store", refserverPath + "/signing", uuidPath},
	refserverPath:                       {refserverPath + allBelow, uuidPath},
	modulePath + "/signformstest":       {modulePath, refserverPath + allBelow, uuidPath, retryPath, cleanhttpPath},
	modulePath + "/examples" + allBelow: {modulePath + allBelow, uuidPath, retryPath, cleanhttpPath},
}

// mayImportRefserver lists who may name the reference service in an import: everybody else goes through signformstest.
var mayImportRefserver = []string{refserverPath + allBelow, modulePath + "/signformstest"}

type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func TestDependenciesPointOneWay(t *testing.T) {
	standard := map[string]bool{}
	packages := listPackages(t)
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	for _, p := range packages {
		if !pathMatches(p.ImportPath, modulePath+allBelow) {
			continue
		}
		allowed, ok := importRule(p.ImportPath)
		require.True(t, ok, "%s has no rule: add what it may depend on to mayDependOn", p.ImportPath)
		for _, dep := range p.Deps {
			if !standard[dep] && !pathMatches(dep, allowed...) {
				t.Errorf("%s depends on %s; it may depend on the standard library and %q", p.ImportPath, dep, allowed)
			}
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

func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	for _, p := range listPackages(t) {
		folder, ours := strings.CutPrefix(p.ImportPath, modulePath+"/")
		if ours && !strings.HasPrefix(folder, "examples/") {
			require.True(t, strings.Contains(string(text), "| `"+folder+"/` |"), "docs/architecture.md has no line for %s", folder)
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

// listPackages returns the packages of the module and all they depend on, without tests.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", &stderr)
	var packages []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		packages = append(packages, p)
	}
	require.True(t, slices.ContainsFunc(packages, func(p listedPackage) bool { return p.ImportPath == modulePath }), "go list did not find %s", modulePath)
	return packages
}

// importRule prefers the rule of the package itself to that of a folder.
func importRule(path string) ([]string, bool) {
	if allowed, ok := mayDependOn[path]; ok {
		return allowed, true
	}
	for pattern, allowed := range mayDependOn {
		if pathMatches(path, pattern) {
			return allowed, true
		}
	}
	return nil, false
}

func pathMatches(path string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		folder, isFolder := strings.CutSuffix(pattern, allBelow)
		return path == folder || isFolder && strings.HasPrefix(path, folder+"/")
	})
}
