package queue_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		runChild(role)
	}
	code := m.Run()
	stopCluster()
	os.Exit(code)
}

// where is a place for events: the path of a SQLite file, or the DSN of a Postgres schema.
type where string

func (w where) isFile() bool { return !strings.Contains(string(w), "host=") }

// open opens a queue as one process does. close also ends what Close leaves to its owner.
func (w where) open(ctx context.Context, o *queue.Options) (q *queue.Queue, close func() error, err error) {
	if w.isFile() {
		q, err = queue.OpenSQLite(string(w), o)
		if err != nil {
			return nil, nil, err
		}
		return q, q.Close, nil
	}
	pool, err := pgxpool.New(ctx, string(w))
	if err != nil {
		return nil, nil, err
	}
	q, err = queue.OpenPostgres(ctx, pool, o)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return q, func() error { defer pool.Close(); return q.Close() }, nil
}

// stage is a place for events within a test.
type stage struct {
	*testing.T
	where
	virtual bool
}

// eachStore runs a test on an empty SQLite file and an empty Postgres schema, beside other tests.
func eachStore(t *testing.T, test func(stage)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(stage{t, newFile(t), false})
	})
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		test(stage{t, where(sharedPostgres(t).newSchema(t)), false})
	})
}

func newFile(t testing.TB) where { return where(filepath.Join(t.TempDir(), "events.db")) }

// eachStoreVirtually is eachStore on virtual time.
func eachStoreVirtually(t *testing.T, test func(stage)) {
	eachStore(t, func(s stage) { s.virtually(test) })
}

// onFileVirtually runs a test on an empty SQLite file and virtual time.
func onFileVirtually(t *testing.T, test func(stage)) {
	stage{T: t, where: newFile(t)}.virtually(test)
}

func (s stage) virtually(test func(stage)) {
	synctest.Test(s.T, func(t *testing.T) {
		time.Sleep(2 * 365 * 24 * time.Hour) // a bubble begins in 2000, when Unix times had nine digits
		test(stage{t, s.where, true})
	})
}

// queue opens a queue that closes with the test.
func (s stage) queue(o *queue.Options) *queue.Queue {
	s.Helper()
	if o == nil {
		o = &queue.Options{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if s.virtual {
		o.SetUnwatched()
		if !o.HasPoll() {
			o.SetPoll(time.Hour)
		}
		if !o.HasClocks() {
			o.SetClocks(virtualClocks())
		}
	}
	q, close, err := s.open(s.Context(), o)
	require.NoError(s, err)
	s.Cleanup(func() { require.NoError(s, close()) })
	return q
}

// virtualClocks are clocks that go by virtual time, like all others in a bubble of synctest.
func virtualClocks() queue.Clocks {
	began := time.Unix(0, 0)
	return queue.Clocks{Wall: time.Now, Boot: func() time.Duration { return time.Since(began) }, BootID: "virtual", Database: time.Now}
}

// run runs functions until the returned function is called, which a test that does not call it does at its end.
func (s stage) run(q *queue.Queue, on webhook.Funcs) (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, on) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(s, <-ended)
	})
	s.Cleanup(stop)
	return stop
}

const secret = "whsec_0123456789abcdef"

// newVerifier panics where it fails, because events are also delivered by goroutines, which must not end a test.
func newVerifier() *webhook.Verifier {
	v, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		panic(err)
	}
	return v
}

// deliver sends a payload to the queue's handler and returns the answer.
func (s stage) deliver(q *queue.Queue, payload []byte) *httptest.ResponseRecorder {
	s.Helper()
	return s.send(q, webhooktest.NewRequest("http://example.com/webhook", secret, time.Now(), payload))
}

// deliverAs sends an empty delivery that is signed with another secret.
func (s stage) deliverAs(q *queue.Queue, secret string) *httptest.ResponseRecorder {
	s.Helper()
	return s.send(q, webhooktest.NewRequest("http://example.com/webhook", secret, time.Now(), []byte("[]")))
}

func (s stage) send(q *queue.Queue, r *http.Request) *httptest.ResponseRecorder {
	s.Helper()
	w := httptest.NewRecorder()
	q.Handler(newVerifier()).ServeHTTP(w, r)
	return w
}

// accept sends events and requires a 200.
func (s stage) accept(q *queue.Queue, events ...webhook.Event) {
	s.Helper()
	w := s.deliver(q, webhooktest.Payload(events...))
	require.Equal(s, http.StatusOK, w.Code, w.Body.String())
}

// parsed are events as they are received.
func (s stage) parsed(events ...webhook.Event) []webhook.Event {
	s.Helper()
	parsed, err := webhook.Parse(webhooktest.Payload(events...))
	require.NoError(s, err)
	return parsed
}

// completed is event n of a document.
func completed(document string, n int) *webhook.SignatureCompleted {
	return &webhook.SignatureCompleted{Document: webhook.Document{DocumentID: document, DocumentName: fmt.Sprint(n)}}
}

// journal notes what functions were called for.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

func (j *journal) sorted() []string { return slices.Sorted(slices.Values(j.all())) }

// name is how a journal notes an event of completed.
func name(e webhook.Event) string {
	if c, ok := e.(*webhook.SignatureCompleted); ok {
		return c.DocumentID + "/" + c.DocumentName
	}
	return string(e.EventType()) + " " + e.SubjectID()
}

// noting are functions that note every event and then do what do says.
func (j *journal) noting(do func(context.Context, webhook.Event) error) webhook.Funcs {
	return webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
		j.note(name(e))
		if do == nil {
			return nil
		}
		return do(ctx, e)
	}}
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// exec changes the store behind the queue's back.
func (s stage) exec(query string) {
	s.Helper()
	driver, source := "pgx", strings.TrimSuffix(string(s.where), poolSize)
	if s.isFile() {
		driver, source = "sqlite", "file:"+source+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	require.NoError(s, err)
	defer db.Close()
	_, err = db.ExecContext(s.Context(), query)
	require.NoError(s, err)
}

// hold makes the function of one event say that it began, and wait.
func hold(event string, began chan<- struct{}, goOn <-chan struct{}) func(context.Context, webhook.Event) error {
	return func(_ context.Context, e webhook.Event) error {
		if name(e) == event {
			began <- struct{}{}
			<-goOn
		}
		return nil
	}
}

// failing are functions that fail.
func failing(text string) webhook.Funcs {
	fail := func() error { return errors.New(text) }
	return webhook.Funcs{
		Default: func(context.Context, webhook.Event) error { return fail() },
		Unknown: func(context.Context, *webhook.UnknownEvent) error { return fail() },
	}
}

// long skips a test where -short asks for it.
func long(t testing.TB) {
	if testing.Short() {
		t.Skip("long")
	}
}

// times returns n, or a third of it where -short asks for less.
func times(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}

// settled waits until nothing is pending.
func (s stage) settled(q *queue.Queue) queue.Stats {
	s.Helper()
	return s.until(q, func(st queue.Stats) bool { return st.Pending == 0 && st.OrderingKeys == 0 })
}

func (s stage) until(q *queue.Queue, reached func(queue.Stats) bool) queue.Stats {
	s.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		if reached(st) {
			return st
		}
		require.True(s, time.Now().Before(deadline), "the queue does not get there: %+v", st)
		time.Sleep(10 * time.Millisecond)
	}
}

func (s stage) list(q *queue.Queue, f queue.Filter) []queue.Entry {
	s.Helper()
	var all []queue.Entry
	for e, err := range q.List(s.Context(), f) {
		require.NoError(s, err)
		all = append(all, e)
	}
	return all
}
