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

// Middleware returns a handler that lets only genuine, recent deliveries through to next and answers the others as
// [Handler.ServeHTTP] would. Use it to write a handler of one's own, with [EventsFrom]; it offers no protection against
// repeats. Its type suits the Use method of most routers.
//
// The request that next gets is a copy: its body is what was authenticated, never what was received; GetBody and the
// length match it. Refused requests are logged to [slog.Default].
func (v *Verifier) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verified, refused := v.receiveCopy(r)
		if refused != nil {
			slog.LogAttrs(r.Context(), slog.LevelWarn, "webhook: request refused",
				slog.Int("status", refused.answer.status), slog.String("error", refused.err.Error()))
			refused.answer.write(w, 0)
			return
		}
		next.ServeHTTP(w, authenticated(r, verified))
	})
}

// receiveCopy is receive with a payload that may be kept.
func (v *Verifier) receiveCopy(r *http.Request) (Verified, *refusal) {
	b := takeBuffer()
	defer b.release()
	verified, refused := v.receive(r, b)
	verified.Payload = bytes.Clone(verified.Payload)
	return verified, refused
}

type eventsKey struct{}

// authenticated returns a copy of r that has the payload for a body.
func authenticated(r *http.Request, verified Verified) *http.Request {
	ctx := context.WithValue(r.Context(), verifiedKey{}, &verified)
	ctx = context.WithValue(ctx, eventsKey{}, sync.OnceValues(func() ([]Event, error) {
		return Parse(verified.Payload)
	}))
	r = r.WithContext(ctx)
	body := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(verified.Payload)) }
	r.Body = body()
	r.GetBody = func() (io.ReadCloser, error) { return body(), nil }
	r.ContentLength = int64(len(verified.Payload))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Length", strconv.Itoa(len(verified.Payload)))
	return r
}

// EventsFrom returns the events of the delivery that [Verifier.Middleware] let through, in their order, or the error of
// [Parse]. It decodes on the first call; all calls for a request return the same events, to be read only.
func EventsFrom(ctx context.Context) ([]Event, error) {
	events, ok := ctx.Value(eventsKey{}).(func() ([]Event, error))
	if !ok {
		return nil, ErrNoDelivery
	}
	return events()
}
