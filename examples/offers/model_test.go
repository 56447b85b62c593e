package offers

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

var lives = flag.Int("lives", 60, "how many random lives the model has")

// world is a network and a process between which anything may happen.
type world struct {
	*fixture
	random   *rand.Rand
	broken   bool
	unread   bool     // lists do not say who signs
	held     []func() // requests that arrive late
	requests int      // until the process is killed; 0: it is not
	kill     func()
}

func (w *world) chance(p float64) bool { return w.broken && w.random.Float64() < p }

// dying reports whether the process dies at this request, and kills it.
func (w *world) dying() bool {
	if w.requests == 0 {
		return false
	}
	w.requests--
	if w.requests == 0 {
		w.kill()
		return true
	}
	return false
}

var errLost = errors.New("the connection is lost")

// network is the connection of one process.
type network struct {
	*world
	http.RoundTripper
}

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.dying() {
		return nil, errLost
	}
	if r.Method == http.MethodGet {
		return n.read(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	late := r.Clone(context.Background())
	late.Body = io.NopCloser(bytes.NewReader(body))
	arrive := func() (*http.Response, error) { return n.RoundTripper.RoundTrip(late) }
	switch {
	case n.chance(0.15):
		return nil, errLost
	case n.chance(0.15):
		n.held = append(n.held, func() { discard(arrive()) })
		return nil, errLost
	}
	answer, err := arrive()
	if n.chance(0.3) || n.dying() {
		discard(answer, err)
		return nil, errLost
	}
	return answer, err
}

// read reads a list or a document, which may fail, or not say who signs.
func (n network) read(r *http.Request) (*http.Response, error) {
	if n.chance(0.2) {
		return nil, errLost
	}
	if n.unread {
		return replacing{n.RoundTripper, [2]string{`"signers":[`, `"signers":null,"others":[`}}.RoundTrip(r)
	}
	return n.RoundTripper.RoundTrip(r)
}

func discard(answer *http.Response, err error) {
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

// start starts a process whose clock is off. Its last one is dead.
func (w *world) start() {
	w.Offers = w.process(func(o *signforms.Options) {
		o.Transport = network{w, o.Transport}
		o.MaxAttempts = 1
	})
	off := time.Duration(w.random.Int64N(int64(48*time.Hour))) - 24*time.Hour
	w.now = func() time.Time { return w.srv.Now().Add(off) }
}

// advance lets time pass, and requests that are late arrive within the first half minute of it.
func (w *world) advance(d time.Duration) {
	w.srv.Advance(min(d, 30*time.Second))
	for _, arrive := range w.held {
		arrive()
	}
	w.held = nil
	w.srv.Advance(max(0, d-30*time.Second))
}

// work does a pass, in which the process may be killed: then it records nothing more.
func (w *world) work() {
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	db, killed := w.db, false
	w.kill = func() {
		killed = true
		cancel()
		db.Close()
	}
	w.requests = 0
	if w.chance(0.4) {
		w.requests = 1 + w.random.IntN(6)
	}
	w.Pass(ctx) // what fails is tried again
	w.requests = 0
	if killed || w.chance(0.1) {
		w.start()
	}
}

// act is what a receiver does.
func (w *world) act() {
	open := w.srv.Documents()
	if len(open) == 0 {
		return
	}
	d := open[w.random.IntN(len(open))]
	signer := w.srv.Signer(d.ID, d.Signers[0].Email)
	if w.random.IntN(3) == 0 {
		signer.Decline("")
	} else {
		signer.Sign()
	}
	if w.random.IntN(2) == 0 {
		w.look(d.Signers[0].Email)
	}
}

// check wants each offer at the service once.
func (w *world) check(wanted map[string]int) {
	sent := map[string]int{}
	for _, d := range w.srv.Documents() {
		sent[d.Signers[0].Email]++
		owners := w.find("document = '" + d.ID + "'")
		require.Len(w, owners, 1, "one offer owns the document")
		require.Equal(w, d.Signers[0].Email, owners[0].Email)
		want := map[signforms.DocumentStatus]string{
			signforms.StatusPending: Open, signforms.StatusSigned: Signed, signforms.StatusDeclined: Closed,
		}[d.Status]
		require.Equal(w, want, owners[0].State)
	}
	require.Equal(w, wanted, sent, "each offer once")
	for email, n := range w.reminders() {
		require.LessOrEqual(w, n, sent[email])
	}
}

// Processes are killed, clocks differ, answers and requests get lost or late, lists fail and do not say who signs: nobody gets an
// offer twice, and nobody is forgotten.
func TestRandomLives(t *testing.T) {
	for seed := range *lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &world{fixture: newFixture(t), random: rand.New(rand.NewPCG(uint64(seed), 1)), broken: true}
			w.unread = w.random.IntN(3) == 0
			w.start()
			wanted := map[string]int{}
			for step := range 30 {
				switch w.random.IntN(5) {
				case 0:
					email := fmt.Sprint("p", w.random.IntN(4), "@example.com")
					w.want(fmt.Sprint(step), email)
					wanted[email]++
				case 1:
					w.advance(time.Duration(w.random.Int64N(int64(2 * doubtTime))))
				case 2:
					w.act()
				default:
					w.work()
				}
			}
			w.broken = false
			for range 3 * 30 {
				w.work()
				w.advance(doubtTime)
				if len(w.find("state IN ('new', 'sending')")) == 0 {
					break
				}
			}
			w.advance(24 * time.Hour)
			w.work()
			w.check(wanted)
		})
	}
}
