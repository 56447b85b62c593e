package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// proxy passes connections on to the cluster. A frozen connection stays open and no longer passes bytes on.
type proxy struct {
	net.Listener
	server string
	on     string // a connection freezes before it passes on a statement with this text

	mu     sync.Mutex
	frozen chan struct{} // closed when the connections that were made until then freeze
	ended  chan struct{}
}

// newProxy returns a proxy and a stage that uses a new schema through it. Statements are sent with their text.
func newProxy(t *testing.T, on string) (*proxy, stage) {
	c := sharedPostgres(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{
		Listener: l, server: filepath.Join(c.dir, ".s.PGSQL.5432"), on: on,
		frozen: make(chan struct{}), ended: make(chan struct{}),
	}
	go p.serve()
	port := l.Addr().(*net.TCPAddr).Port
	through := fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable default_query_exec_mode=exec", port)
	return p, stage{T: t, where: where(strings.Replace(c.newSchema(t), "host="+c.dir, through, 1))}
}

// beside returns the same stage without the proxy.
func (p *proxy) beside(s stage) stage {
	fields := strings.Fields(string(s.where))
	fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, "port=") })
	fields[0] = "host=" + filepath.Dir(p.server)
	s.where = where(strings.Join(fields, " "))
	return s
}

// end ends all connections. A test defers it, so that its queues close without waiting for answers.
func (p *proxy) end() {
	close(p.ended)
	p.Close()
}

// freeze freezes all connections that there are.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.frozen)
	p.frozen = make(chan struct{})
}

func (p *proxy) serve() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		server, err := net.Dial("unix", p.server)
		if err != nil {
			client.Close()
			continue
		}
		stop := make(chan struct{})
		freeze := sync.OnceFunc(func() { close(stop) })
		go func() {
			select {
			case <-frozen:
				freeze()
				<-p.ended
			case <-p.ended:
			}
			client.Close()
			server.Close()
		}()
		go p.pass(server, client, stop, freeze)
		go p.pass(client, server, stop, func() {})
	}
}

// pass passes on what comes until an end, or until the connection is frozen; then it returns with the test.
func (p *proxy) pass(to, from net.Conn, stop <-chan struct{}, freeze func()) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if p.on != "" && bytes.Contains(buffer[:n], []byte(p.on)) {
			freeze()
		}
		select {
		case <-stop:
			<-p.ended
			return
		default:
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			to.Close()
			from.Close()
			return
		}
	}
}

// After a failover whose old connections neither respond nor end, Run continues on new connections and reports those that it
// closed.
func TestRun_afterASilentFailover(t *testing.T) {
	t.Parallel()
	p, s := newProxy(t, "")
	defer p.end()
	var log logged
	q := s.queue(&queue.Options{Logger: log.logger()})
	receiver := p.beside(s).queue(nil)
	began := make(chan string, 9)
	s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		began <- name(e)
		return nil
	}})
	for n := range 8 {
		s.accept(receiver, completed(fmt.Sprint(n), 1))
		<-began
	}
	s.settled(receiver)
	p.freeze()
	s.accept(receiver, completed("after", 1))
	select {
	case <-began:
	case <-time.After(20 * time.Second):
		require.Fail(t, "the event did not run within 20 seconds")
	}
	s.settled(receiver)
	require.Equal(t, 1, log.count(`the store did not respond in time, Run tries again" what="looking for due ordering keys" waited=5s`), "once")
}

// A client that freezes in the middle of a transaction does not keep the ordering keys that it has locked.
func TestRun_frozenTransaction(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ what, statement string }{
		{what: "settlement", statement: "SET state = 1"}, {what: "claim", statement: "SET lease = $2, token"},
		{what: "delivery", statement: "INSERT INTO signforms_events"},
		{what: "erasure", statement: "SET state = 3"},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			p, s := newProxy(t, row.statement)
			defer p.end()
			q := s.queue(&queue.Options{Grace: -1})
			receiver := p.beside(s).queue(nil)
			s.accept(receiver, completed("a", 1))
			switch row.what {
			case "delivery":
				require.Equal(t, http.StatusServiceUnavailable, s.deliver(q, webhooktest.Payload(completed("a", 2))).Code)
			case "erasure":
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := q.Erase(ctx, queue.Filter{Document: "a"})
				require.Error(t, err)
			default:
				began := make(chan struct{}, 9)
				s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
					began <- struct{}{}
					return nil
				}})
				if row.what == "settlement" {
					<-began
				}
			}
			require.Eventually(t, func() bool {
				return s.deliver(receiver, webhooktest.Payload(completed("a", 3))).Code != http.StatusOK
			}, 3*time.Second, time.Millisecond, "the ordering key was never locked")
			until := time.Now().Add(15 * time.Second)
			for s.deliver(receiver, webhooktest.Payload(completed("a", 4))).Code != http.StatusOK {
				require.True(t, time.Now().Before(until), "the ordering key stays locked")
			}
		})
	}
}

// A function that has called Complete and hangs before its commit does not keep deliveries of its
// ordering key out, nor does who erases or retries its event, which ends with an error.
func TestComplete_hangs(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	s := l.s
	first := s.queue(&queue.Options{Timeout: time.Second, Grace: -1}) // it must come as far as hangs in time
	s.accept(first, completed("a", 1))
	hangs, goOn := make(chan struct{}, 1), make(chan struct{})
	s.run(first, webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
		tx, err := l.enter(ctx, e)
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx))
		select {
		case hangs <- struct{}{}:
		default:
		}
		<-goOn
		return errors.New("not committed")
	}})
	defer close(goOn)
	<-hangs
	second := s.queue(&queue.Options{Grace: -1})
	s.run(second, webhook.Funcs{Default: func(context.Context, webhook.Event) error { return nil }})
	changed := make(chan error, 2)
	go func() {
		_, err := second.Erase(t.Context(), queue.Filter{Document: "a"})
		changed <- err
		_, err = second.Retry(t.Context(), queue.Filter{Document: "a"})
		changed <- err
	}()
	for until := time.Now().Add(4 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		s.accept(second, completed("a", 2))
	}
	require.ErrorContains(t, <-changed, "lock timeout")
	require.ErrorContains(t, <-changed, "lock timeout")
}

// Where PgBouncer gives a connection to others between transactions, the error about prepared
// statements says what to set.
func TestPgBouncer_hint(t *testing.T) {
	s := stage{T: t, where: where(bouncer(t, "transaction"))}
	var err error
	require.Eventually(t, func() bool {
		var close func() error
		if _, close, err = s.open(t.Context(), nil); err == nil {
			require.NoError(t, close())
			return false
		}
		return strings.Contains(err.Error(), "prepared statement")
	}, time.Minute, 20*time.Millisecond)
	require.ErrorContains(t, err, "default_query_exec_mode=exec")
}
