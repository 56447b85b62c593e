package endtoend_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// binary is the program that the tests start.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	folder, err := os.MkdirTemp("", "signforms-endtoend-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Chmod(folder, 0o755) // for tests that run the program as another user
	binary = filepath.Join(folder, "signforms")
	build := exec.Command("go", "build", "-o", binary, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	code := 1
	if build.Run() == nil {
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// sandbox is a running program.
type sandbox struct {
	wire.Credentials
	Listening string // the base URL without --public-url

	client  *wire.Client
	process *os.Process
	wait    func() error // returns when the process has ended
	stderr  *bytes.Buffer
}

// start starts the program and returns once it is ready. It ends with the test.
func start(t testing.TB, args ...string) *sandbox {
	t.Helper()
	s, err := launch(t, exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--json"}, args...)...))
	require.NoError(t, err)
	return s
}

// launch starts a command and waits for the line that --json prints when it is ready.
func launch(t testing.TB, command *exec.Cmd) (*sandbox, error) {
	t.Helper()
	s := &sandbox{stderr: &bytes.Buffer{}}
	command.Stderr = s.stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	if err := command.Start(); err != nil {
		return nil, err
	}
	s.process = command.Process
	line, readErr := bufio.NewReader(stdout).ReadBytes('\n')
	s.wait = sync.OnceValue(func() error {
		io.Copy(io.Discard, stdout)
		return command.Wait()
	})
	t.Cleanup(func() {
		s.process.Kill() // fails if it has ended already
		s.wait()
	})
	if readErr != nil {
		return s, fmt.Errorf("%w: %s", s.wait(), s.stderr)
	}
	require.NoError(t, json.Unmarshal(line, s))
	s.client, err = wire.NewClient(s.Listening, "")
	require.NoError(t, err)
	return s, nil
}

// stop interrupts the program as Ctrl+C does, and returns what it printed for people.
func (s *sandbox) stop(t testing.TB) string {
	t.Helper()
	require.NoError(t, s.process.Signal(syscall.SIGTERM))
	require.NoError(t, s.wait())
	return s.stderr.String()
}

// kill ends the program at once, whatever it is doing.
func (s *sandbox) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, s.process.Kill())
	s.wait()
}

// environment returns the variables of the sandbox's env file, for programs in other languages.
func (s *sandbox) environment() []string {
	return append(os.Environ(), "SIGNFORMS_BASE_URL="+s.BaseURL, "SIGNFORMS_API_KEY="+s.APIKey, "SIGNFORMS_WORKSPACE_ID="+s.WorkspaceID,
		"SIGNFORMS_WEBHOOK_SECRETS="+s.WebhookSecret)
}

// call makes an API request as a client does, and decodes the answer.
func (s *sandbox) call(t testing.TB, method, path string, body, out any) (status int) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, bytes.NewReader(text))
	require.NoError(t, err)
	request.Header.Set("x-api-key", s.APIKey)
	request.Header.Set("workspaceid", s.WorkspaceID)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	if out != nil && answer.StatusCode < 300 {
		require.NoError(t, json.Unmarshal(content, out), string(content))
	}
	return answer.StatusCode
}

// command runs another command of the program.
func command(t testing.TB, env []string, args ...string) (stdout string, err error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Env = append(os.Environ(), env...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.String(), nil
}
