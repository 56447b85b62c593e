package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// cluster is a Postgres server of the tests' own, on a unix socket in a scratch folder.
type cluster struct {
	bin, dir string
	as       *syscall.Credential // Postgres refuses to run as root
	server   *exec.Cmd
	output   bytes.Buffer
	pool     *pgxpool.Pool // makes the schemas
	schemas  atomic.Int64
}

// shared is the cluster of all tests, started by the first that needs it and stopped by TestMain.
var shared = sync.OnceValues(func() (*cluster, error) {
	c, err := startCluster()
	sharedStarted.Store(c)
	return c, err
})
var sharedStarted atomic.Pointer[cluster]

// nobody is the user that Postgres runs as where the tests run as root.
const nobody = 65534

func startCluster() (*cluster, error) {
	initdb, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "queue-pg")
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: filepath.Dir(initdb), dir: dir}
	if os.Geteuid() == 0 {
		c.as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return c, err
		}
	}
	out, err := c.command(initdb, "-D", c.data(), "-U", "queue", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput()
	if err != nil {
		return c, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return c, c.start()
}

// findPostgres finds initdb on PATH or where Debian puts it.
func findPostgres() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.EvalSymlinks(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", exec.ErrNotFound
	}
	return found[len(found)-1], nil
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

// start starts the server and returns when it answers. It does not sync: the machine does not lose power here, only
// processes are killed.
func (c *cluster) start() (err error) {
	if c.pool, err = pgxpool.New(context.Background(), c.dsn("public")); err != nil {
		return err
	}
	c.server = c.command(filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "max_connections=200", "-c", "deadlock_timeout=200ms")
	c.output.Reset()
	c.server.Stdout, c.server.Stderr = &c.output, &c.output
	if err := c.server.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for {
		if err := c.pool.Ping(ctx); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return fmt.Errorf("postgres does not answer: %w: %s", err, c.output.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stop ends the server at once, as a crash does.
func (c *cluster) stop() {
	if c.server != nil {
		c.pool.Close()
		c.server.Process.Signal(syscall.SIGQUIT)
		c.server.Wait()
		c.server = nil
	}
}

// Under another default, what waits for a lock would fail instead of seeing what it has waited for.
func TestOpenPostgres_defaultIsolation(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t) + " default_transaction_isolation=serializable")}
	q := s.queue(nil)
	var j journal
	s.run(q, j.noting(nil))
	var wg sync.WaitGroup
	for sender := range 8 {
		wg.Go(func() {
			for n := range 20 {
				if code := s.deliver(q, webhooktest.Payload(completed("a", 100*sender+n))).Code; code != http.StatusOK {
					s.Errorf("answered %d", code)
				}
			}
		})
	}
	wg.Wait()
	s.settled(q)
	require.Len(t, j.all(), 160)
}

// poolSize is what a DSN says to a pool only. It keeps its connections: on virtual time hours pass,
// and new ones take real time.
const poolSize = " pool_max_conns=24 pool_max_conn_lifetime=99999h pool_max_conn_idle_time=99999h pool_health_check_period=99999h"

func (c *cluster) dsn(schema string) string {
	return fmt.Sprintf("host=%s user=queue dbname=postgres search_path=%s"+poolSize, c.dir, schema)
}

// newSchema makes an empty schema and returns its DSN.
func (c *cluster) newSchema(t testing.TB) string {
	name := "test" + strconv.FormatInt(c.schemas.Add(1), 10)
	_, err := c.pool.Exec(t.Context(), "CREATE SCHEMA "+name)
	require.NoError(t, err)
	return c.dsn(name)
}

// sharedPostgres returns the shared cluster. Without Postgres the test is skipped, but not in .ci/run.
func sharedPostgres(t testing.TB) *cluster {
	t.Helper()
	c, err := shared()
	if err == exec.ErrNotFound && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skip("initdb is not there, so nothing was tested on Postgres: install it, for example with apt-get install postgresql")
	}
	require.NoError(t, err)
	return c
}

func stopCluster() {
	if c := sharedStarted.Load(); c != nil {
		c.stop()
		os.RemoveAll(c.dir)
	}
}
