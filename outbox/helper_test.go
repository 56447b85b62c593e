package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

var begin = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

// place is a database for a box: an empty SQLite file, or an empty Postgres schema.
type place struct{ driver, source string }

// eachStore runs a test on an empty SQLite file and an empty Postgres schema.
func eachStore(t *testing.T, test func(*fixture)) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { test(newFixture(t, sqlitePlace(t))) })
	t.Run("Postgres", func(t *testing.T) { test(newFixture(t, postgresPlace(t))) })
}

func postgresPlace(t testing.TB) place { return place{"pgx", sharedPostgres(t).newSchema(t)} }

func sqlitePlace(t testing.TB) place {
	return place{"sqlite", sqliteSource(filepath.Join(t.TempDir(), "app.db"))}
}

func sqliteSource(path string) string {
	return "file:" + path + "?" + url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)"}}.Encode()
}

func (p place) connect() (*sql.DB, error) { return sql.Open(p.driver, p.source) }

func (p place) open(t testing.TB) *sql.DB {
	db, err := p.connect()
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// fixture is a service, and a box whose time only the test moves.
type fixture struct {
	*testing.T
	*Box
	place    place
	srv      *signformstest.Server
	template string
	db       *sql.DB
	wire     *wire
	runner   *runner

	mu      sync.Mutex
	passed  time.Duration
	skew    time.Duration // of the stored time
	changes []Entry
	failing error // of OnChange
}

func newFixture(t *testing.T, p place) *fixture {
	srv := signformstest.NewServer(t, &signformstest.Options{StartTime: begin, Seed: 1})
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}, {Title: "Seller"}}})
	f := &fixture{T: t, place: p, srv: srv, template: template, wire: &wire{RoundTripper: srv.HTTPClient().Transport}}
	f.db = p.open(t)
	f.restart(nil)
	return f
}

// restart opens the box as another process does, after the last one was killed.
func (f *fixture) restart(change func(*Options)) {
	f.Helper()
	o := &Options{OnChange: f.changed, Now: f.now, Logger: slog.New(slog.DiscardHandler), Workers: 4, PollInterval: time.Minute}
	if change != nil {
		change(o)
	}
	f.Box = f.open(o)
	f.runner = newRunner(f.Box)
}

func (f *fixture) open(o *Options) *Box {
	f.Helper()
	b, err := Open(f.Context(), f.db, f.client(), o)
	require.NoError(f, err)
	b.ownClock = false
	b.elapsed = func() time.Duration { f.mu.Lock(); defer f.mu.Unlock(); return f.passed }
	return b
}

func (f *fixture) client() *signforms.Client {
	o := f.srv.ClientOptions()
	o.Transport = f.wire
	o.MaxAttempts = 1
	c, err := signforms.New(f.srv.URL, f.srv.APIKey, o)
	require.NoError(f, err)
	return c
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return begin.Add(f.passed + f.skew)
}

func (f *fixture) changed(_ context.Context, _ *sql.Tx, e Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failing != nil {
		return f.failing
	}
	f.changes = append(f.changes, e)
	return nil
}

// to is a send to addresses, the first of which is a buyer.
func (f *fixture) to(addresses ...string) signforms.TemplateSendParams {
	p := signforms.TemplateSendParams{TemplateID: f.template}
	for i, a := range addresses {
		p.Receivers = append(p.Receivers, signforms.Receiver{Name: "Somebody", Email: a, RoleTitle: []string{"Buyer", "Seller"}[min(i, 1)]})
	}
	return p
}

func (f *fixture) add(key string, addresses ...string) {
	f.Helper()
	require.NoError(f, f.Add(f.Context(), f.db, Message{Key: key, Send: f.to(addresses...)}))
}

// step executes all work that is due in the calling goroutine. It
// returns when to call it again.
func (r *runner) step(ctx context.Context) time.Duration {
	r.inline = true
	for {
		r.progress = false
		wait := r.turn(ctx, ctx)
		r.recordAll(ctx)
		if !r.progress || ctx.Err() != nil {
			return wait
		}
	}
}

// work does what is due now, without time passing.
func (f *fixture) work() time.Duration { return f.runner.step(f.Context()) }

// pass lets time pass, in which the box works.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	for d > 0 {
		step := max(min(d, f.work()), 10*time.Millisecond)
		f.advance(step)
		d -= step
	}
	f.work()
}

// advance lets time pass, in which the box does not work.
func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	f.passed += d
	f.mu.Unlock()
	f.srv.Advance(d)
}

func (f *fixture) entry(key string) Entry {
	f.Helper()
	e, err := f.Get(f.Context(), f.db, key)
	require.NoError(f, err)
	return e
}

// states returns the state of each message.
func (f *fixture) states() (states []string) {
	f.Helper()
	for e, err := range f.List(f.Context(), Filter{}) {
		require.NoError(f, err)
		states = append(states, fmt.Sprint(e.Key, " ", e.State))
	}
	return states
}

// told returns the states of which OnChange was told.
func (f *fixture) told() (states []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.changes {
		text := fmt.Sprint(e.Key, " ", e.State)
		if e.State == Ended {
			text += fmt.Sprint(" ", e.Status)
		}
		states = append(states, text)
	}
	return states
}

// lose makes the next sends fail: their responses are lost, or the requests.
func (f *fixture) lose(times int, afterWork bool) {
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: times, AfterWork: afterWork, Reset: true})
}

// sends returns the number of sends that the service was asked for.
func (f *fixture) sends() (n int) {
	for _, r := range f.srv.Requests() {
		if r.Operation == signforms.OpSend {
			n++
		}
	}
	return n
}

// exec changes the database behind the box's back.
func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	_, err := f.db.Exec(query, args...)
	require.NoError(f, err)
}

// wire is the network between the box and the service. before may replace a response.
type wire struct {
	http.RoundTripper
	before func(*http.Request) (*http.Response, error)
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.before != nil {
		if response, err := w.before(r); response != nil || err != nil {
			return response, err
		}
	}
	return w.RoundTripper.RoundTrip(r)
}
