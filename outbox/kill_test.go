package outbox

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
)

var (
	kills = flag.Int("outbox.kills", 10, "how many processes TestRun_killedProcesses kills, on each database")
	stops = flag.Int("outbox.stops", 5, "how many processes TestRun_stoppedProcesses stops, on each database")
)

// processes is two processes that run one box, and messages for them.
type processes struct {
	*fixture
	service string
	timeout time.Duration
	running [2]*child
	keys    int
	wanted  map[string]int // messages by their address

	arriving sync.RWMutex // held for reading from the arrival of a send until its work is done
	sends    atomic.Int64
}

// gateway is before the service, and takes its time with each send before and after the work, which is done although the
// process that asked for it has died.
func (p *processes) gateway() http.Handler {
	to, err := url.Parse(p.srv.URL)
	require.NoError(p, err)
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	work := func(w http.ResponseWriter, r *http.Request) {
		p.arriving.RLock()
		defer p.arriving.RUnlock()
		p.sends.Add(1)
		time.Sleep(rand.N(30 * time.Millisecond))
		pass.ServeHTTP(w, r)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			pass.ServeHTTP(w, r)
			return
		}
		if body, err := io.ReadAll(r.Body); err == nil {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			work(w, r.WithContext(p.Context()))
			time.Sleep(rand.N(30 * time.Millisecond))
		}
	})
}

func newProcesses(f *fixture, timeout time.Duration) *processes {
	srv := signformstest.NewServer(f.T, nil) // whose clock goes
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}, {Title: "Seller"}}})
	f.srv, f.template = srv, template
	p := &processes{fixture: f, timeout: timeout, wanted: map[string]int{}}
	gateway := httptest.NewServer(p.gateway())
	p.Cleanup(gateway.Close)
	p.service = gateway.URL
	for i := range p.running {
		p.running[i] = p.start(p.service, timeout)
	}
	return p
}

// addSome adds messages, some of them to an address that has one already.
func (p *processes) addSome() {
	p.Helper()
	for range 4 {
		address := fmt.Sprint("p", p.keys-min(p.keys, rand.IntN(3)/2*rand.IntN(10)), "@example.com")
		p.add(fmt.Sprint(p.keys), address)
		p.wanted[address]++
		p.keys++
	}
}

// sending returns when another send has arrived, or after a second in which none did.
func (p *processes) sending() {
	before := p.sends.Load()
	for range 100 {
		if p.sends.Load() > before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(rand.N(60 * time.Millisecond))
}

// advanceBy moves the clocks of the service and of some processes, while no send is on its way. Each tick takes a while, in
// which they work.
func (p *processes) advanceBy(ticks int, each time.Duration, some ...*child) {
	tick := func() {
		p.arriving.Lock()
		defer p.arriving.Unlock()
		p.srv.Advance(childTick)
		for _, c := range some {
			io.WriteString(c.stdin, "\n")
		}
	}
	for range ticks {
		time.Sleep(each)
		tick()
	}
}

// open returns the number of messages that are not sent yet. One that failed is tried again: on a slow machine the clock
// may have moved ten times between its claims and their requests.
func (p *processes) open() (n int) {
	p.Helper()
	for e, err := range p.List(p.Context(), Filter{States: []State{Pending, Sending, Failed}}) {
		require.NoError(p, err)
		if n++; e.State == Failed {
			require.NoError(p, p.Retry(p.Context(), p.db, e.Key))
		}
	}
	return n
}

// finish waits until all messages are sent, and requires each one once.
func (p *processes) finish() {
	p.Helper()
	for each := 20 * time.Millisecond; p.open() > 0; each *= 2 { // a slow machine needs more time for the same work
		require.Less(p, each, 10*time.Second, "messages are not sent")
		p.advanceBy(60, min(each, time.Second), p.running[:]...)
	}
	for _, c := range p.running {
		c.kill()
	}
	got, documents := map[string]int{}, map[string]bool{}
	for _, d := range p.srv.Documents() {
		got[d.Signers[0].Email]++
	}
	require.Equal(p, p.wanted, got, "each message once")
	for e, err := range p.List(p.Context(), Filter{}) {
		require.NoError(p, err)
		require.Equal(p, Sent, e.State, "%s: %s", e.Key, e.Err)
		require.Empty(p, e.Duplicates)
		documents[e.DocumentID] = true
	}
	require.Len(p, documents, p.keys)
	var doubts int
	require.NoError(p, p.db.QueryRow("SELECT count(*) FROM signforms_outbox WHERE doubted >= 60000 OR attempt > 1").Scan(&doubts))
	p.Logf("%s: %d messages, %d sends, of which %d were in doubt or begun again", p.Name(), p.keys, p.sends.Load(), doubts)
}

// Processes are killed while they send.
func TestRun_killedProcesses(t *testing.T) {
	eachStore(t, func(f *fixture) {
		p := newProcesses(f, 2*time.Minute)
		for i := range *kills {
			p.addSome()
			p.sending()
			p.running[i%2].kill()
			p.running[i%2] = p.start(p.service, p.timeout)
			p.advanceBy(rand.IntN(10), 10*time.Millisecond, p.running[:]...)
		}
		p.finish()
	})
}

// Processes are stopped while they send, for longer than the deadline of the send, and go on when the other one has looked
// for their documents, or has sent the messages again.
func TestRun_stoppedProcesses(t *testing.T) {
	eachStore(t, func(f *fixture) {
		p := newProcesses(f, time.Second)
		for i := range *stops {
			p.addSome()
			p.sending()
			stopped, other := p.running[i%2], p.running[1-i%2]
			stopped.stop()
			time.Sleep(p.timeout + p.timeout/4)
			p.advanceBy(rand.IntN(60), 20*time.Millisecond, other)
			stopped.goOn()
		}
		p.finish()
	})
}
