package queue_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// Once the tables are there, a role that may only read and write them receives and works.
func TestOpenPostgres_roleWithoutDDL(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	pool, err := pgxpool.New(t.Context(), string(s.where))
	require.NoError(t, err)
	defer pool.Close()
	poor := where(strings.Replace(string(s.where), "user=queue", "user=poor", 1))
	s.exec(`DO $$ BEGIN CREATE ROLE poor LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;
		DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO poor'; END $$`)
	_, _, err = poor.open(t.Context(), nil)
	require.ErrorContains(t, err, "run signforms-queue create")

	made, err := queue.CreateTables(t.Context(), pool)
	require.NoError(t, err)
	require.True(t, made)
	s.exec(`GRANT SELECT, INSERT, UPDATE, DELETE ON signforms_events, signforms_ordering_keys TO poor;
		GRANT SELECT, UPDATE ON signforms_queue_clock TO poor; GRANT SELECT ON signforms_queue_schema TO poor`)

	s.where = poor
	q := s.queue(nil)
	var j journal
	s.run(q, j.noting(nil))
	s.accept(q, completed("new", 1))
	s.until(q, func(queue.Stats) bool { return slices.Contains(j.all(), "new/1") })
	made, err = queue.CreateTables(t.Context(), pool)
	require.NoError(t, err)
	require.False(t, made)
}

// The printed SQL makes the same tables as OpenPostgres.
func TestTablesSQL(t *testing.T) {
	c := sharedPostgres(t)
	tables := func(prepare func(s stage)) (columns string) {
		s := stage{T: t, where: where(c.newSchema(t))}
		prepare(s)
		pool, err := pgxpool.New(t.Context(), string(s.where))
		require.NoError(t, err)
		defer pool.Close()
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(line, E'\n' ORDER BY line) FROM (
			SELECT concat_ws(' ', table_name, column_name, data_type, column_default, is_nullable) AS line
				FROM information_schema.columns WHERE table_schema = current_schema()
			UNION ALL SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes WHERE schemaname = current_schema()
			UNION ALL SELECT 'version ' || max(version) FROM signforms_queue_schema) AS lines`).Scan(&columns))
		return columns
	}
	require.Equal(t, tables(func(s stage) { s.queue(nil) }), tables(func(s stage) { s.exec(queue.TablesSQL()) }))
}

// Tables of another version are refused and stay as they are.
func TestOpen_otherVersionsAreRefused(t *testing.T) {
	eachStore(t, func(s stage) {
		require.NoError(s, s.queue(nil).Close())
		for _, row := range []struct {
			version int
			says    string
		}{
			{version: queue.SchemaVersion - 1, says: "let the older version of the program that made them process their events"},
			{version: queue.SchemaVersion + 1, says: "newer version of the program"},
		} {
			if s.isFile() {
				s.exec(fmt.Sprint("PRAGMA user_version = ", row.version))
			} else {
				s.exec(fmt.Sprint("UPDATE signforms_queue_schema SET version = ", row.version))
			}
			for range 2 {
				_, _, err := s.open(s.Context(), nil)
				require.ErrorContains(s, err, row.says)
			}
		}
	})
}

// The command makes no tables where a queue's are missing, whatever is left of one.
func TestOpen_commandMakesNoTables(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "signforms-queue")
	out, err := exec.Command("go", "build", "-o", program, "./cmd/signforms-queue").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, row := range []struct {
		says string
		left func(s stage)
	}{
		{says: "says no version", left: func(s stage) { s.queue(nil); s.exec("DELETE FROM signforms_queue_schema") }},
		{says: "has no tables of a queue", left: func(s stage) { s.exec("CREATE TABLE signforms_queue_schema (version INTEGER NOT NULL)") }},
		{says: "newer version of the program", left: func(s stage) { s.queue(nil); s.exec("UPDATE signforms_queue_schema SET version = 999") }},
	} {
		t.Run(row.says, func(t *testing.T) {
			s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
			row.left(s)
			for _, args := range []string{"list", "stats", "retry -pending", "erase -pending"} {
				t.Run(args, func(t *testing.T) {
					out, err := exec.Command(program, append(strings.Fields(args), "-postgres", string(s.where))...).CombinedOutput()
					exit, ended := errors.AsType[*exec.ExitError](err)
					require.True(t, ended, string(out))
					require.Equal(t, 1, exit.ExitCode(), string(out))
					require.Contains(t, string(out), row.says)
				})
			}
		})
	}
}
