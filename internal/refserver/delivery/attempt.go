package delivery

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Request is one attempt that is about to be made.
type Request struct {
	Webhook   store.Webhook
	Delivery  store.Delivery
	Timestamp string
	Body      []byte
	Header    http.Header

	Drop      bool          // the request is not sent, as if the network had lost it
	Delay     time.Duration // the request is not sent now, but this much later
	Duplicate bool          // the request is sent twice
}

// Seal sets the headers of a genuine delivery: x-timestamp, and x-signature over the body with the webhook's secret.
func (r *Request) Seal() {
	r.Header = http.Header{}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "signforms-refserver")
	r.Header.Set("X-Timestamp", r.Timestamp)
	r.Header.Set("X-Signature", Sign(r.Webhook.Secret, r.Timestamp, r.Body))
}

// maxAnswer is how many bytes of an endpoint's response are read and logged at most.
const maxAnswer = 4 << 10

// NewHTTPClient returns a client for a sender, without redirects or cookies. The caller closes its idle connections.
func NewHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// deliver makes one attempt to deliver, with the context attempt, and reports its result.
func (s *Sender) deliver(ctx, attempt context.Context, id string) {
	var d store.Delivery
	var hook store.Webhook
	err := s.Store.View(func(tx *store.Tx) (err error) {
		if d, err = tx.Delivery(id); err == nil {
			hook, err = tx.Webhook(d.WebhookID)
		}
		return err
	})
	if err != nil || hook.Disabled {
		s.report(ctx, id, nil)
		return
	}
	r := &Request{Webhook: hook, Delivery: d, Timestamp: s.Stamp(), Body: d.Body}
	if s.Once && len(d.Attempts) > 0 {
		r.Timestamp = d.Attempts[0].Header.Get("X-Timestamp")
	}
	r.Seal()
	if s.Tamper != nil {
		s.Tamper(r)
	}
	if r.Delay > 0 {
		s.postpone(ctx, id, r.Delay)
		return
	}
	made := []store.Attempt{s.post(attempt, r)}
	if r.Duplicate {
		again := s.post(attempt, r)
		again.Duplicate = true
		made = append(made, again)
	}
	s.report(ctx, id, made)
	s.answers(hook.ID, made[len(made)-1].Error != noAnswer)
}

// post makes one request within [AttemptTimeout]. It does not follow redirects, and it reads only a
// part of the response.
func (s *Sender) post(ctx context.Context, r *Request) (a store.Attempt) {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	a = store.Attempt{At: s.Store.Now(), Header: maps.Clone(r.Header), Body: r.Body}
	if began := time.Now(); !s.Frozen {
		defer func() { a.Took = time.Since(began).Truncate(time.Millisecond) }() // the service's clock may be moved meanwhile
	}
	if r.Drop {
		a.Error = "lost on its way by a fault"
		return a
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Webhook.URL, bytes.NewReader(r.Body))
	if err != nil {
		a.Error = err.Error()
		return a
	}
	req.Header = maps.Clone(r.Header)
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // without this, net/http writes its own
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		a.Error = reason(ctx, err)
		return a
	}
	defer resp.Body.Close()
	a.StatusCode, a.AnswerHeader = resp.StatusCode, resp.Header
	if a.Answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		a.Error = reason(ctx, err)
	}
	return a
}

var noAnswer = "no complete response within " + AttemptTimeout.String()

func reason(ctx context.Context, err error) string {
	switch ctx.Err() {
	case context.DeadlineExceeded:
		return noAnswer
	case context.Canceled:
		return "broken off: its webhook was disabled or deleted, or the server closed"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the attempt already contains its URL
	}
	return err.Error()
}

// report stores the result of a claimed delivery. It becomes delivered, due again or dead, or it is
// cancelled if its webhook is gone.
func (s *Sender) report(ctx context.Context, id string, made []store.Attempt) {
	s.update(ctx, id, func(tx *store.Tx, d *store.Delivery) {
		d.Attempts = append(slices.Clip(d.Attempts), made...)
		d.Status, d.NextAttemptAt = outcome(d.Attempts, made, tx.Now)
		if hook, err := tx.Webhook(d.WebhookID); d.Status != store.DeliveryDelivered && (err != nil || hook.Disabled) {
			d.Status = store.DeliveryCancelled
		}
	})
}

// postpone gives a claimed delivery back without an attempt.
func (s *Sender) postpone(ctx context.Context, id string, delay time.Duration) {
	s.update(ctx, id, func(tx *store.Tx, d *store.Delivery) {
		d.Status, d.NextAttemptAt, d.Delayed = store.DeliveryPending, tx.Now.Add(delay), true
	})
}

// update changes a claimed delivery. If the store does not save, update tries again until ctx ends,
// because the response of an endpoint must not be forgotten.
func (s *Sender) update(ctx context.Context, id string, change func(*store.Tx, *store.Delivery)) {
	for {
		err := s.Store.Update(func(tx *store.Tx) error {
			d, err := tx.Delivery(id)
			if err != nil || d.Status != store.DeliverySending {
				return err // an earlier try with an unknown outcome had been saved
			}
			change(tx, &d)
			tx.PutDelivery(d)
			return nil
		})
		if _, failed := errors.AsType[*store.Unavailable](err); !failed {
			return // the delivery was deleted meanwhile
		}
		s.mu.Lock()
		s.fails(err)
		s.mu.Unlock()
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return
		}
	}
}

// outcome returns the status after the attempts in made, which are the last ones in all. Any 2xx is
// a success, even if the body of the response cannot be read.
func outcome(all, made []store.Attempt, now time.Time) (store.DeliveryStatus, time.Time) {
	if slices.ContainsFunc(made, func(a store.Attempt) bool { return a.StatusCode/100 == 2 }) {
		return store.DeliveryDelivered, time.Time{}
	}
	scheduled := 0
	for _, a := range all {
		if !a.Duplicate {
			scheduled++
		}
	}
	if wait, more := NextWait(scheduled); more {
		return store.DeliveryPending, now.Add(wait)
	}
	return store.DeliveryDead, time.Time{}
}
