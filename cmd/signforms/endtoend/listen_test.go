package endtoend_test

import (
	"bufio"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestListen_removesItsWebhooks ends listen in several ways. None leaves a webhook in the sandbox.
func TestListen_removesItsWebhooks(t *testing.T) {
	s := start(t, "--memory")
	for _, c := range []struct {
		name string
		end  func(t *testing.T, listen *exec.Cmd, stdout interface{ Close() error })
		code int
	}{
		{name: "reader ends first", code: 1, end: func(t *testing.T, _ *exec.Cmd, stdout interface{ Close() error }) {
			require.NoError(t, stdout.Close())
			require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Second"), nil))
			sign(t, s)
		}},
		{name: "SIGQUIT", end: func(t *testing.T, listen *exec.Cmd, _ interface{ Close() error }) {
			require.NoError(t, listen.Process.Signal(syscall.SIGQUIT))
		}},
		{name: "SIGINT", end: func(t *testing.T, listen *exec.Cmd, _ interface{ Close() error }) {
			require.NoError(t, listen.Process.Signal(syscall.SIGINT))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			listen := exec.CommandContext(t.Context(), binary, "listen", "--url", s.Listening)
			stdout, err := listen.StdoutPipe()
			require.NoError(t, err)
			stderr, err := listen.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, listen.Start())
			_, err = bufio.NewReader(stderr).ReadString('\n') // connected
			require.NoError(t, err)
			sign(t, s)
			_, err = bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			c.end(t, listen, stdout)
			listen.Wait()
			require.Equal(t, c.code, listen.ProcessState.ExitCode())
			var left wire.Page[refserver.WebhookState]
			require.NoError(t, s.client.Get(t.Context(), "/webhooks", nil, &left))
			require.Empty(t, left.Items)
		})
	}
}

// sign adds a document and signs it, which is delivered.
func sign(t *testing.T, s *sandbox) {
	t.Helper()
	var made wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), &made))
	require.NoError(t, s.client.Post(t.Context(), "/documents/"+made.ID+"/sign", wire.Signature{Signer: "ann@example.com"}, nil))
}
