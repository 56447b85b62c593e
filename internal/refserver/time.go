package refserver

import (
	"context"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Advance moves the service's clock forward by d, which is 0 or more, up to 2262-04-11 at most. What falls due on the
// way (webhook retries, documents that expire, reminders that leave the limit's window) happens in order, each at its
// own time, before Advance returns. Different webhooks deliver side by side.
//
// Advance waits for receivers, so a receiver must not call it. One that gives an attempt no answer for 10 seconds of
// the wall clock is not waited for again until it answers: what falls due to it is delivered beside the clock, one
// after the other and perhaps later than due. [Server.Unanswering] names such webhooks.
//
// The error is ctx's when that ends first; it matches [ErrStorage] when the state could not be saved, and [ErrClosed]
// when the server is closed. Then the clock was moved part of the way or not at all, and what is not due by then stays
// due at its time: [Server.Now] tells how far an advance came. A d that is negative or too large matches [ErrInvalid].
func (s *Server) Advance(ctx context.Context, d time.Duration) error {
	switch {
	case d < 0:
		return invalid("", "%v would move the clock back", d)
	case s.store.Closed():
		return store.ErrClosed
	}
	select {
	case s.advancing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.advancing }()
	if now := s.Now(); d > lastTime.Sub(now) {
		return invalid("", "%v from %s on would move the clock past %s", d, now.Format(time.DateOnly), lastTime.Format(time.DateOnly))
	}
	err := s.advance(ctx, d)
	s.happenings.tell(Happening{Kind: ClockHappening, At: s.Now()})
	return err
}

// Unanswering returns the ids of the webhooks that have deliveries under way and gave their last attempt no answer in
// time, in no order.
func (s *Server) Unanswering() []string { return s.sender.Unanswering() }

// advance makes what falls due on the way happen, each at its own time. Expiry needs no step: every transaction of the
// store begins with it.
func (s *Server) advance(ctx context.Context, d time.Duration) error {
	for {
		s.sender.Wake()
		if err := s.sender.SettleAnswering(ctx); err != nil || d <= 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		step := d
		if next, ok := s.nextDue(); ok {
			step = min(step, max(next.Sub(s.Now()), 0))
		}
		if err := s.keepClock(step); err != nil {
			return err
		}
		s.clock.advance(step)
		d -= step
	}
}

// keepClock saves that the clock is about to move by step, so after a restart it is not behind a time that was seen.
func (s *Server) keepClock(step time.Duration) error {
	if step == 0 || !s.store.Durable() {
		return nil
	}
	return s.store.Update(func(tx *store.Tx) error {
		v := tx.Service()
		v.Offset, v.Latest = s.clock.advanced()+step, tx.Now.Add(step)
		tx.PutService(v)
		return nil
	})
}

// nextDue returns when the next delivery is due.
func (s *Server) nextDue() (at time.Time, ok bool) {
	s.store.View(func(tx *store.Tx) error {
		at, ok = tx.NextDeliveryAt()
		return nil
	})
	return at, ok
}

// Settle returns when no webhook delivery is due or under way; one that waits for its next attempt, as after an error,
// does not count. It returns ctx's error when that ends first, one that matches [ErrStorage] when the server's state
// cannot be saved, and [ErrClosed] when the server is closed first.
func (s *Server) Settle(ctx context.Context) error { return s.sender.Settle(ctx) }
