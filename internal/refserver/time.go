package refserver

import (
	"context"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Advance moves the service's clock forward by d, which is 0 or more, up to 2262-04-11 at most.
// Everything that falls due in that time happens in order, each at its own time, before Advance
// returns: webhook retries, the expiry of documents, and the release of the reminder limit.
// Different webhooks deliver concurrently.
//
// Advance waits for receivers, so a receiver must not call it. If a receiver does not respond to an
// attempt for 10 seconds of the wall clock, Advance stops waiting for this receiver until it
// responds. Its further deliveries are sent independently of the clock, one after the other and
// perhaps later than due. [Server.Unanswering] returns such webhooks.
//
// The error depends on the cause:
//
//   - If d is negative or too large, the error matches [ErrInvalid].
//   - If ctx ends first, the error is ctx's error.
//   - If the state could not be saved, the error matches [ErrStorage].
//   - If the server is closed, the error matches [ErrClosed].
//
// After an error the clock was moved a part of the way or not at all; [Server.Now] returns how far.
// Everything that was not due by then stays due at its time.
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
	s.happenings.publish(Happening{Kind: ClockHappening, At: s.Now()})
	return err
}

// Unanswering returns the ids of the webhooks that have running deliveries and whose last attempt
// got no response in time. The order is not defined.
func (s *Server) Unanswering() []string { return s.sender.Unanswering() }

// advance makes everything that falls due happen, each at its own time. Expiry needs no step,
// because every transaction of the store begins with it.
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

// keepClock saves that the clock is about to move by step. So after a restart, the clock is not
// behind a time that somebody has seen.
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

// Settle returns when no webhook delivery is due or being sent. A delivery that waits for its next
// attempt, as after an error, does not count. If ctx ends first, Settle returns ctx's error. The
// error matches [ErrStorage] if the server's state cannot be saved, and [ErrClosed] if the server
// is closed first.
func (s *Server) Settle(ctx context.Context) error { return s.sender.Settle(ctx) }
