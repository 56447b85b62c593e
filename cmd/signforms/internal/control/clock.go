package control

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

func (a *API) clock() *wire.Clock {
	advancing := a.advancing.Load() > 0 // read before the time: an advance that ends in between does not move the clock afterwards
	now := a.server.Now()
	unanswering := slices.Sorted(slices.Values(a.server.Unanswering()))
	return &wire.Clock{
		Now: now.UTC(), Ahead: wire.Duration(time.Until(now).Round(time.Second)), Advancing: advancing,
		Unanswering: unanswering, Unheard: a.unheard(),
	}
}

func (a *API) getClock(r *http.Request) (any, error) { return a.clock(), readQuery(r).check() }

func (a *API) advance(r *http.Request, in wire.Advance) (any, error) {
	if time.Duration(in.By) < wire.LeastAdvance {
		return nil, inputError(`by is missing or less than 1ms: write how far to advance, as in {"by":"72h"}`)
	}
	if ahead := time.Until(a.server.Now()); ahead+time.Duration(in.By) > wire.MaxDuration {
		return nil, inputError("the clock would be more than %d days, about 100 years, ahead of the wall clock", wire.MaxDays)
	}
	a.advancing.Add(1)
	err := a.server.Advance(r.Context(), time.Duration(in.By))
	a.advancing.Add(-1)
	if err != nil {
		return nil, stopped(r, err)
	}
	return a.clock(), nil
}

// stopped returns the error for a request that the end of the sandbox has interrupted, or err. A
// client that has gone gets no response.
func stopped(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		return err
	}
	return failure(http.StatusServiceUnavailable, "stopping", "the sandbox stops: the clock stays where it is, and what is not due yet stays due at its time")
}

// The default and the maximum time that settle waits.
const (
	defaultSettle = 30 * time.Second
	maxSettle     = 10 * time.Minute
)

// settle waits until no delivery is due or being sent.
func (a *API) settle(r *http.Request) (any, error) {
	in := wire.Wait{Timeout: wire.Duration(defaultSettle)}
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	if in.Timeout <= 0 || time.Duration(in.Timeout) > maxSettle {
		return nil, inputError("timeout must be more than 0 and at most %v", maxSettle)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(in.Timeout))
	defer cancel()
	if err := a.server.Settle(ctx); errors.Is(err, context.DeadlineExceeded) {
		return nil, failure(http.StatusGatewayTimeout, "timeout", "deliveries are still being sent after %v", in.Timeout)
	} else if err != nil {
		return nil, stopped(r, err)
	}
	return a.clock(), nil
}
