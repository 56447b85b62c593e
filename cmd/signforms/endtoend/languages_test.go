package endtoend_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole loop from two languages that share nothing with this repository: seed, send, sign in order, receive signed webhooks,
// advance three days, the reminder limit, resend. They use what comes with Node and Python, and no package.
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
