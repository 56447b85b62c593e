package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
)

// cluster is a Postgres server of the tests' own, on a unix socket in a scratch folder.
type cluster struct {
	bin, dir string
	as       *syscall.Credential // Postgres refuses to run as root
	server   *exec.Cmd
	output   bytes.Buffer
	db       *sql.DB // makes the schemas
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

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		runChild()
	}
	code := m.Run()
	if c := sharedStarted.Load(); c != nil {
		c.stop()
		os.RemoveAll(c.dir)
	}
	os.Exit(code)
}

func startCluster() (*cluster, error) {
	initdb, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "outbox-pg")
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
	out, err := c.command(initdb, "-D", filepath.Join(dir, "data"), "-U", "outbox", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput()
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

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

func (c *cluster) start() (err error) {
	if c.db, err = sql.Open("pgx", c.dsn("public")); err != nil {
		return err
	}
	c.server = c.command(filepath.Join(c.bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "max_connections=200", "-c", "deadlock_timeout=200ms")
	c.server.Stdout, c.server.Stderr = &c.output, &c.output
	if err := c.server.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for {
		if err := c.db.PingContext(ctx); err == nil {
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
		c.db.Close()
		c.server.Process.Signal(syscall.SIGQUIT)
		c.server.Wait()
		c.server = nil
	}
}

func (c *cluster) dsn(schema string) string {
	return fmt.Sprintf("host=%s user=outbox dbname=postgres search_path=%s", c.dir, schema)
}

// newSchema makes an empty schema and returns its DSN.
func (c *cluster) newSchema(t testing.TB) string {
	name := fmt.Sprint("test", c.schemas.Add(1))
	_, err := c.db.Exec("CREATE SCHEMA " + name)
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
