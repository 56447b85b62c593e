package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// old puts the events of testdata, which commit a7e257f stored, into an empty store.
func (s stage) old() {
	s.Helper()
	if !s.isFile() {
		script, err := os.ReadFile("testdata/a7e257f.sql")
		require.NoError(s, err)
		s.exec(string(script))
		return
	}
	file, err := os.ReadFile("testdata/a7e257f.db")
	require.NoError(s, err)
	require.NoError(s, os.WriteFile(string(s.where), file, 0o600))
}

// A queue of an older version keeps its events, their states and their order.
func TestOlderQueueIsMigrated(t *testing.T) {
	eachStore(t, func(s stage) {
		s.old()
		q := s.queue(&queue.Options{Retries: []time.Duration{8 * time.Hour, 8 * time.Hour}})
		all := s.list(q, queue.Filter{})
		require.Len(s, all, 9)
		require.Equal(s, "done failed retrying retrying odd   fresh fresh", subjects(all))
		require.Equal(s, queue.Failed, all[1].State)
		require.Equal(s, "no luck", all[1].Error)
		require.Equal(s, 1, all[2].Attempts)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, []byte(`{"webhookEvent":"new_signature_pdf_completed","documentName":"1","documentId":"done"}`)).Body.String())
		n, err := q.Retry(s.Context(), queue.Filter{Failed: true, Pending: true})
		require.NoError(s, err)
		var j journal
		on := j.noting(nil)
		on.Unknown = nil
		s.accept(q, completed("fresh", 3))
		stop := s.run(q, on)
		st := s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.Equal(s, 1, st.Failed, "one is no object")
		ran := j.all()
		require.Subset(s, ran, []string{"failed/1", "retrying/1", "retrying/2", "fresh/1", "fresh/2", "fresh/3"})
		require.Less(s, n, 9)
		stop()
		require.NoError(s, q.Close())
		require.Len(s, s.list(s.queue(nil), queue.Filter{}), 10, "opens again")
	})
}

func subjects(all []queue.Entry) (list string) {
	for i, e := range all {
		if i > 0 {
			list += " "
		}
		list += e.Subject
	}
	return list
}

// Once the tables are there, a role that may only read and write them receives and works.
func TestRoleWithoutDDL(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	pool, err := pgxpool.New(t.Context(), string(s.where))
	require.NoError(t, err)
	defer pool.Close()
	poor := where(strings.Replace(string(s.where), "user=queue", "user=poor", 1))
	s.exec(`DO $$ BEGIN CREATE ROLE poor LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;
		DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO poor'; END $$`)
	_, _, err = poor.open(t.Context(), nil)
	require.ErrorContains(t, err, "run signforms-queue migrate")

	s.old()
	s.exec(`GRANT SELECT, INSERT, UPDATE, DELETE ON signforms_events, signforms_lines, signforms_queue_schema TO poor`)
	_, _, err = poor.open(t.Context(), nil)
	require.ErrorContains(t, err, "the tables have schema version 1, and this role may not migrate them")
	before, after, err := queue.MigratePostgres(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, []int{1, queue.NewestSchema}, []int{before, after})
	s.exec(`GRANT SELECT, UPDATE ON signforms_queue_clock TO poor`)

	s.where = poor
	q := s.queue(nil)
	var j journal
	s.run(q, j.noting(nil))
	s.accept(q, completed("new", 1))
	s.until(q, func(queue.Stats) bool { return slices.Contains(j.all(), "new/1") })
	before, after, err = queue.MigratePostgres(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// The printed SQL makes the same tables as OpenPostgres, and migrates old ones.
func TestPostgresSQL(t *testing.T) {
	c := sharedPostgres(t)
	tables := func(prepare func(s stage)) (columns string) {
		s := stage{T: t, where: where(c.newSchema(t))}
		prepare(s)
		pool, err := pgxpool.New(t.Context(), string(s.where))
		require.NoError(t, err)
		defer pool.Close()
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(line, E'\n' ORDER BY line) FROM (
			SELECT concat_ws(' ', table_name, column_name, data_type, column_default, is_nullable) AS line FROM information_schema.columns WHERE table_schema = current_schema()
			UNION ALL SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes WHERE schemaname = current_schema()
			UNION ALL SELECT 'version ' || max(version) || ' ' || max(oldest) FROM signforms_queue_schema) AS lines`).Scan(&columns))
		return columns
	}
	script := func(from int) func(stage) {
		text, err := queue.PostgresSQL(from)
		require.NoError(t, err)
		return func(s stage) { s.exec(text) }
	}
	opened := tables(func(s stage) { s.queue(nil) })
	require.Equal(t, opened, tables(script(0)))
	require.Equal(t, opened, tables(func(s stage) { s.old(); script(1)(s) }))
	for _, unknown := range []int{-1, queue.NewestSchema + 1} {
		_, err := queue.PostgresSQL(unknown)
		require.Error(t, err)
	}
}

// A newer schema is refused, unless it says that programs of this version can use it.
func TestNewerSchemaThatOlderProgramsCanUse(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		require.NoError(s, q.Close())
		s.exec(fmt.Sprintf("INSERT INTO signforms_queue_schema (version, oldest) VALUES (%d, %d)", queue.NewestSchema+1, queue.NewestSchema))
		if s.isFile() {
			s.exec(fmt.Sprint("PRAGMA user_version = ", queue.NewestSchema+1))
		}
		require.Len(s, s.list(s.queue(nil), queue.Filter{}), 1)
		s.exec("UPDATE signforms_queue_schema SET oldest = version")
		_, _, err := s.open(s.Context(), nil)
		require.ErrorContains(s, err, "newer version of the program")
	})
}

// A program of an older version may run an event again without saying so in its line.
func TestEventBelowTheLowestOfItsLine(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1), completed("a", 2))
		s.exec("UPDATE signforms_lines SET low = (SELECT max(id) FROM signforms_events)")
		var j journal
		s.run(q, j.noting(nil))
		s.settled(q)
		require.Equal(s, []string{"a/2", "a/1"}, j.all())
	})
}

// While a long reader holds a table, a migration waits for it without making others wait, and says who it is.
func TestMigrationBehindALongReader(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	s.old()
	pool, err := pgxpool.New(t.Context(), string(s.where))
	require.NoError(t, err)
	defer pool.Close()
	reader, err := pgx.Connect(t.Context(), strings.TrimSuffix(string(s.where), poolSize)+" application_name=report")
	require.NoError(t, err)
	defer reader.Close(t.Context())
	_, err = reader.Exec(t.Context(), "BEGIN; SELECT count(*) FROM signforms_events")
	require.NoError(t, err)

	text, err := queue.PostgresSQL(1)
	require.NoError(t, err)
	bounded, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = pool.Exec(bounded, text)
	require.ErrorContains(t, err, "lock timeout")
	_, err = pool.Exec(t.Context(), "ROLLBACK")
	require.NoError(t, err)

	var log logged
	open := func(ctx context.Context) (opened chan error) {
		opened = make(chan error, 1)
		go func() {
			q, err := queue.OpenPostgres(ctx, pool, &queue.Options{Logger: log.logger()})
			if err == nil {
				err = q.Close()
			}
			opened <- err
		}()
		for before := log.count("cannot be migrated yet"); log.count("cannot be migrated yet") == before; {
			_, err = pool.Exec(bounded, "INSERT INTO signforms_lines (id, due) VALUES (7, 1) ON CONFLICT (id) DO NOTHING") // what a delivery needs
			require.NoError(t, err)
		}
		return opened
	}
	ctx, stop := context.WithCancelCause(t.Context())
	opened := open(ctx)
	stop(errors.New("no patience"))
	err = <-opened
	require.ErrorContains(t, err, "no patience")
	require.ErrorContains(t, err, fmt.Sprintf("pid %d of queue, application report", reader.PgConn().PID()))

	opened = open(t.Context())
	_, err = reader.Exec(t.Context(), "COMMIT")
	require.NoError(t, err)
	require.NoError(t, <-opened)
}
