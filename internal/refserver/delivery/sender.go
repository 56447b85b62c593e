package delivery

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// ErrClosed is the error of a wait for a sender that has stopped.
var ErrClosed = fmt.Errorf("%w: deliveries that were due or being sent are no longer delivered", store.ErrClosed)

// Config is the configuration of a [Sender]. All fields but Tamper are required.
type Config struct {
	Store  *store.Store
	Client *http.Client
	Links  signing.Links
	Frozen bool           // the store's clock is moved only by advances; a call of Wake follows each of them
	Stamp  func() string  // returns the x-timestamp for an attempt made now
	Once   bool           // later attempts have the x-timestamp of the first attempt
	Tamper func(*Request) // may change a request before it is sent; nil: no change
}

// Sender posts the deliveries that are due. For each webhook it posts one delivery at a time and in
// order; different webhooks are served concurrently. Start it with Run. All other methods may be
// called from any goroutine.
type Sender struct {
	Config
	wake    chan struct{}
	workers sync.WaitGroup

	mu       sync.Mutex
	lanes    map[string]*lane // lanes by webhook id; only lanes with work
	claimed  map[string]int   // by webhook id, how many deliveries were claimed and not yet reported; only webhooks with such deliveries
	hung     map[string]bool  // ids of webhooks whose last attempt got no response within AttemptTimeout
	idle     chan struct{}    // closed and replaced when claimed or hung loses or gets a webhook, or when failure changes
	failing  bool             // the store failed to save the last claim or report
	failures int              // how often the store failed to save
	failure  error            // the last error of the store
	stopping bool             // no further attempt begins
	closed   bool
}

// lane is the queue of one webhook.
type lane struct {
	queue  []string // delivery ids
	cancel context.CancelFunc
	done   chan struct{} // closed when the queue has been processed
}

// retryAfter is how long the sender waits after the store has failed to save.
const retryAfter = time.Second

// NewSender returns a sender that does nothing until [Sender.Run]. It also sets the function that
// makes the bodies of the store's deliveries.
func NewSender(c Config) *Sender {
	c.Store.SetRender(func(e signing.Event, w store.Webhook) []byte { return Body(e, c.Links, w.Bare) })
	return &Sender{
		Config: c, wake: make(chan struct{}, 1), lanes: make(map[string]*lane), claimed: make(map[string]int),
		hung: make(map[string]bool), idle: make(chan struct{}),
	}
}

// Run sends until ctx ends, and returns when no attempt is running.
func (s *Sender) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		enqueued := s.Store.Enqueued()
		if err := s.claim(ctx); err != nil {
			timer.Reset(retryAfter)
			enqueued = nil // new deliveries are not tried sooner
		} else if at, ok := s.nextDue(); ok && !s.Frozen {
			timer.Reset(max(at.Sub(s.Store.Now()), 0))
		}
		select {
		case <-ctx.Done():
		case <-enqueued:
		case <-s.wake:
		case <-timer.C:
		}
	}
	s.workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.idle)
}

// Wake makes the sender check the clock again, after the clock was moved.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Settle returns when no delivery is due or being sent. Deliveries that wait for a later time do
// not count. If ctx ends first, Settle returns ctx's error. If the store does not save, it returns
// the store's error. After Run has returned, it returns [ErrClosed].
func (s *Sender) Settle(ctx context.Context) error { return s.settle(ctx, true) }

// SettleAnswering is like [Sender.Settle], but does not wait for webhooks whose last attempt got no
// response in time.
func (s *Sender) SettleAnswering(ctx context.Context) error { return s.settle(ctx, false) }

// Unanswering returns the ids of the webhooks for which [Sender.SettleAnswering] does not wait now.
// The order is not defined.
func (s *Sender) Unanswering() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.claimed {
		if s.hung[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *Sender) settle(ctx context.Context, hung bool) error {
	s.mu.Lock()
	before := s.failures
	if s.failing {
		s.Wake() // the wait may be over
	}
	s.mu.Unlock()
	for {
		idle, err := s.busy(before, hung)
		if idle == nil || err != nil {
			return err
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// busy returns nil if nothing is due or being sent. Otherwise it returns a channel that is closed
// when that may have changed. Attempts for webhooks that do not respond count only if hung is true.
// If the number of store failures is greater than before, busy returns the last failure.
func (s *Sender) busy(before int, hung bool) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := false
	s.Store.View(func(tx *store.Tx) error {
		at, waiting := tx.NextDeliveryAt()
		due = waiting && !at.After(tx.Now)
		return nil
	})
	for id := range s.claimed {
		due = due || hung || !s.hung[id]
	}
	switch {
	case !due:
		return nil, nil
	case s.closed:
		return nil, ErrClosed
	case s.failures > before:
		return nil, s.failure
	}
	return s.idle, nil
}

func (s *Sender) nextDue() (at time.Time, ok bool) {
	s.Store.View(func(tx *store.Tx) error {
		at, ok = tx.NextDeliveryAt()
		return nil
	})
	return at, ok
}

// Stop interrupts the running attempt for the webhook. It returns when that attempt and the queued
// deliveries are cancelled. Call Stop after the webhook was disabled or deleted.
func (s *Sender) Stop(webhookID string) {
	s.mu.Lock()
	l := s.lanes[webhookID]
	delete(s.hung, webhookID)
	if l != nil {
		l.cancel()
	}
	s.mu.Unlock()
	if l != nil {
		<-l.done
	}
}

// Quiesce starts no further attempt, and returns when no attempt is running. If ctx ends first, it
// returns ctx's error.
func (s *Sender) Quiesce(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	for {
		s.mu.Lock()
		idle, done := s.idle, len(s.lanes) == 0
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claim takes every delivery that is due and puts it into its lane. s.mu is held during the
// transaction, so that busy never sees a delivery that is neither due nor claimed.
func (s *Sender) claim(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil
	}
	var due []store.Delivery
	err := s.Store.Update(func(tx *store.Tx) error {
		due = tx.Claim(maxClaim)
		return nil
	})
	if s.fails(err); err != nil {
		return err
	}
	for _, d := range due {
		s.claimed[d.WebhookID]++
		if l := s.lanes[d.WebhookID]; l != nil {
			l.queue = append(l.queue, d.ID)
			continue
		}
		l := &lane{queue: []string{d.ID}, cancel: func() {}, done: make(chan struct{})}
		s.lanes[d.WebhookID] = l
		s.workers.Go(func() { s.drain(ctx, d.WebhookID, l) })
	}
	if len(due) == maxClaim {
		s.Wake()
	}
	s.signalIdle() // the due deliveries may have been cancelled, or may wait for an attempt that hangs
	return nil
}

// fails records whether the store saves. If it does not, fails wakes the callers of Settle.
func (s *Sender) fails(err error) {
	if s.failing = err != nil; s.failing {
		s.failure = err
		s.failures++
		s.signalIdle()
	}
}

// maxClaim is how many deliveries one claim takes at most, because the claim locks the store.
const maxClaim = 256

// drain processes a lane until it is empty.
func (s *Sender) drain(ctx context.Context, webhookID string, l *lane) {
	defer close(l.done)
	for {
		s.mu.Lock()
		if len(l.queue) == 0 || s.stopping {
			delete(s.lanes, webhookID)
			if s.stopping {
				s.signalIdle()
			}
			s.mu.Unlock()
			return
		}
		id := l.queue[0]
		l.queue = l.queue[1:]
		attempt, cancel := context.WithCancel(ctx)
		l.cancel = cancel
		s.mu.Unlock()

		s.deliver(ctx, attempt, id)
		cancel()
		if ctx.Err() != nil {
			return // Run reports to the waiting callers that this attempt was interrupted
		}
		s.done(webhookID)
	}
}

func (s *Sender) done(webhookID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed[webhookID]--; s.claimed[webhookID] == 0 {
		delete(s.claimed, webhookID)
		s.signalIdle()
	}
}

// answers records whether the endpoint of a webhook responds in time.
func (s *Sender) answers(webhookID string, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if yes {
		delete(s.hung, webhookID)
	} else if !s.hung[webhookID] {
		s.hung[webhookID] = true
		s.signalIdle()
	}
}

func (s *Sender) signalIdle() {
	close(s.idle)
	s.idle = make(chan struct{})
}
