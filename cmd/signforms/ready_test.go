package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// TestReady_addressOfServe runs the health check of the image with the variables of serve.
func TestReady_addressOfServe(t *testing.T) {
	s := serveInProcess(t, "--memory")
	_, port, err := net.SplitHostPort(s.Listening[len("http://"):])
	require.NoError(t, err)
	for _, c := range []struct {
		name, addr, url string
		code            int
	}{
		{name: "all addresses", addr: "0.0.0.0:" + port},
		{name: "all addresses, IPv6", addr: "[::]:" + port},
		{name: "no host", addr: ":" + port},
		{name: "loopback", addr: "127.0.0.1:" + port},
		{name: "URL before ADDR", addr: "0.0.0.0:" + port, url: "http://127.0.0.1:1", code: cli.ExitFailure},
		{name: "another port", addr: "0.0.0.0:1", code: cli.ExitFailure},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("SIGNFORMS_SANDBOX_ADDR", c.addr)
			if c.url != "" {
				t.Setenv("SIGNFORMS_SANDBOX_URL", c.url)
			}
			_, stderr, code := execute(t, "ready")
			require.Equal(t, c.code, code, stderr)
		})
	}
	t.Setenv("SIGNFORMS_SANDBOX_ADDR", "0.0.0.0:1")
	_, stderr, code := execute(t, "ready", "--url", s.Listening)
	require.Equal(t, cli.ExitOK, code, stderr)
}
