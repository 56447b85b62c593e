package queue_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

func TestFilter_emptyLists(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		for _, f := range []queue.Filter{{IDs: []int64{}}, {Signers: []string{}}, {IDs: []int64{}, States: []queue.State{queue.Pending}}, {Document: "a", Signers: []string{}}} {
			require.Empty(s, s.list(q, f))
			n, err := q.Retry(s.Context(), f)
			require.NoError(s, err)
			require.Zero(s, n)
			done, err := q.Erase(s.Context(), f)
			require.NoError(s, err)
			require.Zero(s, done)
		}
		require.Len(s, s.list(q, queue.Filter{}), 1)
	})
}

// With KeepBodies, an event that was processed can be selected, read and run again.
func TestRetry_processedEvents(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(&queue.Options{KeepBodies: time.Hour, Retries: []time.Duration{}})
		var j journal
		s.run(q, j.noting(func(_ context.Context, e webhook.Event) error {
			if e.SubjectID() == "b" {
				return errors.New("no")
			}
			return nil
		}))
		s.accept(q, completed("a", 1), completed("b", 1), completed("c", 1))
		s.settled(q)
		done := s.list(q, queue.Filter{States: []queue.State{queue.Done}})
		require.Len(s, done, 2)
		require.Len(s, s.list(q, queue.Filter{States: []queue.State{queue.Done, queue.Failed}}), 3)
		body, err := q.Body(s.Context(), done[0].ID)
		require.NoError(s, err)
		require.JSONEq(s, `{"webhookEvent":"new_signature_pdf_completed","documentId":"a","documentName":"1"}`, string(body))
		n, err := q.Retry(s.Context(), queue.Filter{Document: "a"})
		require.NoError(s, err)
		require.Zero(s, n, "only if Done says so")
		n, err = q.Retry(s.Context(), queue.Filter{Document: "a", States: []queue.State{queue.Done}})
		require.NoError(s, err)
		require.Equal(s, 1, n)
		s.until(q, func(st queue.Stats) bool { return st.Processed == 3 })
		require.Equal(s, []string{"a/1", "a/1", "b/1", "c/1"}, j.sorted())

		s.exec("UPDATE signforms_events SET body = NULL WHERE subject = 'c'")
		n, err = q.Retry(s.Context(), queue.Filter{Document: "c", States: []queue.State{queue.Done}})
		require.NoError(s, err)
		require.Zero(s, n, "its JSON is gone")
		for _, id := range []int64{done[1].ID, 99} {
			_, err = q.Body(s.Context(), id)
			require.ErrorIs(s, err, queue.ErrNoBody)
		}
	})
}

func TestClose_callsAfterIt(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		require.NoError(s, q.Close())
		_, retry := q.Retry(s.Context(), queue.Filter{States: []queue.State{queue.Failed}})
		_, erase := q.Erase(s.Context(), queue.Filter{States: []queue.State{queue.Failed}})
		_, stats := q.Stats(s.Context())
		_, body := q.Body(s.Context(), 1)
		var list error
		for _, list = range q.List(s.Context(), queue.Filter{}) {
		}
		for _, err := range []error{retry, erase, stats, body, list, q.Store(s.Context(), s.parsed(completed("a", 2))), q.Run(s.Context(), failing("no"))} {
			require.ErrorIs(s, err, queue.ErrClosed)
		}
	})
}

func TestReceive_withoutHTTP(t *testing.T) {
	s := stage{T: t, where: newFile(t)}
	var got []queue.Received
	q := s.queue(&queue.Options{MaxPending: 1, OnReceived: func(_ context.Context, r queue.Received) { got = append(got, r) }})
	v := newVerifier()
	receive := func(secret string, body []byte) (int, string) {
		signed := webhooktest.NewRequest("http://example.com/", secret, time.Now(), body)
		header := http.Header{}
		for _, name := range []string{"X-Signature", "X-Timestamp"} {
			header.Set(name, signed.Header.Get(name))
		}
		status, answer := q.Receive(t.Context(), v, header, body)
		return status, string(answer)
	}
	one, two := webhooktest.Payload(completed("a", 1)), webhooktest.Payload(completed("a", 2))
	for _, c := range []struct {
		secret string
		body   []byte
		status int
		answer string
	}{
		{secret: secret, body: one, status: 200, answer: `{"status":"ok"}`},
		{secret: secret, body: one, status: 200, answer: `{"status":"duplicate"}`}, // it is full
		{secret: "another secret", body: one, status: 401, answer: `{"status":"unauthorized"}`},
		{secret: secret, body: []byte("7"), status: 400, answer: `{"status":"invalid_payload"}`},
		{secret: secret, body: bytes.Repeat([]byte(" "), 30<<20), status: 413, answer: ""},
		{secret: secret, body: two, status: 503, answer: `{"status":"unavailable"}`},
	} {
		t.Run(c.secret, func(t *testing.T) {
			status, answer := receive(c.secret, c.body)
			require.Equal(t, c.status, status, answer)
			if c.answer != "" {
				require.JSONEq(t, c.answer, answer)
			}
		})
	}
	require.Len(t, got, 6)
	require.Len(t, s.list(q, queue.Filter{}), 1)
}

// SQLite continues to write into a file that was removed. Events stored there would be lost.
func TestOpenSQLite_replacedFile(t *testing.T) {
	for _, row := range []struct {
		what    string
		replace func(path string) error
	}{
		{what: "removed", replace: os.Remove},
		{what: "renamed", replace: func(path string) error { return os.Rename(path, path+".old") }},
		{what: "replaced", replace: func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }},
		{what: "log removed", replace: func(path string) error { return os.Remove(path + "-wal") }},
		{what: "emptied", replace: func(path string) error { return os.Truncate(path, 0) }},
		{what: "backup restored in place", replace: func(path string) error { return copyInto(path, path+".backup") }},
		{what: "other queue copied into it", replace: func(path string) error { return copyInto(path, path+".other") }},
		{what: "folder moved", replace: func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
		}},
	} {
		t.Run(row.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "folder")
			require.NoError(t, os.Mkdir(dir, 0o700))
			s := stage{T: t, where: where(filepath.Join(dir, "events.db"))}
			for _, path := range []where{s.where, s.where + ".other"} {
				stage{T: t, where: path}.fill(1)
			}
			require.NoError(t, copyInto(string(s.where)+".backup", string(s.where)))
			var log logged
			q := s.queue(&queue.Options{Logger: log.logger()})
			s.accept(q, completed("a", 1))
			require.NoError(t, row.replace(string(s.where)))
			for n := range 3 {
				require.Equal(t, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("b", n))).Code)
			}
			require.Equal(t, 3, log.count("was removed or replaced"))
		})
	}
}

func TestOpenSQLite_symbolicLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink(filepath.Join("real", "events.db"), filepath.Join(dir, "file")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for n, path := range []string{"folder/events.db", "file", "real/events.db"} {
		s := stage{T: t, where: where(filepath.Join(dir, path))}
		q := s.queue(nil)
		s.accept(q, completed("a", n))
		require.Len(t, s.list(q, queue.Filter{}), n+1)
	}
	_, err := queue.OpenSQLite(filepath.Join(dir, "dangling"), nil)
	require.ErrorContains(t, err, "symbolic link to a file that does not exist")
}

// copyInto overwrites the contents of a file, as cp does.
func copyInto(path, from string) error {
	contents, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(path, contents, 0o600)
}

// cutConn loses the answer to the commit of a transaction in which a text was sent. The server has done it.
type cutConn struct {
	net.Conn
	text []byte
	once *atomic.Bool
	sent bool // the text
	cut  atomic.Bool
}

func (c *cutConn) Write(p []byte) (int, error) {
	c.sent = c.sent || bytes.Contains(p, c.text)
	if c.sent && bytes.Contains(bytes.ToLower(p), []byte("commit")) && c.once.CompareAndSwap(false, true) {
		c.cut.Store(true)
	}
	return c.Conn.Write(p)
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.cut.Load() {
		c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// A failure is told although the answer to its commit was lost, and although its ordering key is
// gone when the commit is tried again.
func TestSettle_lostAnswer(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	config, err := pgxpool.ParseConfig(string(s.where))
	require.NoError(t, err)
	var lost atomic.Bool
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &cutConn{Conn: conn, text: []byte("no luck"), once: &lost}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	told := make(chan queue.Outcome, 2)
	q, err := queue.OpenPostgres(t.Context(), pool, &queue.Options{OnSettled: func(_ context.Context, set queue.Settled) { told <- set.Outcome }})
	require.NoError(t, err)
	defer q.Close()
	s.accept(q, completed("a", 1))
	stop := s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error { return webhook.Permanent(errors.New("no luck")) }})
	require.Equal(t, queue.FailedPermanently, <-told)
	require.True(t, lost.Load())
	stop()
	require.Equal(t, []string{"a/failed"}, s.states(q))
}
