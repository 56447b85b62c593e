package main

import (
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// Several runs share the limit: the sixth reminder is not sent, whichever run it is in.
func TestLimitHoldsOverRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "limits")
	for _, c := range []struct {
		name  string
		where func(t *testing.T) []string
	}{
		{"a file of this user", func(*testing.T) []string { return nil }},
		{"a file", func(*testing.T) []string { return []string{"--limit-store", file} }},
		{"a variable", func(t *testing.T) []string {
			t.Setenv("SIGNFORMS_LIMIT_STORE", file)
			return nil
		}},
		{"Redis", func(t *testing.T) []string { return []string{"--limit-store", "redis://" + startRedis(t)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t, nil)
			args := append([]string{"documents", "remind", s.lease, "--max-wait", "1s"}, c.where(t)...)
			for range 5 {
				_, stderr, code := execute(t, args...)
				require.Equal(t, cli.ExitOK, code, stderr)
			}
			_, stderr, code := execute(t, args...)
			require.Equal(t, cli.ExitFailure, code)
			require.Contains(t, stderr, "signforms: send reminder: rate limited: the reminder budget is used up: wait, or allow more with --max-wait (retry after 15m")
			require.NotContains(t, stderr, "waiting", "it does not wait")
			require.Equal(t, 5, s.reminded())
		})
	}
}

// Requests without the key of this test are of others: the port may have been theirs.
func TestLimitStoreThatDoesNotAnswerSendsNothing(t *testing.T) {
	s := newService(t, &signformstest.Options{Seed: rand.Uint64()})
	path := filepath.Join(t.TempDir(), "limits")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	for where, reason := range map[string]string{path: "is damaged", "redis://:hunter2hunter2@127.0.0.1:1?max_retries=-1": "refused"} {
		_, stderr, code := execute(t, "documents", "remind", s.lease, "--limit-store", where)
		require.Equal(t, cli.ExitFailure, code)
		require.Contains(t, stderr, "nothing was sent, because the limit store did not respond")
		require.Contains(t, stderr, reason)
		require.NotContains(t, stderr, "hunter2")
		args, _ := pendingOf(t)
		stdout, stderr, code := execute(t, append(strings.Fields(args), "--limit-store", where)...)
		require.Equal(t, cli.ExitFailure, code)
		require.Empty(t, stdout, "none was tried")
		require.Regexp(t, `signforms: 0 sent; 0 failed; 0 unknown; 3 not tried; send reminder: unavailable: nothing was sent, because the limit store did not respond .*`+reason, stderr)
	}
	for _, r := range s.Requests()[s.requestsBefore:] {
		require.True(t, r.Method == http.MethodGet || r.StatusCode == http.StatusForbidden, "%s was sent with the key", r)
	}
}

// startRedis starts a redis-server that ends with the test, and returns its address.
func startRedis(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not on PATH, so nothing was tested here: install it, for example with apt-get install redis-server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	redis := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "")
	require.NoError(t, redis.Start())
	t.Cleanup(func() {
		redis.Process.Kill()
		redis.Wait()
	})
	addr := "127.0.0.1:" + port
	client, err := redisstore.NewClient("redis://" + addr)
	require.NoError(t, err)
	defer client.Close()
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 10*time.Second, 10*time.Millisecond, "redis-server does not answer")
	return addr
}
