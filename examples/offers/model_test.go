package offers

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/outbox"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

var lives = flag.Int("lives", 60, "how many random lives the model has")

// world is a network and processes between which anything may happen.
type world struct {
	*fixture
	verifier *webhook.Verifier
	unread   bool // lists do not say who signs

	mu      sync.Mutex
	random  *rand.Rand
	broken  bool
	process *process
	events  http.Handler   // of the process
	late    sync.WaitGroup // requests that arrive late
}

func (w *world) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken && w.random.Float64() < p
}

// duration returns a random time below d.
func (w *world) duration(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.random.Int64N(int64(d)))
}

// process is the connection of one process to the service.
type process struct {
	*world
	http.RoundTripper
	kill func() // it records nothing more

	mu       sync.Mutex
	requests int // until it is killed; 0: it is not
	dead     bool
}

// dying reports whether the process is dead, and kills it at the request at which it is to die.
func (p *process) dying() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests > 0 && !p.dead {
		if p.requests--; p.requests == 0 {
			p.dead = true
			p.kill()
		}
	}
	return p.dead
}

var errLost = errors.New("the connection is lost")

func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.dying() {
		return nil, errLost
	}
	if r.Method == http.MethodGet {
		return p.read(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	again := r.Clone(context.Background())
	again.Body = io.NopCloser(bytes.NewReader(body))
	arrive := func() (*http.Response, error) { return p.RoundTripper.RoundTrip(again) }
	switch {
	case p.chance(0.15):
		return nil, errLost
	case p.chance(0.15):
		after := p.duration(30 * time.Second)
		p.late.Go(func() {
			time.Sleep(after)
			discard(arrive())
		})
		return nil, errLost
	}
	response, err := arrive()
	if p.chance(0.3) || p.dying() {
		discard(response, err)
		return nil, errLost
	}
	return response, err
}

// read reads a list or a document, which may fail, or not say who signs.
func (p *process) read(r *http.Request) (*http.Response, error) {
	if p.chance(0.2) {
		return nil, errLost
	}
	response, err := p.RoundTripper.RoundTrip(r)
	if err != nil || !p.unread {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	body = bytes.ReplaceAll(body, []byte(`"signers":[`), []byte(`"signers":null,"others":[`))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, err
}

func discard(response *http.Response, err error) {
	if err == nil {
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}

// restart starts a process whose clock is off, after the last one was killed.
func (w *world) restart() {
	w.stop()
	p := &process{world: w}
	off := w.duration(48*time.Hour) - 24*time.Hour
	w.start(func(o *signforms.Options) {
		p.RoundTripper, o.Transport, o.MaxAttempts = o.Transport, p, 1
	}, func(o *outbox.Options) {
		o.Grace = -1
		o.Now = func() time.Time { return time.Now().Add(off) }
	})
	db := w.db
	p.kill = func() { db.Close() }
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process, w.events = p, webhook.NewHandler(w.verifier, w.Box.Funcs(webhook.Funcs{}), &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
}

// dies makes the process die at one of its next requests.
func (p *process) dies(requests int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = requests
}

// receive receives events. Some are lost.
func (w *world) receive(response http.ResponseWriter, r *http.Request) {
	lost := w.chance(0.5)
	w.mu.Lock()
	events := w.events
	w.mu.Unlock()
	if lost {
		events = http.NotFoundHandler()
	}
	events.ServeHTTP(response, r)
}

// act is what a receiver does.
func (w *world) act() {
	open := w.srv.Documents()
	if len(open) == 0 {
		return
	}
	d := open[w.duration(time.Duration(len(open)))]
	if signer := w.srv.Signer(d.ID, d.Signers[0].Email); w.chance(0.3) {
		signer.Decline("")
	} else {
		signer.Sign()
	}
}

// decide is what a person does about undecided offers, who sees all documents of the service.
func (w *world) decide() {
	for _, o := range w.find("state = 'undecided'") {
		mine := ""
		for _, d := range w.srv.Documents() {
			if d.Signers[0].Email == o.Email && len(w.find("document = '"+d.ID+"'")) == 0 {
				mine = d.ID
			}
		}
		if mine == "" {
			require.NoError(w, w.Box.MarkNotSent(w.Context(), w.db, o.Ref))
		} else if err := w.Box.MarkSent(w.Context(), o.Ref, mine); err != nil {
			require.ErrorIs(w, err, outbox.ErrState, "it may be that of an offer that is sending")
		}
		time.Sleep(time.Minute)
	}
}

// check requires each offer once at the service.
func (w *world) check(wanted map[string]int) {
	sent := map[string]int{}
	for _, d := range w.srv.Documents() {
		sent[d.Signers[0].Email]++
		owners := w.find("document = '" + d.ID + "'")
		require.Len(w, owners, 1, "one offer owns the document")
		require.Equal(w, d.Signers[0].Email, owners[0].Email)
		require.Equal(w, d.Status, owners[0].Status)
	}
	require.Equal(w, wanted, sent, "each offer once")
	reminders := map[string]int{}
	for _, m := range w.srv.Messages() {
		if m.Kind == signformstest.Reminder {
			reminders[m.To]++
		}
	}
	for email, n := range reminders {
		require.LessOrEqual(w, n, sent[email])
	}
}

// Processes are killed, clocks differ, responses and requests are lost or late, lists fail and do not say who signs: nobody gets
// an offer twice, and nobody is forgotten.
func TestRandomLives(t *testing.T) {
	for seed := range *lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(f *fixture) {
				v, err := webhook.NewVerifier([]string{f.srv.WebhookSecret}, nil)
				require.NoError(t, err)
				w := &world{fixture: f, verifier: v, unread: seed%3 == 0, random: rand.New(rand.NewPCG(uint64(seed), 1)), broken: true}
				defer w.late.Wait()
				w.restart()
				f.srv.AddWebhook(signformstest.Webhook{Event: signformstest.FamilyTemplateResponse,
					URL: f.network.Serve("app.test", http.HandlerFunc(w.receive))})
				wanted := map[string]int{}
				for step := range 30 {
					switch w.duration(5) {
					case 0:
						email := fmt.Sprint("p", int64(w.duration(4)), "@example.com")
						w.want(fmt.Sprint(step), email)
						wanted[email]++
					case 1:
						time.Sleep(w.duration(10 * time.Minute))
					case 2:
						w.act()
					case 3: // it dies at one of the next requests
						w.process.dies(1 + int(w.duration(6)))
						time.Sleep(w.duration(time.Minute))
						w.restart()
					default:
						time.Sleep(w.duration(time.Second))
					}
				}
				w.mu.Lock()
				w.broken = false
				w.mu.Unlock()
				for range 3 * 30 {
					time.Sleep(5 * time.Minute)
					w.decide()
					if len(w.find("state IN ('pending', 'sending', 'undecided')")) == 0 {
						break
					}
				}
				time.Sleep(25 * time.Hour)
				w.check(wanted)
			})
		})
	}
}
