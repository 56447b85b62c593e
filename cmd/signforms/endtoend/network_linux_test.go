package endtoend_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// A public address of this host is no target with --deny-private-targets: what listens there may be meant for this host alone. The
// program runs in a network of its own, where 203.0.114.1 is such an address and nothing leads outside.
func TestOwnPublicAddressIsNoTarget(t *testing.T) {
	if out, err := exec.Command("unshare", "-n", "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		if os.Getenv("CI_RUN_BOUNDED") == "" {
			t.Skipf("no network can be made here, so nothing was tested: %v: %s", err, out)
		}
		t.Fatalf("making a network: %v: %s", err, out)
	}
	begin := "ip link set lo up && ip addr add 203.0.114.1/32 dev lo && exec " + binary
	s, err := launch(t, exec.Command("unshare", "-n", "sh", "-c", begin+" serve --memory --addr 127.0.0.1:0 --json --deny-private-targets"))
	require.NoError(t, err)
	inside := func(args ...string) string {
		command := exec.Command("nsenter", append([]string{"-n", "-t", fmt.Sprint(s.process.Pid), binary}, args...)...)
		command.Env = append(os.Environ(), "SIGNFORMS_SANDBOX_URL="+s.Listening)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	hook := inside("webhooks", "add", "http://203.0.114.1:9/", "--event", "new_signature_completed")
	delivery := inside("webhooks", "test", hook)
	inside("clock", "settle")
	answer, err := (&http.Client{Transport: &http.Transport{DialContext: dialInside(s)}}).Get(s.Listening + wire.Prefix + "/deliveries/" + delivery)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "webhooks to 203.0.114.1 are denied by --deny-private-targets")
}

// dialInside connects within the network of a program. The goroutine's thread ends with it, as it belongs to that network then.
func dialInside(s *sandbox) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		inside, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", s.process.Pid))
		if err != nil {
			return nil, err
		}
		defer inside.Close()
		runtime.LockOSThread()
		if err := unix.Setns(int(inside.Fd()), unix.CLONE_NEWNET); err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
}
