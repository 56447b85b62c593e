package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

var (
	livesOnSQLite   = flag.Int("lives", 200, "how many lives the model has on SQLite")
	livesOnPostgres = flag.Int("postgres.lives", 10, "how many lives the model has on Postgres")
)

// TestModel lives random lives of an application that sends offers. In each, one to three processes run the box. They are
// killed and stopped at any statement and request, responses and requests get lost, the service is frozen, unavailable or
// refuses the key, it executes requests late, clocks jump, lists mask addresses or show documents without signers, and
// others send the same template. Then everything works for some hours, and each offer must have been sent once.
//
// OUTBOX_LIFE=17 lives life 17 alone, and prints what happened.
func TestModel(t *testing.T) {
	first, last := 0, *livesOnSQLite
	if testing.Short() {
		last /= 40
	}
	if only := os.Getenv("OUTBOX_LIFE"); only != "" {
		_, err := fmt.Sscan(only, &first)
		require.NoError(t, err)
		last = first + 1
	}
	t.Run("SQLite", func(t *testing.T) {
		liveAll(t, first, last, func(t *testing.T) place { return place{"sqlite", fastFile(t)} })
	})
	t.Run("Postgres", func(t *testing.T) {
		c := sharedPostgres(t)
		liveAll(t, first, min(last, max(*livesOnPostgres, first+1)), func(t *testing.T) place { return newPostgresPlace(t, c) })
	})
}

// fastFile returns a SQLite file, in memory if the system has a folder for that. No connection waits for a lock: time does
// not go on in such a wait.
func fastFile(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "outbox-model")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return strings.Replace(sqliteSource(filepath.Join(dir, "app.db")), "10000", "0", 1)
}

// newPostgresPlace returns a schema with the tables, in which waits for locks are short: time does not go on in them.
func newPostgresPlace(t *testing.T, c *cluster) place {
	p := place{"pgx", c.newSchema(t)}
	_, err := Open(t.Context(), p.open(t), nil, nil)
	require.NoError(t, err)
	p.source += " options='-c lock_timeout=50ms'"
	return p
}

// counts are what happened in all lives.
type counts struct {
	offers, documents, kills, stops, losses, unknown, undecided atomic.Int64
}

func liveAll(t *testing.T, first, last int, newPlace func(*testing.T) place) {
	var all counts
	t.Run("lives", func(t *testing.T) {
		for seed := first; seed < last; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				synctest.Test(t, func(t *testing.T) { newLife(t, seed, p, &all).live() })
			})
		}
	})
	t.Logf("offers %d, documents %d, kills %d, stops %d, lost responses %d, unknown sends %d, undecided %d", all.offers.Load(), all.documents.Load(),
		all.kills.Load(), all.stops.Load(), all.losses.Load(), all.unknown.Load(), all.undecided.Load())
	if n := int64(last - first); n > 10 { // else the lives were not dangerous
		require.Greater(t, all.kills.Load(), 5*n)
		require.Greater(t, all.stops.Load(), 5*n)
		require.Greater(t, all.unknown.Load(), n)
	}
}

// life is an application, whose offers are the rows of its table.
type life struct {
	*testing.T
	place
	random   *rand.Rand // of what people do
	seed     int
	service  *modelService
	db       *sql.DB // which nothing happens to
	box      *Box    // adds
	limits   signforms.LimitStore
	skew     atomic.Int64 // of the stored clock
	calm     atomic.Bool  // nothing happens any longer
	ends     time.Time    // of the dangerous time
	count    *counts
	others   string // to whom others send the templates: "", "strangers" or "receivers"
	old      int    // documents without signers that are years old
	failing  bool   // OnChange fails now and then
	jumping  bool   // clocks jump
	running  sync.WaitGroup
	printing bool
}

var templates = []string{"65afe90c-6eab-4089-8a6f-5b870943305f", "0c8f5a3e-7a53-4b0e-8d3c-2f6c1b1f9f10"}

func newLife(t *testing.T, seed int, p place, c *counts) *life {
	l := &life{T: t, place: p, seed: seed, random: rand.New(rand.NewPCG(uint64(seed), 1)), count: c, printing: os.Getenv("OUTBOX_LIFE") != ""}
	l.limits = signforms.NewMemoryLimitStore(time.Now)
	l.ends = time.Now().Add(30*time.Minute + l.upTo(time.Hour))
	l.service = &modelService{skew: l.upTo(4*time.Hour) - 2*time.Hour, begun: map[string]int{}, perPage: pick(l.random, 3, 100, 100)}
	l.service.mask = pick(l.random, "", "", "", "", "", "**", "xx")
	l.service.maskedAt = time.Now().Add(max(0, l.upTo(2*time.Hour)-time.Hour))
	l.service.ownSigner = pick(l.random, "", "", "seller@sender.test")
	l.others = pick(l.random, "", "", "strangers", "receivers")
	l.old = pick(l.random, 0, 0, 0, 2)
	l.failing, l.jumping = l.random.IntN(3) == 0, l.random.IntN(3) == 0
	for at := time.Now().Add(l.upTo(30 * time.Minute)); at.Before(l.ends) && l.random.IntN(4) > 0; {
		o := outage{from: at, to: at.Add(40*time.Second + l.upTo(pick(l.random, 5*time.Minute, 20*time.Minute, time.Hour))),
			status: pick(l.random, 0, 0, 0, 503, 503, 401, 403, 429), sendsOnly: l.random.IntN(5) == 0}
		l.service.outages = append(l.service.outages, o)
		at = o.to.Add(l.upTo(pick(l.random, time.Minute, time.Hour))) // it may be frozen again soon
	}
	return l
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

func (l *life) upTo(d time.Duration) time.Duration { return time.Duration(l.random.Int64N(int64(d))) }

func (l *life) trace(format string, args ...any) {
	if l.printing {
		l.Logf("%s "+format, append([]any{time.Now().Format("15:04:05.000")}, args...)...)
	}
}

// certain reports whether all that a list shows tells who signs, and nobody else sends.
func (l *life) certain() bool { return l.service.mask == "" && l.others == "" }

func (l *life) live() {
	l.db = l.place.open(l)
	box, err := Open(l.Context(), l.db, nil, l.options(nil))
	require.NoError(l, err)
	box.ownClock = false
	l.box = box
	for _, table := range []string{"offers (key TEXT PRIMARY KEY, round INTEGER NOT NULL, void INTEGER NOT NULL)",
		"told (key TEXT PRIMARY KEY, state TEXT NOT NULL, status TEXT NOT NULL, undecided INTEGER NOT NULL)"} {
		_, err := l.db.Exec("CREATE TABLE " + table)
		require.NoError(l, err)
	}
	for i := range l.old {
		d := l.service.make(templates[i%2], "", nil)
		d.unsigned, d.created = true, d.created.AddDate(-3, 0, i)
	}
	for i := range 1 + l.random.IntN(3) {
		l.running.Go(func() { l.runProcesses(i) })
	}
	for time.Now().Before(l.ends) {
		time.Sleep(l.upTo(3 * time.Minute))
		l.act()
	}
	l.calm.Store(true)
	l.settle()
	l.check(false)
	if l.decide() {
		l.settle()
		l.check(true)
	}
}

// runProcesses runs one process after the other. In some lives they live for less than a minute.
func (l *life) runProcesses(number int) {
	random := rand.New(rand.NewPCG(uint64(l.seed), uint64(100+number)))
	short := random.IntN(4) == 0
	for time.Now().Before(l.ends) {
		until := l.ends
		if short {
			until = time.Now().Add(time.Duration(random.Int64N(int64(time.Minute))))
		}
		p := &process{life: l, random: random}
		killed := !p.run(until, func(*Options) {})
		if killed || short {
			time.Sleep(time.Duration(random.Int64N(int64(pick(random, 10*time.Second, 2*time.Minute, 20*time.Minute)))))
		}
	}
}

func (l *life) options(p *process) *Options {
	o := &Options{Name: fmt.Sprint("life ", l.seed), Now: l.now, Logger: slog.New(slog.DiscardHandler), PollInterval: time.Minute, Reconcile: 2 * time.Hour, Workers: 3}
	if p != nil {
		o.OnChange = p.changed
	}
	if l.printing {
		o.Logger = slog.New(slog.NewTextHandler(l.Output(), nil))
	}
	return o
}

func (l *life) now() time.Time { return time.Now().Add(time.Duration(l.skew.Load())) }

func (l *life) client(p *process) *signforms.Client {
	c, err := signforms.New("https://api.signing.test", "secret-key-of-the-model", &signforms.Options{Transport: p, LimitStore: l.limits,
		MaxAttempts: 1 + p.random.IntN(2), AttemptTimeout: pick(p.random, 30*time.Second, 5*time.Minute, time.Hour), RetryWaitMin: 2, RetryWaitMax: 2})
	if err != nil {
		panic(err)
	}
	return c
}

// changed is OnChange.
func (p *process) changed(ctx context.Context, tx *sql.Tx, e Entry) error {
	undecided := 0
	if e.State == Undecided {
		undecided = 1
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO told (key, state, status, undecided) VALUES ('%s', '%s', '%s', %d) ON CONFLICT (key)
		DO UPDATE SET state = excluded.state, status = excluded.status, undecided = told.undecided + excluded.undecided`, e.Key, e.State, e.Status, undecided))
	if err != nil {
		return err
	}
	if p.failing && p.chance(0.03) {
		return errors.New("OnChange fails")
	}
	next := e.Key + " next"
	if _, err := p.box.Get(ctx, tx, next); e.State != Sent || !strings.HasSuffix(e.Key, "7") || !errors.Is(err, ErrKeyUnknown) {
		return nil
	}
	return p.add(ctx, tx, next, 0, p.random)
}

// add adds an offer in the transaction that writes its row. Its subject says for which message the document was made.
func (l *life) add(ctx context.Context, tx *sql.Tx, key string, round int, random *rand.Rand) error {
	send := signforms.TemplateSendParams{TemplateID: templates[len(key)%2], Mail: signforms.Mail{Subject: subject(key, round)}}
	for range 1 + random.IntN(2) {
		to := fmt.Sprintf("p%d@receiver.test", random.IntN(5))
		if !slices.ContainsFunc(send.Receivers, func(r signforms.Receiver) bool { return r.Email == to }) {
			send.Receivers = append(send.Receivers, signforms.Receiver{Name: "Somebody", Email: to, RoleTitle: "Buyer"})
		}
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO offers (key, round, void) VALUES ('%s', %d, 0)
		ON CONFLICT (key) DO UPDATE SET round = excluded.round, void = 0`, key, round))
	if err != nil {
		return err
	}
	return l.box.Add(ctx, tx, Message{Key: key, Send: send, RemindAfter: []time.Duration{20 * time.Minute, time.Hour}})
}

func subject(key string, round int) string { return fmt.Sprint(key, " ", round) }

var errChangedMind = errors.New("rolled back")

// inTx runs do in a transaction of the application, which commits.
func (l *life) inTx(do func(context.Context, *sql.Tx) error) error {
	for {
		err := func() error {
			tx, err := l.db.BeginTx(l.Context(), nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if err := do(l.Context(), tx); err != nil {
				return err
			}
			return tx.Commit()
		}()
		if err == nil || errors.Is(err, ErrState) || errors.Is(err, ErrKeyUsed) || errors.Is(err, ErrErased) || errors.Is(err, errChangedMind) {
			return err
		}
		if text := err.Error(); !strings.Contains(text, "SQLITE_BUSY") && !strings.Contains(text, "55P03") && !strings.Contains(text, "40P01") {
			require.NoError(l, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// offered is a row of the application.
type offered struct {
	key         string
	round, void int
}

func (l *life) offers() (all []offered) {
	rows, err := l.db.Query("SELECT key, round, void FROM offers ORDER BY key")
	require.NoError(l, err)
	defer rows.Close()
	for rows.Next() {
		var o offered
		require.NoError(l, rows.Scan(&o.key, &o.round, &o.void))
		all = append(all, o)
	}
	require.NoError(l, rows.Err())
	return all
}

// act is what people do.
func (l *life) act() {
	offers := l.offers()
	if n := l.random.IntN(20); n < 10 || len(offers) == 0 {
		key := fmt.Sprint("offer-", len(offers))
		rollsBack := l.random.IntN(10) == 0
		_ = l.inTx(func(ctx context.Context, tx *sql.Tx) error {
			err := l.add(ctx, tx, key, 0, l.random)
			if rollsBack {
				err = cmp.Or(err, errChangedMind)
			}
			return err
		})
	} else if o := pick(l.random, offers...); n < 12 {
		l.trace("void %s", o.key)
		_ = l.inTx(func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE offers SET void = 1 WHERE key = '%s'", o.key))
			return cmp.Or(err, l.box.Void(ctx, tx, o.key))
		})
	} else if n < 15 { // forget, and offer again
		_ = l.inTx(func(ctx context.Context, tx *sql.Tx) error {
			if err := l.box.Forget(ctx, tx, o.key); err != nil {
				return err
			}
			l.trace("forgot %s", o.key)
			return l.add(ctx, tx, o.key, o.round+1, l.random)
		})
	} else if n < 18 {
		l.sign()
	} else if n == 18 && l.jumping {
		l.skew.Store(int64(l.upTo(96*time.Hour) - 48*time.Hour))
		l.trace("the clock jumps to %s", l.now())
	}
	if to := map[string]string{"strangers": "o%d@stranger.test", "receivers": "p%d@receiver.test"}[l.others]; to != "" && l.random.IntN(4) == 0 {
		l.service.make(pick(l.random, templates...), "", []modelReceiver{{fmt.Sprintf(to, l.random.IntN(5)), "Buyer"}})
	}
}

// sign ends a document, of which an event may report.
func (l *life) sign() {
	d := l.service.sign(l.random)
	if d == nil {
		return
	}
	l.trace("%s is %s", d.sentFor, d.status)
	e := &webhook.TemplateResponse{Document: webhook.Document{DocumentID: d.template}}
	for _, s := range l.service.signers(d, false) {
		e.Signers = append(e.Signers, webhook.Signer{Email: s["email"].(string), ID: pick(l.random, "", s["signerId"].(string))})
	}
	if l.random.IntN(3) > 0 {
		_ = l.box.Funcs(webhook.Funcs{}).Default(l.Context(), e)
	}
}

// settle lets one process run to which nothing happens, until nothing is left to do and each document was read once more.
func (l *life) settle() {
	left := 1
	for i := 0; i < 8 && (left > 0 || i < 3); i++ {
		p := &process{life: l, random: rand.New(rand.NewPCG(uint64(l.seed), uint64(1000+i))), perfect: true}
		p.run(time.Now().Add(time.Hour), func(o *Options) { o.PollInterval = 10 * time.Minute })
		require.NoError(l, l.db.QueryRow(`SELECT count(*) FROM signforms_outbox
			WHERE state IN ('pending', 'sending') OR told <> changes OR void_due > 0 OR read_due > 0 AND document <> ''`).Scan(&left))
	}
	require.Zero(l, left, "life %d: something is left to do", l.seed)
	l.running.Wait()
}

// check compares the offers with the documents at the service: no message may have two, also if its key was forgotten.
func (l *life) check(decided bool) {
	for _, o := range l.offers() {
		l.checkOffer(o, decided)
	}
	times := map[string]int{}
	for _, d := range l.service.documents {
		if times[d.sentFor]++; d.sentFor != "" {
			require.Equal(l, 1, times[d.sentFor], "life %d: %s was sent twice", l.seed, d.sentFor)
		}
	}
}

func (l *life) checkOffer(o offered, decided bool) {
	e, err := l.box.Get(l.Context(), l.db, o.key)
	require.NoError(l, err)
	sent, begun := l.service.sentFor(subject(o.key, o.round))
	var ids []string
	for _, d := range sent {
		ids = append(ids, d.id)
	}
	about := fmt.Sprintf("life %d, %s, round %d, sent as %v: %+v", l.seed, o.key, o.round, ids, e)
	require.False(l, begun, about)
	require.LessOrEqual(l, len(sent), 1, about)
	require.Empty(l, e.Duplicates, about)
	mine := l.others == "receivers" || slices.Equal(ids, []string{e.DocumentID}) // or somebody else's was taken for it
	var state, status string
	var undecided int
	if e.State != Pending && e.State != Sending {
		require.NoError(l, l.db.QueryRow(fmt.Sprintf("SELECT state, status, undecided FROM told WHERE key = '%s'", o.key)).Scan(&state, &status, &undecided), about)
		require.Equal(l, fmt.Sprint(e.State, e.Status), state+status, about)
	}
	switch e.State {
	case Sent, Ended:
		require.True(l, mine, about)
		for _, d := range sent {
			if d.id == e.DocumentID {
				require.Equal(l, d.status, string(e.Status), about)
				require.LessOrEqual(l, d.reminders, 2, about)
			}
		}
		require.False(l, e.State == Sent && o.void == 1, about)
	case Failed, Cancelled:
		require.Empty(l, sent, about)
		require.Equal(l, o.void == 1, e.State == Cancelled, about)
	case Undecided:
		require.False(l, decided && l.others != "receivers", about)
		l.checkUndecided(e, ids, about)
	default:
		require.Fail(l, "it is stuck", about)
	}
	if !decided {
		l.count.offers.Add(1)
		l.count.documents.Add(int64(len(sent)))
		l.count.undecided.Add(int64(min(undecided, 1)))
		require.False(l, undecided > 0 && l.certain() && l.old == 0, about)
	}
}

// checkUndecided wants a message to be undecided only if nobody could tell, and the candidates to have its document.
func (l *life) checkUndecided(e Entry, sent []string, about string) {
	var firstWalk int
	require.NoError(l, l.db.QueryRow(fmt.Sprintf("SELECT first_walk FROM signforms_outbox WHERE key = '%s'", e.Key)).Scan(&firstWalk))
	require.False(l, l.certain() && firstWalk > 0, "each unsigned document was listed before: %s", about)
	require.NotEmpty(l, l.service.documents, about)
	if l.service.mask != "xx" && l.others != "receivers" {
		require.Subset(l, e.Candidates, sent, about)
	}
}

// decide settles each undecided message by the truth, as a person would who can ask the receivers, and tries failed ones
// again. It reports whether there were any.
func (l *life) decide() (any bool) {
	person, err := Open(l.Context(), l.db, l.client(&process{life: l, random: l.random, perfect: true}), l.options(nil))
	require.NoError(l, err)
	person.ownClock = false
	for _, o := range l.offers() {
		e, err := l.box.Get(l.Context(), l.db, o.key)
		require.NoError(l, err)
		sent, _ := l.service.sentFor(subject(o.key, o.round))
		switch {
		case e.State == Failed:
			err = l.box.Retry(l.Context(), l.db, o.key)
		case e.State == Undecided && len(sent) > 0:
			err = person.MarkSent(l.Context(), o.key, sent[0].id)
		case e.State == Undecided:
			err = l.box.MarkNotSent(l.Context(), l.db, o.key)
		default:
			continue
		}
		if l.others != "receivers" { // else the document may have been taken for another message's
			require.NoError(l, err)
		}
		any = true
	}
	return any
}
