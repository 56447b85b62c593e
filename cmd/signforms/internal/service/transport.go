package service

import (
	"context"
	"io"
	"net/http"
)

// detached lets a request other than a GET finish after Ctrl+C, within the time of its attempt. If it were cut off, its
// outcome would be unknown.
type detached struct{ next http.RoundTripper }

func (d detached) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil || req.Method == http.MethodGet {
		return d.next.RoundTrip(req)
	}
	deadline, ok := ctx.Deadline()
	if !ok { // the SDK sets a deadline for every attempt
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
