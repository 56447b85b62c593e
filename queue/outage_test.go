package queue_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// newRole makes a role in the stage's schema and returns a DSN for it.
func (s stage) newRole(settings string) where {
	s.Helper()
	var schema string
	for field := range strings.FieldsSeq(string(s.where)) {
		if name, found := strings.CutPrefix(field, "search_path="); found {
			schema = name
		}
	}
	role := "role_" + schema
	s.exec(fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; GRANT ALL ON SCHEMA %[2]s TO %[1]s; GRANT ALL ON ALL TABLES IN SCHEMA %[2]s TO %[1]s; ALTER ROLE %[1]s SET %[3]s`,
		role, schema, settings))
	return where(strings.Replace(string(s.where), "user=queue", "user="+role, 1))
}

// The counter of ids goes back when logical replication moves the database without its sequences.
func TestIDs_goBack(t *testing.T) {
	t.Parallel()
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	q := s.queue(&queue.Options{Retries: []time.Duration{3 * time.Second}, Workers: 8, Timeout: 30 * time.Second})
	s.exec("ALTER TABLE signforms_events ALTER COLUMN id RESTART WITH 1000000")
	for key := range 12 {
		s.accept(q, completed(fmt.Sprint("old-", key), 1), completed(fmt.Sprint("old-", key), 2))
	}
	stop := s.run(q, failing("not yet"))
	s.until(q, func(st queue.Stats) bool { return st.Retried >= 12 && st.Running == 0 })
	stop()
	s.exec("ALTER TABLE signforms_events ALTER COLUMN id RESTART WITH 1")
	for key := range 12 {
		s.accept(q, completed(fmt.Sprint("old-", key), 3))
	}
	var j journal
	s.run(q, j.noting(nil))
	for n := range 30 {
		s.accept(q, completed(fmt.Sprint("new-", n), 1))
	}
	require.Eventually(t, func() bool { return len(j.all()) == 12*3+30 }, 25*time.Second, 50*time.Millisecond, "%v", j.all())
	s.settled(q)

	s.exec("ALTER TABLE signforms_events ALTER COLUMN id RESTART WITH 1")
	err := q.Store(t.Context(), s.parsed(completed("twice", 1)))
	require.ErrorContains(t, err, "the sequence of signforms_events.id went back")
}

// A client with an open snapshot makes searches of all events and of all ordering keys slow.
func TestRun_slowSearches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, statement string }{
		{name: "of pending events", statement: "SELECT count(*) FROM (SELECT 1 FROM signforms_events WHERE state = 0"},
		{name: "of all ordering keys", statement: "greatest(due, lease) >=  '0' "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, s := newProxy(t, row.statement)
			defer p.end()
			s.where = where(strings.Replace(string(s.where), "=exec", "=simple_protocol", 1))
			q := s.queue(nil)
			began := make(chan struct{}, 9)
			s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error { began <- struct{}{}; return nil }})
			for n := range 3 {
				s.accept(q, completed(fmt.Sprint(n), 1))
				select {
				case <-began:
				case <-time.After(4 * time.Second):
					require.Fail(t, "the event did not run")
				}
			}
		})
	}
}

// The bound on pending events holds when counts succeed again.
func TestMaxPending_afterAFailedCount(t *testing.T) {
	t.Parallel()
	p, s := newProxy(t, "")
	defer p.end()
	q := s.queue(&queue.Options{MaxPending: 3})
	s.exec("ALTER TABLE signforms_events RENAME COLUMN state TO stated")
	require.NoError(t, q.Store(t.Context(), s.parsed(completed("a", 1), completed("a", 2), completed("a", 3))))
	s.exec("ALTER TABLE signforms_events RENAME COLUMN stated TO state")
	time.Sleep(1100 * time.Millisecond)
	require.ErrorIs(t, q.Store(t.Context(), s.parsed(completed("a", 4))), queue.ErrFull)
}

// Logical replication refuses to update a table without a primary key.
func TestSweep_publishedTables(t *testing.T) {
	t.Parallel()
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	q := s.queue(&queue.Options{Retries: []time.Duration{}, KeepFailed: time.Millisecond, KeepKeys: time.Millisecond})
	fail := func(document string) {
		s.accept(q, completed(document, 1))
		stop := s.run(q, failing("no"))
		s.settled(q)
		stop()
		time.Sleep(5 * time.Millisecond)
	}
	s.exec("DROP PUBLICATION IF EXISTS everything_of_the_queue")
	s.exec("CREATE PUBLICATION everything_of_the_queue FOR TABLE signforms_events, signforms_ordering_keys, signforms_queue_clock, signforms_queue_schema")
	require.NoError(t, q.Sweep(t.Context()))
	fail("a")
	require.NoError(t, q.Sweep(t.Context()))
	require.NotContains(t, s.states(q), "a/failed") // its row may be deleted too, if the sweep took longer than KeepKeys
	s.exec("ALTER TABLE signforms_queue_clock RENAME TO no_clock")
	fail("b")
	require.ErrorContains(t, q.Sweep(t.Context()), "signforms_queue_clock")
	require.NotContains(t, s.states(q), "b/failed", "erased although another step of the sweep failed")
}

// Connections that were made while the database was read-only stay so.
func TestReceive_readOnlyConnections(t *testing.T) {
	t.Parallel()
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	s.queue(nil)
	role := s.newRole("default_transaction_read_only = on")
	other := stage{T: t, where: role}
	pool, err := pgxpool.New(t.Context(), string(role))
	require.NoError(t, err)
	defer pool.Close()
	q, err := queue.OpenPostgres(t.Context(), pool, nil)
	require.NoError(t, err)
	defer q.Close()
	for _, conn := range func() (all []*pgxpool.Conn) { // the pool is full of them
		for range 8 {
			conn, err := pool.Acquire(t.Context())
			require.NoError(t, err)
			all = append(all, conn)
		}
		return all
	}() {
		conn.Release()
	}
	require.Equal(t, http.StatusServiceUnavailable, other.deliver(q, webhooktest.Payload(completed("a", 1))).Code)
	s.exec("ALTER ROLE " + strings.Fields(string(role)[strings.Index(string(role), "user=")+len("user="):])[0] + " RESET ALL")
	time.Sleep(1100 * time.Millisecond)
	for n := range 20 {
		other.accept(q, completed("b", n))
	}
}

// The bytes read do not depend on the format in which a session sends them.
func TestOpenPostgres_byteaOutput(t *testing.T) {
	for _, protocol := range []string{"cache_statement", "exec", "simple_protocol", "transaction"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var s stage
			if protocol == "transaction" {
				s = stage{T: t, where: where(bouncer(t, protocol, "bytea_output = 'escape'") + " default_query_exec_mode=exec")}
				s.awaitPing()
			} else {
				s = stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
				s.where = s.newRole("bytea_output = 'escape'") + where(" default_query_exec_mode="+protocol)
			}
			q := s.queue(&queue.Options{KeepBodies: time.Hour})
			var j journal
			s.run(q, j.noting(nil))
			s.accept(q, completed("a", 1))
			require.Eventually(t, func() bool { return len(j.all()) == 1 }, 10*time.Second, 10*time.Millisecond)
			s.settled(q)
			entry := s.list(q, queue.Filter{})[0]
			require.Equal(t, webhook.ReplayKeys(s.parsed(completed("a", 1)))[0].String(), entry.Key)
			body, err := q.Body(t.Context(), entry.ID)
			require.NoError(t, err)
			require.JSONEq(t, `{"webhookEvent":"new_signature_pdf_completed","documentId":"a","documentName":"1"}`, string(body))
		})
	}
}

// A database in LATIN1 cannot store every character of an error or of an event's type.
func TestOpenPostgres_databaseWithoutUnicode(t *testing.T) {
	t.Parallel()
	c := sharedPostgres(t)
	_, err := c.pool.Exec(t.Context(), "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0")
	require.NoError(t, err)
	s := stage{T: t, where: where(strings.Replace(c.dsn("public"), "dbname=postgres", "dbname=latin", 1))}
	q := s.queue(&queue.Options{Retries: []time.Duration{}})
	require.Equal(t, http.StatusOK, s.deliver(q, []byte(`{"webhookEvent":"署名","documentId":"文書"}`)).Code)
	s.accept(q, completed("a", 1))
	s.run(q, failing("失敗 é"))
	s.settled(q)
	failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
	require.Len(t, failed, 2)
	require.Equal(t, `\u5931\u6557 \u00e9`, failed[1].Error)
	require.Equal(t, 1, failed[1].Attempts)
	require.Len(t, s.list(q, queue.Filter{Type: "署名"}), 1)
}

// Statistics from before an outage say that no event has failed.
func TestReceive_planOfARedelivery(t *testing.T) {
	t.Parallel()
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	s.queue(nil)
	s.exec(`INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received, state, settled)
		SELECT int8send(i), i, 'x', 'x', 'x', '', 1, 1, 1 FROM generate_series(1, 20000) AS i`)
	s.exec("ANALYZE signforms_events")
	s.exec(`INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received, state, settled)
		SELECT int8send(i), i, 'x', 'x', 'x', '', 1, 2, 1 FROM generate_series(20001, 50000) AS i`)
	plan := strings.Join(s.strings("EXPLAIN "+strings.NewReplacer("$1", "ARRAY[int8send(30000)]", "$2", "1").Replace(queue.Redrive)), "\n")
	require.Contains(t, plan, "signforms_events_dedupe_key")
}
