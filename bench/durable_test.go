package bench_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// BenchmarkDurable sends new events of 1 KB over HTTP to the queue and to a bare grouped INSERT of the same bytes, with the
// same settings of SQLite. The size is the number of senders.
func BenchmarkDurable(b *testing.B) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	processors := runtime.GOMAXPROCS(0)
	for _, each := range []int{1, 8, 32} {
		for name, open := range map[string]func(testing.TB) http.Handler{"queue": openQueue, "bare": openBare} {
			b.Run(fmt.Sprintf("receive/library=%s/size=%d", name, each*processors), func(b *testing.B) {
				server := httptest.NewServer(open(b))
				defer server.Close()
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: each * processors}}
				defer client.CloseIdleConnections()
				var last atomic.Uint64
				b.SetParallelism(each)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := send(client, server.URL, last.Add(1)-1); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

// send sends the event with number n.
func send(client *http.Client, url string, n uint64) error {
	body := read("event")
	renumber(body, n)
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = webhook.Sign(secret, time.Now(), body)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if string(answer) != `{"status":"ok"}` {
		return fmt.Errorf("answered %d %s: %w", resp.StatusCode, answer, err)
	}
	return nil
}

func openQueue(t testing.TB) http.Handler {
	q, err := queue.OpenSQLite(filepath.Join(t.TempDir(), "queue.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()) })
	return q.Handler(ourVerifier())
}

// bare only inserts bodies into a table. Up to 128 waiting writes share a transaction.
type bare struct {
	db      *sql.DB
	waiting chan insert
}

type insert struct {
	body []byte
	done chan error
}

func openBare(t testing.TB) http.Handler {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bare.db")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(2)&_pragma=secure_delete(1)&_pragma=cache_size(-16000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
	require.NoError(t, err)
	s := &bare{db, make(chan insert, 128)}
	go s.run()
	t.Cleanup(func() { close(s.waiting); require.NoError(t, db.Close()) })
	return s
}

func (s *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		one := insert{body, make(chan error, 1)}
		s.waiting <- one
		err = <-one.done
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"status":"ok"}`)
}

func (s *bare) run() {
	for one := range s.waiting {
		batch := []insert{one}
		for more := len(s.waiting); more > 0; more-- {
			if next, ok := <-s.waiting; ok {
				batch = append(batch, next)
			}
		}
		err := s.commit(batch)
		for _, one := range batch {
			one.done <- err
		}
	}
}

func (s *bare) commit(batch []insert) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, one := range batch {
		if _, err := tx.Exec("INSERT INTO bodies (body) VALUES (?)", one.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}
