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

// ErrClosed is the error of waiting for a sender that has stopped.
var ErrClosed = fmt.Errorf("%w: what was due or under way is not delivered any more", store.ErrClosed)

// Config is what a [Sender] works with. All fields are required but Tamper.
type Config struct {
	Store  *store.Store
	Client *http.Client
	Links  signing.Links
	Frozen bool           // the store's clock only moves by advances, each followed by Wake
	Stamp  func() string  // the x-timestamp of an attempt made now
	Once   bool           // later attempts have the x-timestamp of the first
	Tamper func(*Request) // may change what goes out; nil: nothing does
}

// Sender posts the deliveries that fall due, one at a time and in order for each webhook, side by side for different
// webhooks. Start it with Run; everything else may be called from any goroutine.
type Sender struct {
	Config
	wake    chan struct{}
	workers sync.WaitGroup

	mu       sync.Mutex
	lanes    map[string]*lane // by webhook id; only those with work
	claimed  map[string]int   // by webhook id, how many deliveries were claimed and not yet reported; only those with some
	hung     map[string]bool  // ids of webhooks whose last attempt ended without an answer after AttemptTimeout
	idle     chan struct{}    // closed, and replaced, when one of the two above loses or gets a webhook, or when failure changes
	failing  bool             // the store did not save the last claim or report
	failures int              // how often it did not
	failure  error            // the last time
	stopping bool             // no further attempt begins
	closed   bool
}

// lane is the queue of one webhook.
type lane struct {
	queue  []string // delivery ids
	cancel context.CancelFunc
	done   chan struct{} // closed when the queue has been worked through
}

// retryAfter is how long the sender waits when the store does not save.
const retryAfter = time.Second

// NewSender returns a sender that does nothing until [Sender.Run]. The store's deliveries get their bodies from it.
func NewSender(c Config) *Sender {
	c.Store.SetRender(func(e signing.Event, w store.Webhook) []byte { return Body(e, c.Links, w.Bare) })
	return &Sender{
		Config: c, wake: make(chan struct{}, 1), lanes: make(map[string]*lane), claimed: make(map[string]int),
		hung: make(map[string]bool), idle: make(chan struct{}),
	}
}

// Run sends until ctx ends, and returns when no attempt is under way any more.
func (s *Sender) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		enqueued := s.Store.Enqueued()
		if err := s.claim(ctx); err != nil {
			timer.Reset(retryAfter)
			enqueued = nil // what comes meanwhile is not tried sooner
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

// Wake makes the sender look at the clock again, after it was moved.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Settle returns when no delivery is due or under way; deliveries that wait for a later time do not count. It returns
// ctx's error when that ends first, the store's when it does not save, and [ErrClosed] after Run has returned.
func (s *Sender) Settle(ctx context.Context) error { return s.settle(ctx, true) }

// SettleAnswering is [Sender.Settle] without waiting for webhooks whose last attempt was not answered in time.
func (s *Sender) SettleAnswering(ctx context.Context) error { return s.settle(ctx, false) }

// Unanswering returns the ids of the webhooks that [Sender.SettleAnswering] does not wait for now, in no order.
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
		s.Wake() // it may be over
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

// busy returns nil when nothing is due or under way, else a channel that is closed when that may have changed. What is
// under way for silent webhooks counts if hung is set. It returns the store's failure if there is one more than before.
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

// Stop breaks off the attempt that is under way for the webhook, and returns when that and what was queued behind it
// are cancelled. Call it after the webhook was disabled or deleted.
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

// Quiesce begins no further attempt, and returns when none is under way. It returns ctx's error when that ends first.
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

// claim takes everything that is due and puts it into the lanes. s.mu is held over the transaction, so that busy never
// sees a delivery neither due nor claimed.
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
	s.signalIdle() // what was due may have been cancelled instead, or is behind an attempt that hangs
	return nil
}

// fails notes whether the store saves, and wakes the callers of Settle when it does not.
func (s *Sender) fails(err error) {
	if s.failing = err != nil; s.failing {
		s.failure = err
		s.failures++
		s.signalIdle()
	}
}

// maxClaim bounds how long one claim keeps the store.
const maxClaim = 256

// drain works through a lane until it is empty.
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
			return // Run tells whoever waits for this attempt that it was cut short
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

// answers notes whether the endpoint of a webhook answers in time.
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
