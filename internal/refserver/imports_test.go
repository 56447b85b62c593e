package refserver_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports keeps the service usable on its own: nothing of the SDK, which it checks, and nothing from outside but uuid.
func TestImports(t *testing.T) {
	const module = "github.com/signforms/signforms-go"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, module+"/internal/refserver/delivery")
	for _, p := range packages {
		if p != "github.com/google/uuid" && !strings.HasPrefix(p, module+"/internal/refserver") {
			t.Errorf("internal/refserver depends on %s: only the standard library and uuid may be", p)
		}
	}
}
