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

// ErrNoDelivery is returned by [EventsFrom] when the context is not that of a request that passed
// [Verifier.Middleware].
var ErrNoDelivery = errors.New("webhook: no delivery in this context: put Verifier.Middleware before the handler and use its request's Context")

// MiddlewareOptions are the optional settings of [Verifier.Middleware]. The zero value gives the defaults.
type MiddlewareOptions struct {
	// OnError is called for each refused delivery, with a *[RefusedError]; unauthenticated requests can cause them. It runs before the
	// request is answered, possibly concurrently. nil means no call.
	OnError func(context.Context, error)

	// Logger gets a line for each refused delivery, as described in [HandlerOptions]. Default [slog.Default] as it is when
	// Middleware is called.
	Logger *slog.Logger

	// Diagnose is as in [HandlerOptions].
	Diagnose bool
}

// Middleware returns a function that lets only genuine, recent deliveries through to a handler. It answers the others as
// a [Handler] does. It does not protect against repeats. The function suits the Use method of most routers. opts may be
// nil. Middleware panics when the Verifier is nil or zero.
//
// The handler gets a copy of the request, whose body is what was authenticated, and may call [EventsFrom].
func (v *Verifier) Middleware(opts *MiddlewareOptions) func(http.Handler) http.Handler {
	if !v.usable() {
		panic("webhook: Middleware: no Verifier: make one with NewVerifier")
	}
	if opts == nil {
		opts = &MiddlewareOptions{}
	}
	refusals := &refusals{verifier: v, log: opts.Logger, onError: opts.OnError, diagnose: opts.Diagnose}
	if refusals.log == nil {
		refusals.log = slog.Default()
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			verified, refused := v.receiveCopy(r, refusals)
			if refused != nil {
				refused.write(w, r, 0)
				return
			}
			next.ServeHTTP(w, authenticated(r, verified))
		})
	}
}

// receiveCopy is receive with a payload that may be kept.
func (v *Verifier) receiveCopy(r *http.Request, refusals *refusals) (Verified, *refusal) {
	b := takeBuffer()
	defer b.release()
	verified, refused := v.receive(r, b)
	if refused != nil {
		refusals.note(r, b, refused)
	}
	verified.Payload = bytes.Clone(verified.Payload)
	return verified, refused
}

type eventsKey struct{}

// passedDelivery is the context of a request that passed. It decodes the events once, when they are asked for.
type passedDelivery struct {
	context.Context
	verified Verified
	decode   sync.Once
	events   []Event
	err      error
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

func (d *passedDelivery) decoded() ([]Event, error) {
	d.decode.Do(func() { d.events, d.err = Parse(d.verified.Payload) })
	return d.events, d.err
}

// payloadBody is a request's body.
type payloadBody struct{ bytes.Reader }

func newPayloadBody(payload []byte) *payloadBody {
	b := &payloadBody{}
	b.Reset(payload)
	return b
}

func (b *payloadBody) Close() error { return nil }

// authenticated returns a copy of r that has the payload for a body.
func authenticated(r *http.Request, verified Verified) *http.Request {
	r = r.WithContext(&passedDelivery{Context: r.Context(), verified: verified})
	payload := verified.Payload
	r.Body = newPayloadBody(payload)
	r.GetBody = func() (io.ReadCloser, error) { return newPayloadBody(payload), nil }
	r.ContentLength = int64(len(payload))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Length", strconv.Itoa(len(payload)))
	return r
}

// EventsFrom returns the events of a delivery that passed [Verifier.Middleware], in their order, or the error of [Parse].
// It decodes on the first call. All calls for a request return the same events; do not change them.
func EventsFrom(ctx context.Context) ([]Event, error) {
	delivery, ok := ctx.Value(eventsKey{}).(*passedDelivery)
	if !ok {
		return nil, ErrNoDelivery
	}
	return delivery.decoded()
}
