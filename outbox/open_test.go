package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

func TestOpen_refusesAnotherService(t *testing.T) {
	eachStore(t, func(f *fixture) {
		o := f.srv.ClientOptions()
		o.WorkspaceID = "another"
		other, err := signforms.New(f.srv.URL, f.srv.APIKey, o)
		require.NoError(f, err)
		_, err = Open(f.Context(), f.db, other, nil)
		require.ErrorIs(f, err, ErrOtherService)
		_, err = Open(f.Context(), f.db, other, &Options{Name: "other"})
		require.NoError(f, err, "two accounts are two names")
		_, err = Open(f.Context(), f.db, nil, nil)
		require.NoError(f, err)
		_, err = Open(f.Context(), f.db, other, &Options{Moved: true})
		require.NoError(f, err)
		_, err = Open(f.Context(), f.db, f.client(), nil)
		require.ErrorIs(f, err, ErrOtherService)
	})
}

func TestOpen_boxesDoNotMix(t *testing.T) {
	eachStore(t, func(f *fixture) {
		other := f.open(&Options{Name: "other", Now: f.now, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(f, other.Add(f.Context(), f.db, Message{Key: "1", Send: f.to("ann@example.com")}))
		f.pass(time.Minute)
		require.Empty(f, f.states())
		require.Zero(f, f.sends())
	})
}

func TestOpen_SQLiteSettings(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		conns  int
		want   string
	}{
		"file":               {sqliteSource(filepath.Join(t.TempDir(), "a.db")), 0, ""},
		"journal OFF":        {"file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(OFF)", 0, "journal_mode"},
		"journal MEMORY":     {"file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(MEMORY)", 0, "journal_mode"},
		"memory":             {":memory:", 0, "SetMaxOpenConns(1)"},
		"memory, MaxConns 1": {":memory:", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db := place{"sqlite", c.source}.open(t)
			db.SetMaxOpenConns(c.conns)
			_, err := Open(t.Context(), db, nil, nil)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

// Claims are made with synchronous=FULL, and the connection keeps its own setting afterwards.
func TestWrite_durable(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.db.SetMaxOpenConns(1)
	level := func(q Querier) (n int) {
		rows, err := q.QueryContext(t.Context(), "PRAGMA synchronous")
		require.NoError(t, err)
		defer rows.Close()
		require.True(t, rows.Next())
		require.NoError(t, rows.Scan(&n))
		return n
	}
	for _, c := range []struct {
		durable bool
		want    int
	}{{true, 2}, {false, 1}} {
		require.NoError(t, f.write(t.Context(), mode{durable: c.durable}, func(t *tx) { assert.Equal(f, c.want, level(t.on)) }))
		require.Equal(t, 1, level(f.db))
	}
}

func TestWrite_durableOnPostgres(t *testing.T) {
	f := newFixture(t, postgresPlace(t))
	for before, want := range map[string]string{"off": "on", "local": "on", "remote_apply": "remote_apply"} {
		f.db.SetMaxOpenConns(1)
		f.exec("SET synchronous_commit = " + before)
		require.NoError(t, f.write(t.Context(), mode{durable: true}, func(t *tx) {
			var got string
			t.first([]any{&got}, "SELECT current_setting('synchronous_commit')")
			assert.Equal(f, want, got)
		}))
	}
}

func TestOpen_schema(t *testing.T) {
	eachStore(t, func(f *fixture) {
		db := sqlitePlace(f.T).open(f.T)
		if f.d == Postgres {
			db = postgresPlace(f.T).open(f.T)
		}
		open := func(o *Options) error {
			_, err := Open(f.Context(), db, nil, o)
			return err
		}
		set := func(version int) {
			_, err := db.Exec(fmt.Sprintf("UPDATE signforms_outbox_boxes SET version = %d WHERE name = ''", version))
			require.NoError(f, err)
		}
		require.ErrorContains(f, open(&Options{NoSchema: true}), "outbox.Schema")
		_, err := db.Exec(Schema(f.d))
		require.NoError(f, err)
		require.NoError(f, open(&Options{NoSchema: true}))
		set(schemaVersion() + 1)
		require.NoError(f, open(nil), "the version before goes on working")
		set(schemaVersion() + 2)
		require.ErrorContains(f, open(nil), "newer version of the program")
	})
}

// Open upgrades the tables by adding a column, while a process with the version before goes on working.
func TestUpgrade(t *testing.T) {
	for name, at := range map[string]func(testing.TB) place{"SQLite": sqlitePlace, "Postgres": postgresPlace} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, at(t))
			before := schemaVersion()
			upgrades = append(upgrades, "ALTER TABLE signforms_outbox ADD COLUMN color TEXT NOT NULL DEFAULT '';\n")
			defer func() { upgrades = upgrades[:len(upgrades)-1] }()
			_, err := Open(t.Context(), f.db, nil, &Options{NoSchema: true})
			require.ErrorContains(t, err, fmt.Sprintf("outbox.Upgrade(dialect, %d)", before))
			for range 2 { // the second time there is nothing to do
				_, err = Open(t.Context(), f.db, nil, nil)
				require.NoError(t, err)
			}
			f.exec("UPDATE signforms_outbox SET color = 'red'")
			f.add("1", "ann@example.com")
			f.work()
			require.Equal(t, []string{"1 sent"}, f.states())
			_, err = Open(t.Context(), f.db, nil, &Options{NoSchema: true})
			require.NoError(t, err)
			for _, from := range []int{0, before + 2} {
				_, err = Upgrade(f.d, from)
				require.Error(t, err)
			}
		})
	}
}

func TestOpen_atTheSameTime(t *testing.T) {
	eachStore(t, func(f *fixture) {
		p := sqlitePlace(f.T)
		if f.d == Postgres {
			p = postgresPlace(f.T)
		}
		var wg sync.WaitGroup
		for range 8 {
			db := p.open(f.T)
			wg.Go(func() {
				if _, err := Open(f.Context(), db, nil, nil); err != nil {
					f.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// Several processes send the messages of one box.
func TestRun_severalProcesses(t *testing.T) {
	eachStore(t, func(f *fixture) {
		const messages = 60
		ctx, cancel := context.WithCancel(f.Context())
		defer cancel()
		var wg sync.WaitGroup
		var mu sync.Mutex
		told := map[string]int{}
		for range 3 {
			db := f.place.open(f.T)
			db.SetMaxOpenConns(2)
			b, err := Open(ctx, db, f.srv.Client(), &Options{Logger: slog.New(slog.DiscardHandler), PollInterval: 50 * time.Millisecond,
				OnChange: func(_ context.Context, _ *sql.Tx, e Entry) error {
					mu.Lock()
					defer mu.Unlock()
					told[e.Key]++
					return nil
				}})
			require.NoError(f, err)
			wg.Go(func() { assert.NoError(f, b.Run(ctx)) })
		}
		for i := range messages {
			f.add(fmt.Sprint(i), fmt.Sprint("p", i, "@example.com"))
		}
		require.Eventually(f, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(told) == messages
		}, time.Minute, 10*time.Millisecond)
		cancel()
		wg.Wait()
		require.Len(f, f.srv.Documents(), messages)
		for key, n := range told {
			require.Equal(f, 1, n, key)
		}
		for _, s := range f.states() {
			require.Contains(f, s, " sent")
		}
	})
}

// The server ends all connections of Run, as at a failover: Run goes on.
func TestRun_lostConnections(t *testing.T) {
	c := sharedPostgres(t)
	f := newFixture(t, place{"pgx", c.newSchema(t)})
	b, err := Open(t.Context(), place{"pgx", f.place.source + " application_name=lost"}.open(t), f.srv.Client(),
		&Options{Logger: slog.New(slog.DiscardHandler), PollInterval: 50 * time.Millisecond})
	require.NoError(t, err)
	stop := runBox(t, b)
	for i := range 20 {
		f.add(fmt.Sprint(i), fmt.Sprint("p", i, "@example.com"))
		_, err := c.db.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'")
		require.NoError(t, err)
		time.Sleep(10 * time.Millisecond)
	}
	require.Eventually(t, func() bool { // a claim whose commit got lost waits longer
		var n int
		err := f.db.QueryRow("SELECT count(*) FROM signforms_outbox WHERE state = 'sent'").Scan(&n)
		return err == nil && n >= 15
	}, time.Minute, 50*time.Millisecond)
	stop()
	require.LessOrEqual(t, len(f.srv.Documents()), 20)
}
