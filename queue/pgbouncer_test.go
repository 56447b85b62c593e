package queue_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// bouncer starts a PgBouncer for the cluster, in one of its modes, and returns a DSN that leads through it to a new schema.
// Its role has the settings.
func bouncer(t *testing.T, mode string, settings ...string) string {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // not on the PATH of others than root
	}
	if err != nil && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skip("pgbouncer is not there: install it, for example with apt-get install pgbouncer")
	}
	require.NoError(t, err)
	c := sharedPostgres(t)
	dsn := c.newSchema(t)
	schema := strings.Fields(dsn[strings.Index(dsn, "search_path=")+len("search_path="):])[0]
	role := "bounced_" + schema
	stage{T: t, where: where(dsn)}.exec(fmt.Sprintf("CREATE ROLE %[1]s LOGIN; GRANT ALL ON SCHEMA %[2]s TO %[1]s; ALTER ROLE %[1]s SET search_path TO %[2]s", role, schema))
	for _, setting := range settings {
		stage{T: t, where: where(dsn)}.exec("ALTER ROLE " + role + " SET " + setting)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	config := filepath.Join(c.dir, role+".ini")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
queue = host=%s dbname=postgres user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
`, c.dir, role, port, mode), 0o644))
	server := c.command(program, "-q", config)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	return fmt.Sprintf("host=127.0.0.1 port=%d user=queue dbname=queue sslmode=disable pool_max_conns=10", port)
}

// Behind PgBouncer a queue receives and works in both modes.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ mode, settings string }{{mode: "session", settings: ""}, {mode: "transaction", settings: " default_query_exec_mode=exec"}} {
		t.Run(row.mode, func(t *testing.T) {
			s := stage{T: t, where: where(bouncer(t, row.mode) + row.settings)}
			s.awaitPing()
			q := s.queue(&queue.Options{Retries: []time.Duration{time.Hour}})
			other := s.queue(nil)
			var j journal
			stop := s.run(q, j.noting(nil))
			for n := range 20 {
				s.accept(other, completed("a", n), completed(fmt.Sprint("b", n), 1))
			}
			s.until(q, func(st queue.Stats) bool { return st.Processed == 40 })
			require.Len(t, j.all(), 40)
			_, err := q.Retry(t.Context(), queue.Filter{States: []queue.State{queue.Failed, queue.Done}, IDs: []int64{1, 2}})
			require.NoError(t, err)
			done, err := other.Erase(t.Context(), queue.Filter{Document: "a"})
			require.NoError(t, err)
			require.Equal(t, 20, done)
			stop()
		})
	}
}

// awaitPing waits until the server answers.
func (s stage) awaitPing() {
	s.Helper()
	require.Eventually(s, func() bool {
		pool, err := pgxpool.New(s.Context(), string(s.where))
		require.NoError(s, err)
		defer pool.Close()
		return pool.Ping(s.Context()) == nil
	}, time.Minute, 20*time.Millisecond)
}
