package pgxtx_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/outbox"
	"github.com/signforms/signforms-go/outbox/pgxtx"
)

// postgres starts a server for the test.
func postgres(t *testing.T) *pgxpool.Pool {
	bin, err := exec.LookPath("initdb")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err != nil && len(found) > 0 {
		bin, err = found[len(found)-1], nil
	}
	if err != nil && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skip("initdb is not there: install it, for example with apt-get install postgresql")
	}
	require.NoError(t, err)
	bin, err = filepath.EvalSymlinks(bin)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "pgxtx")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if os.Geteuid() == 0 { // as which Postgres refuses to run
			const nobody = 65534
			require.NoError(t, os.Chown(dir, nobody, nobody))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		return cmd
	}
	data := filepath.Join(dir, "data")
	out, err := command(bin, "-D", data, "-U", "outbox", "-A", "trust", "--no-sync").CombinedOutput()
	require.NoError(t, err, string(out))
	server := command(filepath.Join(filepath.Dir(bin), "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	require.NoError(t, server.Start())
	t.Cleanup(func() { server.Process.Signal(syscall.SIGQUIT); server.Wait() })
	pool, err := pgxpool.New(t.Context(), "host="+dir+" user=outbox dbname=postgres")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.Eventually(t, func() bool { return pool.Ping(context.Background()) == nil }, time.Minute, 20*time.Millisecond)
	return pool
}

func TestAddGetVoidForget_inATransactionOfPgx(t *testing.T) {
	pool := postgres(t)
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	box, err := outbox.Open(t.Context(), db, nil, nil)
	require.NoError(t, err)
	message := outbox.Message{Key: "1", RemindAfter: []time.Duration{time.Hour}, Send: signforms.TemplateSendParams{
		TemplateID: "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}}}}

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(context.Background()) // so that the pool can be closed if the test fails
	require.NoError(t, pgxtx.Add(t.Context(), box, tx, message))
	_, err = pgxtx.Get(t.Context(), box, tx, "1")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = box.Get(t.Context(), db, "1")
	require.ErrorIs(t, err, outbox.ErrKeyUnknown, "the transaction was rolled back")

	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return pgxtx.Add(t.Context(), box, tx, message) }))
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, pgxtx.Add(t.Context(), box, tx, message))
		other := message
		other.Send.PDF = []byte("%PDF-1.7")
		require.ErrorIs(t, pgxtx.Add(t.Context(), box, tx, other), outbox.ErrKeyUsed)
		return pgxtx.Void(t.Context(), box, tx, "1")
	}))
	e, err := box.Get(t.Context(), db, "1")
	require.NoError(t, err)
	require.Equal(t, outbox.Cancelled, e.State)
	err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return pgxtx.Forget(t.Context(), box, tx, "1") })
	require.ErrorIs(t, err, outbox.ErrState, "OnChange was not called")
	_, err = pool.Exec(t.Context(), "UPDATE signforms_outbox SET told = changes")
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return pgxtx.Forget(t.Context(), box, tx, "1") }))
	_, err = box.Get(t.Context(), db, "1")
	require.ErrorIs(t, err, outbox.ErrKeyUnknown)
}
