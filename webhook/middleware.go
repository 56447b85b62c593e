package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
)

var errNoDelivery = errors.New("webhook: no delivery in this context: put Verifier.Middleware before the handler and " +
	"use its request's Context")

// MiddlewareOptions are the optional settings of [Verifier.Middleware]. The zero value gives the defaults.
type MiddlewareOptions struct {
	// OnError is called with a *[RefusedError] for each refused delivery. Unauthenticated requests
	// can cause it. OnError runs before the response is sent, possibly concurrently. nil means no
	// call.
	OnError func(context.Context, error)

	// Logger gets a line for each refused delivery, as described in [HandlerOptions]. The default
	// is [slog.Default] at the time when Middleware is called.
	Logger *slog.Logger
}

// Middleware returns a function that wraps a handler, so that only genuine, recent deliveries reach
// it. Other deliveries get the same responses as from a [Handler]. Middleware does not protect
// against repeated deliveries. The returned function suits the Use method of most routers. opts may
// be nil. Middleware panics if the Verifier is nil or zero.
//
// The wrapped handler gets a copy of the request, whose body is the authenticated payload. The
// handler may call [EventsFromContext].
func (v *Verifier) Middleware(opts *MiddlewareOptions) func(http.Handler) http.Handler {
	if !v.usable() {
		panic("webhook: Middleware: no Verifier: make one with NewVerifier")
	}
	if opts == nil {
		opts = &MiddlewareOptions{}
	}
	refusals := &refusals{log: opts.Logger, onError: opts.OnError}
	if refusals.log == nil {
		refusals.log = slog.Default()
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			verified, refused := v.verifyRequest(r)
			if refused != nil {
				refusals.report(r.Context(), refused)
				refused.write(w, r)
				return
			}
			next.ServeHTTP(w, authenticated(r, verified))
		})
	}
}

type eventsKey struct{}

// passedDelivery is the context of a request that passed.
type passedDelivery struct {
	context.Context
	verified Verified
	events   func() ([]Event, error) // decodes the events once
}

func (d *passedDelivery) Value(key any) any {
	switch key {
	case verifiedKey{}:
		return &d.verified
	case eventsKey{}:
		return d
	}
	return d.Context.Value(key)
}

// authenticated returns a copy of r whose body is the authenticated payload.
func authenticated(r *http.Request, verified Verified) *http.Request {
	payload := verified.Payload
	events := sync.OnceValues(func() ([]Event, error) { return Parse(payload) })
	r = r.WithContext(&passedDelivery{r.Context(), verified, events})
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(payload))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Length", strconv.Itoa(len(payload)))
	return r
}

// EventsFromContext returns the events of a delivery that passed [Verifier.Middleware], in their
// order, or the error of [Parse]. For any other context it returns an error. The first call decodes
// the payload. All calls for a request return the same events; do not change them.
func EventsFromContext(ctx context.Context) ([]Event, error) {
	delivery, ok := ctx.Value(eventsKey{}).(*passedDelivery)
	if !ok {
		return nil, errNoDelivery
	}
	return delivery.events()
}
