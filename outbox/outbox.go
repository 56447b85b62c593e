package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
)

// Errors of the methods of a [Box], for [errors.Is].
var (
	// ErrKeyUsed means that Add was called before with the same key and another Send.
	ErrKeyUsed = errors.New("outbox: the key is in use for another send")
	// ErrKeyUnknown means that the box has no message with the key.
	ErrKeyUnknown = errors.New("outbox: no message has this key")
	// ErrState means that the state of the message does not allow the call. The text says why.
	ErrState = errors.New("outbox: the message's state does not allow it")
	// ErrErased means that Retry needs the content of the message, which was erased after
	// [Options.KeepContent].
	ErrErased = errors.New("outbox: the message's content was erased")
	// ErrOtherService means that the box was used with another base URL or workspace. For another
	// account, use another [Options.Name]. For the same account, set [Options.Moved].
	ErrOtherService = errors.New("outbox: the box belongs to another service or workspace")
)

// Options are the optional settings of [Open]. The zero value, like nil, gives the defaults. All
// processes that share a box should have the same Options.
type Options struct {
	// Name is the name of the box. Each account of the service needs its own box. Default
	// "default".
	Name string
	// Moved allows [Open] to take a new base URL or workspace for the same account.
	Moved bool
	// NoSchema keeps Open from making and upgrading tables. Run the SQL of [Schema] and [Upgrade] instead.
	NoSchema bool
	// OnChange is called with each message that was sent, ended, failed, was cancelled or became
	// undecided, and with each new status of a document. e is the message in its present state;
	// intermediate states may be skipped. OnChange is called at least once after each change, and
	// in order for each key. Its writes with tx are committed exactly once, because tx also records
	// that OnChange was called for e.
	//
	// OnChange has 5 seconds. It must use no other connection than tx, and may call Add, Get, Void
	// and Forget with tx. If it fails, it is called again after 1 s. This wait doubles with each
	// failure, up to 5 min. Other keys are not delayed.
	OnChange func(ctx context.Context, tx *sql.Tx, e Entry) error
	// SendTimeout is how long a send may take from its claim, with all attempts of the client. Default 2 minutes.
	SendTimeout time.Duration
	// Grace is how long requests may continue after the ctx of [Box.Run] has ended. Default 20 s.
	// With a negative Grace, requests are interrupted at once, and each has an unknown outcome.
	Grace time.Duration
	// Workers is the number of sends at the same time. Default 8.
	Workers int
	// PollInterval is how often Run checks for changes by other processes. Default 5 s. See
	// [Box.Wake].
	PollInterval time.Duration
	// Reconcile is how often the documents of a template with open messages are listed, because the service sends no
	// event for declined and expired documents. Default 24 h.
	Reconcile time.Duration
	// KeepContent is how long names, addresses and variables are kept after a message ended, failed or was cancelled.
	// Default 30 days.
	KeepContent time.Duration
	// Now returns the time that SQLite stores, which reminders and reconciliation follow. Default
	// time.Now. On Postgres the stored time is the database's. The deadline of a send and the
	// settling of unknown outcomes follow monotonic time instead.
	Now func() time.Time
	// Logger gets a line for each state that needs a person, and for errors of the database. Lines
	// contain keys, ids and error texts. The default is [slog.Default] at the time when the box is
	// opened.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	for name, d := range map[string]time.Duration{"SendTimeout": o.SendTimeout, "Workers": time.Duration(o.Workers),
		"PollInterval": o.PollInterval, "Reconcile": o.Reconcile, "KeepContent": o.KeepContent} {
		if d < 0 {
			return o, fmt.Errorf("option %s is negative: leave it 0 for the default", name)
		}
	}
	o.Name = cmp.Or(o.Name, "default")
	o.SendTimeout = cmp.Or(o.SendTimeout, 2*time.Minute)
	o.Grace = max(0, cmp.Or(o.Grace, 20*time.Second))
	o.Workers = cmp.Or(o.Workers, 8)
	o.PollInterval = cmp.Or(o.PollInterval, 5*time.Second)
	o.Reconcile = cmp.Or(o.Reconcile, 24*time.Hour)
	o.KeepContent = cmp.Or(o.KeepContent, 30*24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

// A Box is a set of messages in a database. One account of the service sends them. It is safe for
// concurrent use.
type Box struct {
	database
	client  *signforms.Client // nil: this process only adds and reads
	options Options
	elapsed func() time.Duration // monotonic; tests replace it
	runs    sync.Mutex
	wake    chan struct{}

	mu    sync.Mutex
	added time.Duration // until when Run checks often
	watchlist
}

// Open opens a box in the user's own database. It makes the tables unless [Options.NoSchema] is
// set. client may be nil in a process that does not call Run or MarkSent. Open returns
// ErrOtherService if the box was used with another service. It refuses SQLite databases that would
// lose a claim: databases with journal_mode OFF or MEMORY, and in-memory databases unless
// MaxOpenConns is 1.
func Open(ctx context.Context, db *sql.DB, client *signforms.Client, opts *Options) (*Box, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("outbox: Open: %w", err)
	}
	start := time.Now()
	b := &Box{database: database{db: db, box: o.Name, now: o.Now, logger: o.Logger, writing: make(chan struct{}, 1)}, client: client, options: o, wake: make(chan struct{}, 1),
		elapsed: func() time.Duration { return time.Since(start) }}
	if err := b.prepare(ctx); err != nil {
		return nil, fmt.Errorf("outbox: Open: %w", err)
	}
	return b, nil
}

func (b *Box) prepare(ctx context.Context) error {
	if err := b.detect(ctx); err != nil {
		return err
	}
	t := b.session(ctx, b.db)
	version := t.version()
	if t.err != nil {
		return t.err
	}
	upgrade, err := checkVersion(version, b.options.NoSchema)
	if err == nil && (version == 0 || upgrade) {
		bounded, cancel := context.WithTimeout(ctx, batchLimit)
		defer cancel()
		err = patiently(bounded, func() error { return b.makeTables(bounded) })
	}
	if err != nil {
		return err
	}
	return b.write(ctx, mode{serial: true}, b.register)
}

// detect determines the kind of db, and refuses settings with which a claim could be lost.
func (b *Box) detect(ctx context.Context) error {
	var name, file, journal string
	err := b.db.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file)
	if err != nil {
		if b.db.QueryRowContext(ctx, "SELECT version()").Scan(&name) != nil || !strings.HasPrefix(name, "PostgreSQL") {
			return fmt.Errorf("the database is not SQLite or Postgres, or does not answer: %w", err)
		}
		b.d, b.ownClock = Postgres, true
		return nil
	}
	b.d = SQLite
	switch err := b.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); {
	case err != nil:
		return err
	case file == "" && b.db.Stats().MaxOpenConnections != 1:
		return errors.New("an in-memory database has its own contents for each connection: call db.SetMaxOpenConns(1)")
	case file != "" && (strings.EqualFold(journal, "off") || strings.EqualFold(journal, "memory")):
		return fmt.Errorf("with journal_mode %s a crash damages the file: use WAL", journal)
	}
	return nil
}

// version returns the version of the tables, 0 if there are none.
func (t *tx) version() (version int) {
	there := "SELECT count(*) FROM sqlite_schema WHERE name = 'signforms_outbox_boxes'"
	if t.d == Postgres { // to_regclass may not see tables that another process has made while this process waited for its lock
		there = "SELECT count(*) FROM pg_class WHERE relname = 'signforms_outbox_boxes' AND pg_table_is_visible(oid)"
	}
	if t.first([]any{&version}, there); version > 0 {
		t.first([]any{&version}, "SELECT version FROM signforms_outbox_boxes WHERE name = ''")
	}
	return version
}

// makeTables makes or upgrades the tables in one transaction, which waits for other such
// transactions.
func (b *Box) makeTables(ctx context.Context) error {
	began, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer began.Rollback()
	t := &tx{ctx: ctx, on: began, database: &b.database}
	if b.d == Postgres {
		t.exec("SELECT pg_advisory_xact_lock($1, 0)", advisoryLock)
	} else { // the first statement has to be a write
		t.exec("CREATE TABLE signforms_outbox_lock (id INTEGER)")
		t.exec("DROP TABLE signforms_outbox_lock")
	}
	script := Schema(b.d)
	if version := t.version(); version > 0 {
		if script, err = Upgrade(b.d, min(version, schemaVersion())); err != nil {
			return err
		}
	}
	if t.exec(script); t.err != nil {
		return t.err
	}
	return began.Commit()
}

// register records the service of the box.
func (b *Box) register(t *tx) {
	t.exec("INSERT INTO signforms_outbox_boxes (name) VALUES ($1) ON CONFLICT DO NOTHING", b.box)
	if b.client == nil {
		return
	}
	var base, workspace string
	t.first([]any{&base, &workspace}, "SELECT base_url, workspace FROM signforms_outbox_boxes WHERE name = $1", b.box)
	url, id := b.client.BaseURL(), b.client.WorkspaceID()
	if t.err == nil && base != "" && (base != url || workspace != id) && !b.options.Moved {
		t.err = ErrOtherService
	}
	t.exec("UPDATE signforms_outbox_boxes SET base_url = $2, workspace = $3 WHERE name = $1", b.box, url, id)
}

// Wake makes [Box.Run] in this process check for work at once, for example after the commit of an
// Add in another process.
func (b *Box) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// expectAdd makes Run check often for a second, because Add cannot see its transaction commit.
func (b *Box) expectAdd() {
	b.mu.Lock()
	b.added = b.elapsed() + time.Second
	b.mu.Unlock()
	b.Wake()
}
