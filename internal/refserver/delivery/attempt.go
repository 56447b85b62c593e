package delivery

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// maxAnswer bounds how much of an endpoint's answer is read and logged.
const maxAnswer = 4 << 10

// Answer is what came of one attempt: a status and the start of a body, or an error.
type Answer struct {
	StatusCode int
	Body       string // at most 4 KiB
	Err        error  // why there is no answer; nil when there is one
}

// Accepted reports whether the endpoint took the delivery: any 2xx.
func (a Answer) Accepted() bool { return a.Err == nil && a.StatusCode/100 == 2 }

// NewHTTPClient returns the client of a sender: no redirects, no cookies, no proxy from the environment. The caller
// closes its idle connections.
func NewHTTPClient(transport *http.Transport) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post makes one attempt, within timeout from now.
func post(ctx context.Context, client *http.Client, timeout time.Duration, url string, header http.Header, body []byte) Answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{Err: err}
	}
	req.Header = header
	resp, err := client.Do(req)
	if err != nil {
		return Answer{Err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Answer{StatusCode: resp.StatusCode, Body: string(text), Err: err}
	}
	return Answer{StatusCode: resp.StatusCode, Body: string(text)}
}
