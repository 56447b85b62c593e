package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// process is a program that runs the box of a life. Each of its statements and requests may be its last one, may come after
// a time in which it was stopped, or may be executed without a response. It does one thing at a time, so that a life is
// the same whenever it is lived again.
type process struct {
	*life
	random  *rand.Rand
	cancel  context.CancelFunc
	killed  bool
	hot     int  // how many statements are in greater danger, because of a request before them
	perfect bool // nothing happens to it
}

// perils are the probabilities of what may happen to a statement or request.
type perils struct {
	kill, stop, lose float64
	longest          time.Duration // for which the process is stopped
}

var (
	ofStatement   = perils{0.003, 0.002, 0.003, 20 * time.Minute}
	inTransaction = perils{0.003, 0.002, 0.003, 8 * time.Second}
	ofRequest     = perils{0.03, 0.03, 0.05, 20 * time.Minute}
)

var errKilled = errors.New("the process was killed")

func (p *process) chance(probability float64) bool {
	if p.hot > 0 {
		probability *= 10
	}
	return !p.perfect && !p.calm.Load() && p.random.Float64() < probability
}

func (p *process) upTo(d time.Duration) time.Duration {
	return time.Duration(p.random.Int64N(int64(d)))
}

// around executes a statement or request.
func (p *process) around(ctx context.Context, of perils, do func() error) error {
	if p.killed {
		return errKilled
	}
	time.Sleep(time.Microsecond + p.upTo(2*time.Millisecond))
	if p.chance(of.stop) {
		p.count.stops.Add(1)
		longest := []time.Duration{30 * time.Second, 5 * time.Minute, of.longest}[p.random.IntN(3)]
		stopped := time.After(p.upTo(min(longest, of.longest)))
		if of == inTransaction {
			select {
			case <-stopped:
			case <-ctx.Done():
			}
		} else {
			<-stopped
		}
		if of != ofRequest && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	kill := p.chance(of.kill)
	if kill && p.random.IntN(2) == 0 {
		return p.die()
	}
	err := do()
	p.hot--
	switch {
	case kill:
		return p.die()
	case err == nil && p.chance(of.lose):
		p.count.losses.Add(1)
		if p.random.IntN(2) == 0 { // the connection is frozen
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
		}
		return errLost
	}
	return err
}

func (p *process) die() error {
	p.killed = true
	p.count.kills.Add(1)
	p.trace("killed")
	p.cancel()
	return errKilled
}

// RoundTrip is the network between the process and the service.
func (p *process) RoundTrip(r *http.Request) (response *http.Response, err error) {
	if r.Method == http.MethodPost {
		p.hot = 12
		defer func() { p.trace("%s: %v", r.URL.Path, err) }()
	}
	err = p.around(r.Context(), ofRequest, func() error {
		var body []byte
		if r.Body != nil {
			if body, err = io.ReadAll(r.Body); err != nil {
				return err
			}
		}
		if p.chance(0.01) {
			return errLost // before it arrives
		}
		response, err = p.service.handle(r, body, p)
		return err
	})
	if err != nil {
		if r.Method == http.MethodPost {
			p.count.unknown.Add(1)
		}
		return nil, err
	}
	return response, nil
}

// Connect opens a connection of the process to the database.
func (p *process) Connect(context.Context) (driver.Conn, error) {
	conn, err := p.db.Driver().Open(p.source)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, process: p, statements: map[string]driver.Stmt{}}, nil
}

// Driver is part of driver.Connector.
func (p *process) Driver() driver.Driver { return p.db.Driver() }

// connection is a connection of a process.
type connection struct {
	driver.Conn
	process    *process
	began      bool
	statements map[string]driver.Stmt // by their text; to parse each again would take half of a life's time
}

func (c *connection) statement(ctx context.Context, query string) (s driver.Stmt, err error) {
	if s = c.statements[query]; s == nil {
		if s, err = c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, quickly.Replace(query)); err == nil {
			c.statements[query] = s
		}
	}
	return s, err
}

func (c *connection) Close() error {
	for _, s := range c.statements {
		_ = s.Close()
	}
	return c.Conn.Close()
}

// around executes a statement. In one that database/sql may wait for with a mutex, no time may pass in the bubble: that is
// so if the transaction's context has ended, and the statement's own has no end.
func (c *connection) around(ctx context.Context, do func() error) error {
	switch {
	case !c.began:
		return c.process.around(ctx, ofStatement, do)
	case ctx.Done() == nil:
		return do()
	}
	return c.process.around(ctx, inTransaction, do)
}

func (c *connection) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	begun := false
	err = c.around(ctx, func() error {
		tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
		begun = err == nil
		return err
	})
	if err != nil {
		if begun {
			_ = tx.Rollback()
		}
		return nil, err
	}
	c.began = true
	return &transaction{tx, c}, nil
}

// quickly makes a wait for a lock short, because time does not go on in it.
var quickly = strings.NewReplacer("'lock_timeout', '2s'", "'lock_timeout', '50ms'")

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.around(ctx, func() error {
		s, err := c.statement(ctx, query)
		if err == nil {
			result, err = s.(driver.StmtExecContext).ExecContext(ctx, args)
		}
		return err
	})
	return result, err
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	found := false
	err = c.around(ctx, func() error {
		s, err := c.statement(ctx, query)
		if err == nil {
			rows, err = s.(driver.StmtQueryContext).QueryContext(ctx, args)
		}
		found = err == nil
		return err
	})
	if err != nil && found {
		_ = rows.Close()
	}
	return rows, err
}

// transaction is a transaction of a process. Its end is the database's if the process was killed.
type transaction struct {
	driver.Tx
	conn *connection
}

func (t *transaction) Commit() error {
	t.conn.began = false
	err := t.conn.process.around(context.Background(), inTransaction, t.Tx.Commit)
	if errors.Is(err, errKilled) {
		_ = t.Tx.Rollback()
	}
	return err
}

func (t *transaction) Rollback() error {
	t.conn.began = false
	return t.Tx.Rollback()
}

// run runs the box until a time, or until it is killed. It returns false if it was killed.
func (p *process) run(until time.Time, change func(*Options)) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.cancel = cancel
	db := sql.OpenDB(p)
	defer db.Close()
	o := p.options(p)
	change(o)
	b, err := Open(ctx, db, p.client(p), o)
	if err != nil {
		return !p.killed
	}
	b.ownClock = false
	r := newRunner(b)
	for ctx.Err() == nil && time.Now().Before(until) {
		wait := r.step(ctx)
		select {
		case <-b.wake:
		default:
			time.Sleep(max(time.Millisecond, min(wait, time.Until(until))))
		}
	}
	if !p.killed {
		r.drain(ctx)
	}
	return !p.killed
}
