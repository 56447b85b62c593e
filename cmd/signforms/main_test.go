package main

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// execute runs one command line without a terminal.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), hasty, args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
	}{
		{args: nil, code: cli.ExitOK},
		{args: []string{"version"}, code: cli.ExitOK},
		{args: []string{"version", "--nonsense"}, code: cli.ExitUsage},
		{args: []string{"version", "1.0"}, code: cli.ExitUsage},
		{args: []string{"nonsense"}, code: cli.ExitUsage},
	} {
		_, stderr, code := execute(t, c.args...)
		require.Equal(t, c.code, code, "signforms %v: %s", c.args, stderr)
	}
}

func TestUnknownCommandNamesTheOneMeant(t *testing.T) {
	stdout, stderr, code := execute(t, "versoin")
	require.Empty(t, stdout)
	require.Equal(t, "signforms: unknown command \"versoin\" for signforms (did you mean version?); see signforms --help\n", stderr)
	require.Equal(t, cli.ExitUsage, code)
}

func TestUnknownFlagNamesTheHelp(t *testing.T) {
	stdout, stderr, _ := execute(t, "version", "--nonsense")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "see signforms version --help")
}

// What a server says on an idle connection is not a message to the user. Other lines of package log are.
func TestIdleConnectionsAreSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var plain, filtered strings.Builder
	defer log.SetOutput(os.Stderr)
	for _, w := range []io.Writer{&plain, withoutIdle{&filtered}} {
		log.SetOutput(w)
		read, closed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(closed)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			<-read
			io.WriteString(c, "HTTP/1.1 503 Going away\r\n\r\n")
			io.Copy(io.Discard, c) // until the client closes it, which it does after the log line
		}()
		client := http.Client{Transport: &http.Transport{}}
		resp, err := client.Get("http://" + l.Addr().String())
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		close(read)
		<-closed
		log.Print("another line")
	}
	require.Contains(t, plain.String(), "Unsolicited response")
	require.Equal(t, 1, strings.Count(filtered.String(), "\n"), filtered.String())
	require.Contains(t, filtered.String(), "another line\n")
}
