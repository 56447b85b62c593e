package queue_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// Each version of modernc.org/sqlite needs one version of modernc.org/libc. Any other pair may corrupt data.
func TestGoMod_libcOfTheDriver(t *testing.T) {
	list := func(format string, args ...string) string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-m", "-f", format}, args...)...).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	text, err := os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite"))
	require.NoError(t, err)
	require.Contains(t, string(text), "modernc.org/libc "+list("{{.Version}}", "modernc.org/libc")+"\n")
}

func TestOpenSQLite_privateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name?%20#.db")
	q, err := queue.OpenSQLite(path, nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "%", "%25", "#", "%23").Replace(path))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("PRAGMA application_id = 1")
	require.NoError(t, err)
	_, err = queue.OpenSQLite(path, nil)
	require.ErrorContains(t, err, "another program's database")
	_, err = queue.OpenSQLite(filepath.Join(path, "no", "folder"), nil)
	require.Error(t, err)
	_, err = queue.OpenSQLite("", nil)
	require.ErrorContains(t, err, "path of a file")
}

func TestOpen_concurrently(t *testing.T) {
	eachStore(t, func(s stage) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, close, err := s.open(s.Context(), nil)
				if err == nil {
					err = close()
				}
				if err != nil {
					s.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestReceive_slowDisk(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		var delay atomic.Int64
		o := &queue.Options{}
		o.SetSync(func() { time.Sleep(time.Duration(delay.Load())) })
		q := s.queue(o)
		delay.Store(int64(5 * time.Millisecond))
		begun := time.Now()
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				for n := range 10 {
					w := s.deliver(q, webhooktest.Payload(completed(fmt.Sprint(i), n)))
					assert.Equal(s, http.StatusOK, w.Code, w.Body.String())
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(s, time.Since(begun), 640*5*time.Millisecond/20, "writes of several senders share a sync")
		delay.Store(int64(3 * time.Second))
		begun = time.Now()
		require.Equal(s, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("late", 1))).Code)
		require.Equal(s, 2*time.Second, time.Since(begun))
		time.Sleep(3 * time.Second)
		delay.Store(0)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, webhooktest.Payload(completed("late", 1))).Body.String(), "it was stored after all")
	})
}

// Outcomes need not be on the disk at once. Outcomes within a tenth of a second share a sync, and no outcome waits for it.
func TestSettle_outcomesShareSyncs(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		var syncs atomic.Int64
		o := &queue.Options{}
		o.SetSync(func() { syncs.Add(1) })
		q := s.queue(o)
		var events []webhook.Event
		for n := range 200 {
			events = append(events, completed("a", n))
		}
		s.accept(q, events...)
		syncs.Store(0)
		var j journal
		s.run(q, j.noting(func(context.Context, webhook.Event) error { time.Sleep(10 * time.Millisecond); return nil }))
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.InDelta(s, 2000/100, syncs.Load(), 3, "in two seconds of work")
	})
}

func TestReceive_lockedFile(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		q := s.queue(nil)
		var j journal
		s.run(q, j.noting(nil))
		s.accept(q, completed("a", 1))
		s.settled(q)
		unlock := s.lock()
		require.Equal(s, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("a", 2))).Code)
		unlock()
		s.accept(q, completed("a", 2))
		s.settled(q)
		require.Equal(s, []string{"a/1", "a/2"}, j.all())
	})
}

func TestRun_postgresStopsAndRestarts(t *testing.T) {
	t.Parallel()
	if _, err := findPostgres(); err != nil {
		sharedPostgres(t) // skips or fails
	}
	c, err := startCluster()
	require.NoError(t, err)
	t.Cleanup(func() { c.stop(); os.RemoveAll(c.dir) })
	s := stage{T: t, where: where(c.newSchema(t))}
	q := s.queue(&queue.Options{Timeout: 30 * time.Second})
	var j journal
	began, goOn := make(chan struct{}, 10), make(chan struct{})
	s.run(q, j.noting(hold("a/1", began, goOn)))
	s.accept(q, completed("a", 1), completed("a", 2))
	<-began
	c.stop()
	require.Equal(t, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("a", 3))).Code)
	close(goOn) // the outcome of a/1 cannot be stored now
	require.NoError(t, c.start())
	require.Eventually(t, func() bool {
		return s.deliver(q, webhooktest.Payload(completed("a", 3))).Code == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	s.settled(q)
	require.Equal(t, []string{"a/1", "a/2", "a/3"}, j.all(), "the outcome of a/1 is stored when the store is back")
}

// Postgres has no text with a NUL in it.
func TestReceive_oddTexts(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{}})
		long := strings.Repeat("long", 2000)
		payload := `[{"webhookEvent":"new_signature_pdf_completed","documentId":"a\u0000b"},
			{"webhookEvent":"new_signature_pdf_completed","documentId":"` + long + `"},
			{"webhookEvent":"odd\u0000","documentId":"\ud800"},{"formId":7}]`
		require.Equal(s, http.StatusOK, s.deliver(q, []byte(payload)).Code)
		s.run(q, failing("bad \x00\xff text "+long))
		s.settled(q)
		all := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
		require.Len(s, all, 4)
		require.True(s, strings.HasPrefix(all[0].Error, "bad \uFFFD"), all[0].Error)
		require.Len(s, s.list(q, queue.Filter{Document: "a\x00b"}), 1)
		require.Len(s, s.list(q, queue.Filter{Document: long}), 1)
		for _, e := range all {
			require.LessOrEqual(s, len(e.OrderingKey), 200)
			require.LessOrEqual(s, len(e.Error), 510)
		}
	})
}

// Run ends even if another process that was stopped in the middle of a write holds the file's lock.
func TestRun_endWithALockedFile(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration // the function returns this long after the end of Run's ctx
		wait  time.Duration // Run must return within this time
	}{
		{name: "function returns at once", after: 0, wait: 15 * time.Second},
		{name: "function returns after Grace", after: time.Minute, wait: 65 * time.Second},
		{name: "function returns when its ctx ends", after: -1, wait: 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			onFileVirtually(t, func(s stage) {
				var log logged
				q := s.queue(&queue.Options{Timeout: time.Hour, Grace: 5 * time.Second, Logger: log.logger()})
				s.accept(q, completed("a", 1))
				began, goOn := make(chan struct{}), make(chan struct{})
				ctx, cancel := context.WithCancel(s.Context())
				ended := make(chan error, 1)
				go func() {
					ended <- q.Run(ctx, webhook.Funcs{Default: func(ctx context.Context, _ webhook.Event) error {
						close(began)
						if c.after < 0 {
							<-ctx.Done()
							return ctx.Err()
						}
						<-goOn
						return nil
					}})
				}()
				<-began
				unlock := s.lock()
				begun := time.Now()
				cancel()
				time.AfterFunc(max(c.after, 0), func() { close(goOn) })
				require.NoError(s, <-ended)
				require.LessOrEqual(s, time.Since(begun), c.wait)
				unlock()
				require.Zero(s, log.count(`the lease had ended"`), "it had not")
			})
		})
	}
}

// An outcome waits for the store until the ctx of Run has ended and Grace is over.
func TestSettle_waitsForTheStore(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		began, goOn := make(chan struct{}, 1), make(chan struct{})
		stop := s.run(q, webhook.Funcs{Default: hold("a/1", began, goOn)})
		<-began
		unlock := s.lock()
		close(goOn)
		time.AfterFunc(20*time.Second, unlock)
		time.Sleep(10 * time.Second)
		stop()
		require.Equal(s, []string{"a/done"}, s.states(q))
	})
}

// lock locks the file for writers, like a process that is stopped in a transaction.
func (s stage) lock() (unlock func()) {
	s.Helper()
	db, err := sql.Open("sqlite", "file:"+string(s.where)+"?_pragma=busy_timeout(10000)")
	require.NoError(s, err)
	conn, err := db.Conn(s.Context())
	require.NoError(s, err)
	_, err = conn.ExecContext(s.Context(), "BEGIN IMMEDIATE")
	require.NoError(s, err)
	unlock = sync.OnceFunc(func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(unlock)
	return unlock
}

// A damaged row stops only its own ordering key, and is reported once a minute.
func TestRun_unreadableEvent(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		var log logged
		q := s.queue(&queue.Options{Logger: log.logger(), Workers: 1})
		s.accept(q, completed("a", 1), completed("b", 1), completed("b", 2), completed("c", 1), completed("a", 2), completed("d", 1))
		mend := s.damage(1, 3)
		var j journal
		s.run(q, j.noting(nil))
		time.Sleep(10 * time.Second)
		require.Equal(s, []string{"b/1", "c/1", "d/1"}, j.sorted())
		time.Sleep(10 * time.Minute)
		require.Equal(s, []string{"b/1", "c/1", "d/1"}, j.sorted())
		n := log.count("cannot be read")
		require.Greater(s, n, 10)
		require.LessOrEqual(s, n, 2*11)
		require.Zero(s, log.count("not stored"))
		mend()
		time.Sleep(2 * time.Minute)
		require.Equal(s, []string{"a/1", "a/2", "b/1", "b/2", "c/1", "d/1"}, j.sorted())
	})
}

// damage makes the events with these ids unreadable. On Postgres reading one ends the transaction,
// as a damaged page does.
func (s stage) damage(ids ...int) (mend func()) {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
	if s.isFile() {
		s.exec(`UPDATE signforms_events SET received = 'not a number' WHERE id IN (` + list + `)`)
		return func() { s.exec(`UPDATE signforms_events SET received = 1 WHERE id IN (` + list + `)`) }
	}
	s.exec(`ALTER TABLE signforms_events RENAME TO sound`)
	s.exec(`CREATE VIEW signforms_events AS SELECT id, dedupe, ordering_key_id, ordering_key, type, subject, signers, state, attempts,
		CASE WHEN id IN (` + list + `) THEN 1 / (id - id) ELSE received END AS received, settled, error, note, body FROM sound`)
	return func() {
		s.exec(`DROP VIEW signforms_events`)
		s.exec(`ALTER TABLE sound RENAME TO signforms_events`)
	}
}
