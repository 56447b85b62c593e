package redisstore_test

import (
	"net"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// server is a redis-server.
type server struct {
	addr     string
	dir      string
	settings []string
	options  *redis.Options // of its clients, except the address
	cmd      *exec.Cmd
}

// startRedis starts a redis-server on a free loopback port, which ends with the test. It writes everything to disk before it
// answers, unless settings, which come last, say otherwise.
func startRedis(t testing.TB, settings ...string) *server {
	t.Helper()
	s := newRedis(t)
	s.settings = settings
	s.start(t)
	return s
}

// newRedis returns a server that has still to be started.
func newRedis(t testing.TB) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not on PATH, so nothing was tested here: install it, for example with apt-get install redis-server")
	}
	s := &server{addr: freeAddress(t), dir: t.TempDir(), options: &redis.Options{}}
	t.Cleanup(s.kill)
	return s
}

// given are the addresses that a test has got: it may start its server there again later.
var given sync.Map

// freeAddress returns a loopback address without a listener.
func freeAddress(t testing.TB) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())
		if _, taken := given.LoadOrStore(addr, true); !taken {
			return addr
		}
	}
}

// start starts the server with what it has on disk, and returns when it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("redis-server", append([]string{"--port", port(t, s.addr), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"}, s.settings...)...)
	require.NoError(t, s.cmd.Start())
	client := s.client(t)
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 10*time.Second, 10*time.Millisecond, "redis-server does not answer")
}

func port(t testing.TB, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return port
}

// kill ends the server as kill -9 does.
func (s *server) kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// client returns a client that closes with the test.
func (s *server) client(t testing.TB) *redis.Client {
	t.Helper()
	options := *s.options
	options.Addr, options.ContextTimeoutEnabled = s.addr, true
	client := redis.NewClient(&options)
	t.Cleanup(func() { client.Close() })
	return client
}

// prefixes makes key prefixes, so that subtests can share a server.
func prefixes() func() string {
	n := 0
	return func() string {
		n++
		return "test" + strconv.Itoa(n) + ":"
	}
}

// requireExpiry checks that the keys expire after least to most.
func requireExpiry(t *testing.T, client *redis.Client, pattern string, least, most time.Duration) {
	t.Helper()
	keys, err := client.Keys(t.Context(), pattern).Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	for _, key := range keys {
		ttl, err := client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		require.GreaterOrEqual(t, ttl, least, "key %s", key)
		require.LessOrEqual(t, ttl, most+time.Millisecond, "key %s", key)
	}
}
