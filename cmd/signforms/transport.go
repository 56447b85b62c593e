package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// detached lets a request other than a GET finish after Ctrl+C, within the time of its attempt. If it were cut off, its outcome
// would be unknown.
type detached struct{ next http.RoundTripper }

func (d detached) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil || req.Method == http.MethodGet {
		return d.next.RoundTrip(req)
	}
	deadline, ok := ctx.Deadline()
	if !ok { // the SDK bounds every attempt
		return d.next.RoundTrip(req)
	}
	free, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	resp, err := d.next.RoundTrip(req.WithContext(free))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancelBody{resp.Body, cancel}
	return resp, nil
}

type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// errNoIntent is returned for a request that was not sent because the journal could not note it first.
var errNoIntent = errors.New("the journal cannot be written, so nothing was sent")

// intents notes in a journal each request that is about to be sent, if its context names an item.
type intents struct {
	journal *journal.Journal
	run     string
	next    http.RoundTripper
	failed  error // the journal's error; read between calls
}

type itemKey struct{}

func (t *intents) RoundTrip(req *http.Request) (*http.Response, error) {
	if it, ok := req.Context().Value(itemKey{}).(*item); ok {
		if err := t.journal.Intend(it.key, t.run, it.label); err != nil {
			t.failed = err
			return nil, errors.Join(errNoIntent, err)
		}
	}
	return t.next.RoundTrip(req)
}
