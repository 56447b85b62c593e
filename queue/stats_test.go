package queue_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// Stats shows which event blocks its ordering key, since when, and how many events wait for it.
func TestStats_blockedOrderingKey(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{time.Hour}})
		goOn := make(chan struct{})
		s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			switch e.SubjectID() {
			case "poison":
				return errors.New("no luck")
			case "slow":
				<-goOn
			}
			return nil
		}})
		s.accept(q, completed("slow", 1))
		time.Sleep(10 * time.Second)
		s.accept(q, completed("poison", 1), completed("poison", 2), completed("sound", 1))
		time.Sleep(30 * time.Second)
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.Zero(s, st.Lag, "what runs or waits for its next try is no lag")
		require.Equal(s, 1, st.Running)
		require.Equal(s, 30*time.Second, st.Oldest, "of those that wait")
		require.Equal(s, 1, st.BlockedOrderingKeys)
		require.Len(s, st.Blocked, 1)
		b := st.Blocked[0]
		require.InDelta(s, time.Hour.Seconds(), time.Until(b.Due).Seconds(), 400)
		b.Due = time.Time{}
		first := s.list(q, queue.Filter{Document: "poison"})[0]
		require.Equal(s, queue.Blocked{OrderingKey: "document:poison", ID: first.ID, Type: webhook.TypeSignatureCompleted, Subject: "poison", Attempts: 1, Error: "no luck", Waiting: 2}, b)
		text, err := json.Marshal(b) // as signforms-queue prints it
		require.NoError(s, err)
		require.JSONEq(s, fmt.Sprintf(`{"ordering_key":"document:poison","event":%d,"type":"new_signature_pdf_completed","subject":"poison","attempts":1,"error":"no luck",
			"due":"0001-01-01T00:00:00Z","waiting":2}`, first.ID), string(text))
		close(goOn)
	})
}

// Counts end at CountLimit, so that reading them does not take longer and longer.
func TestStats_countLimit(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.exec(fmt.Sprintf(`INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= %d) SELECT %s, i, 'x', 'x', 'x', '', 1 FROM n`,
			queue.CountLimit+10, map[bool]string{true: "i", false: "int8send(i)"}[s.isFile()]))
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.Equal(s, queue.CountLimit, st.Pending)
		require.Zero(s, st.OrderingKeys)
	})
}

// The first pending event of an ordering key is found in the index of pending events, however many
// of its events are settled.
func TestClaim_planForALongOrderingKey(t *testing.T) {
	eachStore(t, func(s stage) {
		s.queue(nil)
		s.exec(fmt.Sprintf(`INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received, state, settled)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT %s, 7, 'x', 'x', 'x', '', 1, CASE WHEN i < 15000 THEN 1 ELSE 0 END, 1 FROM n`,
			map[bool]string{true: "i", false: "int8send(i)"}[s.isFile()]))
		s.exec("ANALYZE")
		plan := strings.Join(s.strings(map[bool]string{true: "EXPLAIN QUERY PLAN ", false: "EXPLAIN "}[s.isFile()]+
			strings.NewReplacer("$1", "7", "$2", "0").Replace(queue.FirstEvent[s.isFile()])), "\n")
		require.Contains(s, plan, "signforms_events_pending")
		require.NotContains(s, strings.ToLower(plan), "sort")
		require.NotContains(s, plan, "TEMP B-TREE")
	})
}

// No statement of receiving, working, sweeping and Stats reads the rows of all events, of which
// most are keys that are only kept.
func TestOpenSQLite_plans(t *testing.T) {
	s := stage{T: t, where: newFile(t)}
	q := s.queue(&queue.Options{Retries: []time.Duration{time.Hour}})
	s.accept(q, completed("waits", 1), completed("sound", 1))
	stop := s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		if e.SubjectID() == "waits" {
			return errors.New("no luck")
		}
		return nil
	}})
	s.until(q, func(st queue.Stats) bool { return st.Processed == 1 && st.Retried == 1 })
	stop()
	require.NoError(t, q.Sweep(t.Context()))
	statements, err := q.Prepared(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(statements), 30)
	db, err := sql.Open("sqlite", "file:"+string(s.where))
	require.NoError(t, err)
	defer db.Close()
	for _, text := range statements {
		plan := s.plan(db, text)
		if !strings.Contains(text, "ORDER BY id DESC LIMIT") {
			require.NotRegexp(t, `SCAN signforms_events\n|SCAN signforms_events$`, plan, text)
		}
		if strings.Contains(text, "FROM signforms_events") {
			require.NotContains(t, plan, "TEMP B-TREE", text)
		}
	}
}

// strings returns the last column of a query's rows.
func (s stage) strings(query string) (all []string) {
	s.Helper()
	driver, source := "pgx", strings.TrimSuffix(string(s.where), poolSize)
	if s.isFile() {
		driver, source = "sqlite", "file:"+source
	}
	db, err := sql.Open(driver, source)
	require.NoError(s, err)
	defer db.Close()
	rows, err := db.QueryContext(s.Context(), query)
	require.NoError(s, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(s, err)
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		require.NoError(s, rows.Scan(into...))
		all = append(all, fmt.Sprint(row[len(row)-1]))
	}
	require.NoError(s, rows.Err())
	return all
}

// plan returns the plan of a statement of SQLite. Its parameters are bound, because a partial index
// is chosen by literals only.
func (s stage) plan(db *sql.DB, statement string) (plan string) {
	s.Helper()
	args := make([]any, strings.Count(statement, "$"))
	for n := range args {
		args[n] = 1
	}
	for len(args) > 0 && !strings.Contains(statement, fmt.Sprint("$", len(args))) {
		args = args[1:]
	}
	rows, err := db.QueryContext(s.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	require.NoError(s, err, statement)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(s, rows.Scan(&id, &parent, &unused, &detail))
		plan += "\n\t" + detail
	}
	require.NoError(s, rows.Err())
	return plan
}
