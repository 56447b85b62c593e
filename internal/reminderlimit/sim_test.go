package reminderlimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/api"
)

const day = 24 * time.Hour

// conditions are the faults of a simulation. Numbers without a unit are probabilities per request.
type conditions struct {
	latency     time.Duration // of dialling, each way, and half-way through an answer: at most …
	constant    bool          // … or always, but only each way
	refusals    float64       // dials refused
	hangs       float64       // dials never answered
	outcomes    map[outcome]float64
	answers     float64       // 429s, 5xx and garbage of the service's own accord
	cancels     float64       // contexts that end while a request is under way
	impatience  float64       // calls that give up waiting
	pause       time.Duration // at most, between a goroutine's calls
	patientOnly bool          // no limit to any wait but the end
}

// sim is a service, a crowd of callers and what lies between them, in a bubble.
type sim struct {
	conditions
	service  *simService
	attempts *attempts
	clients  []*signforms.Client

	mu  sync.Mutex
	rng *rand.Rand
}

func (s *sim) draw() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.Float64()
}

// upTo draws a duration.
func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.draw() * float64(d)) }

// simulate runs a crowd against a service for a time and returns the verdict over the service's record.
func simulate(t *testing.T, seed uint64, c conditions, limit api.Limit, lasts time.Duration) (v verdict) {
	synctest.Test(t, func(t *testing.T) {
		s := &sim{conditions: c, rng: rand.New(rand.NewPCG(seed, 0))}
		s.service = newSimService(t, limit, s.intercept)
		network := refserver.NewNetwork()
		network.Serve("service.test", s.service)
		w := &wire{service: network.DialContext, dialing: s.dialing, passage: s.passage}
		transport := &http.Transport{DialContext: w.DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: 5 * time.Minute}
		s.attempts = &attempts{base: transport}
		s.open(t)

		// No deadline: towards it, ever more calls would fail at once.
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(lasts, cancel)
		s.crowd(ctx)
		transport.CloseIdleConnections()
		w.running.Wait()
		network.Close()
		v = s.attempts.judge(t, s.service.arrivals())
	})
	return v
}

// open makes clients that differ in all but base URL, key and store.
func (s *sim) open(t *testing.T) {
	store := signforms.NewMemoryLimitStore(nil)
	for _, o := range []signforms.Options{
		{ReminderMaxWait: -1},
		{ReminderMaxWait: 30 * time.Minute, AttemptTimeout: 10 * time.Second},
		{MaxAttempts: 1, ReminderMaxWait: -1},
		{AttemptTimeout: 45 * time.Second},
	} {
		if s.patientOnly {
			o = signforms.Options{ReminderMaxWait: -1}
		}
		o.LimitStore, o.Transport = store, cancelling{s}
		client, err := signforms.New("http://service.test", simKey, &o)
		require.NoError(t, err)
		s.clients = append(s.clients, client)
	}
}

// crowd lets 100 goroutines remind until ctx ends: some through RemindAll, most one by one.
func (s *sim) crowd(ctx context.Context) {
	var crowd sync.WaitGroup
	for i := range 100 {
		documents := s.clients[i%len(s.clients)].Documents
		crowd.Go(func() {
			for ctx.Err() == nil {
				if i%20 == 0 {
					for range documents.RemindAll(ctx, []signforms.DocumentRef{s.service.doc, s.service.doc, s.service.doc}) {
					}
				} else {
					s.remindOnce(ctx, documents)
				}
				sleepUntil(ctx, time.Second+s.upTo(s.pause)) // time must pass, or a call that fails at once would be made for ever
			}
		})
	}
	crowd.Wait()
}

type cancelKey struct{}

func (s *sim) remindOnce(ctx context.Context, documents *signforms.DocumentsService) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = context.WithValue(ctx, cancelKey{}, cancel)
	if s.draw() < s.impatience {
		if s.draw() < 0.5 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, s.upTo(2*time.Hour))
			defer stop()
		} else {
			defer time.AfterFunc(s.upTo(2*time.Hour), cancel).Stop()
		}
	}
	documents.Remind(ctx, s.service.doc)
}

// cancelling is the clients' transport. It ends some calls' contexts while they send, wait for an answer or read it.
type cancelling struct{ *sim }

func (c cancelling) RoundTrip(req *http.Request) (*http.Response, error) {
	if cancel, ok := req.Context().Value(cancelKey{}).(context.CancelFunc); ok && c.draw() < c.cancels {
		time.AfterFunc(c.upTo(3*c.latency), cancel)
	}
	return c.attempts.RoundTrip(req)
}

func (s *sim) dialing(ctx context.Context) error {
	if s.draw() < s.refusals {
		return errors.New("connection refused")
	}
	if s.draw() < s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.constant {
		return nil
	}
	return sleepUntil(ctx, s.upTo(s.latency))
}

func (s *sim) passage() passage {
	p := passage{there: s.upTo(s.latency), back: s.upTo(s.latency)}
	switch {
	case s.constant:
		p.there, p.back = s.latency, s.latency
	case s.draw() < 0.3:
		p.pause = s.upTo(s.latency)
	}
	x := s.draw()
	for f := lostThere; f <= late; f++ {
		if x -= s.outcomes[f]; x < 0 {
			p.outcome = f
			break
		}
	}
	if p.outcome == late {
		p.there += time.Minute + s.upTo(10*time.Minute)
	}
	return p
}

// intercept answers in place of the service, or spoils its answer.
func (s *sim) intercept(_ context.Context, _ *api.Call, work func() api.Answer) api.Answer {
	x := s.draw() / s.answers
	if x >= 1 {
		return work()
	}
	a := api.Answer{Status: http.StatusTooManyRequests, Header: http.Header{}}
	switch int(x * 6) {
	case 1:
		a.Header.Set("Retry-After", fmt.Sprint(int(s.upTo(time.Hour).Seconds())))
	case 2:
		a.Header.Set("Retry-After", time.Now().Add(s.upTo(10*time.Minute)).UTC().Format(http.TimeFormat))
	case 3:
		a.Status, a.Body = http.StatusServiceUnavailable, []byte("gone for tea")
	case 4:
		work()
		a.Status = http.StatusInternalServerError
	case 5:
		work()
		a.Status, a.Body = http.StatusOK, []byte("<html>")
	}
	return a
}

// sleepUntil sleeps for d or until ctx ends.
func sleepUntil(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
