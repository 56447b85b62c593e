package openapicheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// maxBody bounds what a Recorder keeps of a message: the service's own limit of 10 MiB for requests, and well above any
// answer of a test.
const maxBody = 11 << 20

// An Exchange is one attempt as a Recorder saw it.
type Exchange struct {
	Method   string
	URL      *url.URL
	Sent     []byte // the request's body
	Status   int    // 0 when there was no answer
	Received []byte // the answer's body
	Err      error  // what does not keep to the description; nil when all is well
}

// A Recorder is an http.RoundTripper that passes every attempt on, unchanged, and notes what in it does not keep to the
// description. It is safe for concurrent use.
type Recorder struct {
	checker *Checker
	base    http.RoundTripper

	mu        sync.Mutex
	exchanges []Exchange
}

// NewRecorder returns a Recorder before base; nil means http.DefaultTransport.
func NewRecorder(checker *Checker, base http.RoundTripper) *Recorder {
	if base == nil {
		base = http.DefaultTransport
	}
	return &Recorder{checker: checker, base: base}
}

// RoundTrip implements http.RoundTripper. Bodies are read whole before they are passed on; a body over 11 MiB is an
// error.
func (rec *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	var sent []byte
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		if sent, err = readAll(r.Body); err != nil {
			return nil, fmt.Errorf("reading the request's body: %w", err)
		}
		out.Body = io.NopCloser(bytes.NewReader(sent))
	}
	exchange := Exchange{Method: r.Method, URL: r.URL, Sent: sent, Err: rec.checker.Request(r, sent)}
	defer func() { rec.note(exchange) }()

	res, err := rec.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	received, err := readAll(res.Body)
	exchange.Status, exchange.Received = res.StatusCode, received
	if err != nil {
		exchange.Err = errors.Join(exchange.Err, fmt.Errorf("reading the answer's body: %w", err))
	} else {
		exchange.Err = errors.Join(exchange.Err, rec.checker.Answer(r, res.StatusCode, res.Header, received))
	}
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(received), failing{err}))
	return res, nil
}

// Exchanges returns what was recorded so far, in the order of the answers.
func (rec *Recorder) Exchanges() []Exchange {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return slices.Clone(rec.exchanges)
}

// Err returns everything that did not keep to the description, or nil.
func (rec *Recorder) Err() error {
	var errs []error
	for _, exchange := range rec.Exchanges() {
		errs = append(errs, exchange.Err)
	}
	return errors.Join(errs...)
}

func (rec *Recorder) note(exchange Exchange) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.exchanges = append(rec.exchanges, exchange)
}

// readAll returns what could be read, even beside an error.
func readAll(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err == nil && len(data) > maxBody {
		return nil, fmt.Errorf("more than %d bytes", maxBody)
	}
	return data, err
}

// failing repeats, for the caller, how the original body ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
