package main

import (
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

	"github.com/stretchr/testify/require"
)

// cluster is a Postgres of the test's own, which TestMain stops.
var cluster struct {
	server  *exec.Cmd
	dir     string
	schemas atomic.Int64
}

var startOnce = sync.OnceValue(startCluster)

// newPostgres returns the URL of an empty schema. Without Postgres the test is skipped, but not in .ci/run.
func newPostgres(t *testing.T) string {
	if err := startOnce(); err == exec.ErrNotFound && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skip("initdb is not there, so nothing was tested on Postgres: install it, for example with apt-get install postgresql")
	} else {
		require.NoError(t, err)
	}
	db, err := sql.Open("pgx", clusterURL("public"))
	require.NoError(t, err)
	defer db.Close()
	name := fmt.Sprint("test", cluster.schemas.Add(1))
	_, err = db.ExecContext(t.Context(), "CREATE SCHEMA "+name)
	require.NoError(t, err)
	return clusterURL(name) + "&pool_max_conn_idle_time=1s&pool_health_check_period=1s" // the program leaves its pool to its end
}

func clusterURL(schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=offers&search_path=%s", cluster.dir, schema)
}

// startCluster starts a server that listens on a socket in a temporary folder.
func startCluster() error {
	initdb, err := exec.LookPath("initdb")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err != nil && len(found) > 0 {
		initdb, err = found[len(found)-1], nil
	}
	if err != nil {
		return exec.ErrNotFound
	}
	if cluster.dir, err = os.MkdirTemp("", "offers-pg"); err != nil {
		return err
	}
	const nobody = 65534 // Postgres refuses to run as root
	var as *syscall.Credential
	if os.Geteuid() == 0 {
		as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(cluster.dir, nobody, nobody); err != nil {
			return err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = cluster.dir, &syscall.SysProcAttr{Credential: as}
		return cmd
	}
	data := filepath.Join(cluster.dir, "data")
	if out, err := command(initdb, "-D", data, "-U", "offers", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	cluster.server = command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-k", cluster.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=500")
	if err := cluster.server.Start(); err != nil {
		return err
	}
	db, err := sql.Open("pgx", clusterURL("public"))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for db.PingContext(ctx) != nil {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func stopCluster() {
	if cluster.server != nil {
		cluster.server.Process.Kill()
		cluster.server.Wait()
	}
	os.RemoveAll(cluster.dir)
}
