package endtoend_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Programs in two other languages use the sandbox: they seed, send, sign in order, receive signed webhooks, advance three days, reach
// the reminder limit, and resend. They use only what comes with Node and Python.
func TestWholeLoopFromNode(t *testing.T) {
	fromAnotherLanguage(t, "node", "--test", "testdata/loop.test.mjs")
}

func TestWholeLoopFromPython(t *testing.T) {
	fromAnotherLanguage(t, "python3", "testdata/test_loop.py")
}

func fromAnotherLanguage(t *testing.T, name string, args ...string) {
	t.Helper()
	s := start(t, "--memory")
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = s.environment()
	output, err := c.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
