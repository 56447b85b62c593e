package outbox

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy passes connections on to the shared cluster, until one sends a text: then all that there are freeze. They stay open
// and pass nothing on.
type proxy struct {
	net.Listener
	server string

	mu     sync.Mutex
	on     string
	frozen chan struct{} // closed when the connections that were made until then freeze
}

// newProxy returns a proxy, and the place behind it whose statements are sent with their text.
func newProxy(f *fixture) (*proxy, place) {
	c := sharedPostgres(f)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	f.Cleanup(func() { l.Close() })
	p := &proxy{Listener: l, server: filepath.Join(c.dir, ".s.PGSQL.5432"), frozen: make(chan struct{})}
	go p.serve()
	through := fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable default_query_exec_mode=exec ", l.Addr().(*net.TCPAddr).Port)
	return p, place{"pgx", through + f.place.source[len("host="+c.dir):]}
}

// freezeOn makes connections freeze before they pass on a text.
func (p *proxy) freezeOn(text string) (frozen <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = text
	return p.frozen
}

// frozenBy reports whether the connections that share frozen are, or freeze by what one of them is to pass on.
func (p *proxy) frozenBy(frozen chan struct{}, data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on != "" && frozen == p.frozen && bytes.Contains(data, []byte(p.on)) {
		close(p.frozen)
		p.frozen, p.on = make(chan struct{}), ""
	}
	select {
	case <-frozen:
		return true
	default:
		return false
	}
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
		pass := func(to, from net.Conn) {
			buffer := make([]byte, 1<<16)
			for {
				n, err := from.Read(buffer)
				if p.frozenBy(frozen, buffer[:n]) {
					return // both connections stay open
				}
				if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
					to.Close()
					from.Close()
					return
				}
			}
		}
		go pass(server, client)
		go pass(client, server)
	}
}

// All connections of a process freeze in the middle of a transaction, as in a silent failover. It goes on with new ones, and
// the frozen transaction holds nothing up.
func TestRun_frozenConnections(t *testing.T) {
	for name, text := range map[string]string{"claim": "SET state = 'sending'", "outcome": "SET state = 'sent'", "OnChange": "SET told = changes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, postgresPlace(t))
			p, through := newProxy(f)
			b, err := Open(t.Context(), through.open(t), f.client(), // another name: parallel tests use the lock of "default"
				&Options{Name: "frozen at " + name, Logger: slog.New(slog.DiscardHandler), OnChange: f.changed})
			require.NoError(t, err)
			add := func(key, address string) {
				require.NoError(t, b.Add(t.Context(), f.db, Message{Key: key, Send: f.to(address)}))
			}
			frozen := p.freezeOn(text)
			defer runBox(t, b)()
			add("0", "ann@example.com")
			<-frozen
			add("1", "ben@example.com")
			require.Eventually(t, func() bool { return slices.Contains(f.told(), "1 sent") }, time.Minute, 20*time.Millisecond)
		})
	}
}
