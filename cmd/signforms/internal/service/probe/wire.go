package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
)

// The limits of a run: the number of requests, the time between two requests, and the bytes that
// are read of a response.
const (
	MostGets = 30
	apart    = time.Second
	mostBody = 32 << 20
)

var (
	errNotGet  = errors.New("probe sends GET requests alone, and an endpoint of the account has another method")
	errTooMany = fmt.Errorf("the run has made its %d requests", MostGets)
)

// wire is the transport to the service. It paces, counts and limits the requests, and keeps the
// last request with its response.
type wire struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error
	gets  int
	last  time.Time
	edit  func(*http.Request) // changes the next request; nil: no change
	seen  *exchange           // nil: no request was sent
}

// exchange is a request with its response, as sent over the wire.
type exchange struct {
	request     *http.Request
	status      int // 0: there was no response
	contentType string
	body        []byte
	cut         bool // the connection ended before the end of the body
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.seen = nil
	switch {
	case req.Method != http.MethodGet:
		return nil, errNotGet
	case w.gets == MostGets:
		return nil, errTooMany
	case w.gets > 0:
		if err := w.sleep(req.Context(), apart-time.Since(w.last)); err != nil {
			return nil, err
		}
	}
	if w.edit != nil {
		req = req.Clone(req.Context())
		w.edit(req)
	}
	w.gets++
	w.last = time.Now()
	w.seen = &exchange{request: req}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	w.seen.status, w.seen.contentType = resp.StatusCode, resp.Header.Get("Content-Type")
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBody))
	resp.Body.Close()
	w.seen.body, w.seen.cut = body, err != nil
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	return resp, nil
}

// failing ends a body with the error with which reading the original body ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// wait is a sleep that ends with its context.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// set returns an edit that sets an input of the query to a value that the SDK would refuse to send.
func set(name, value string) func(*http.Request) {
	return func(req *http.Request) {
		query := req.URL.Query()
		query.Set(name, value)
		req.URL.RawQuery = query.Encode()
	}
}

// keyHeader is the header of the API key.
const keyHeader = "x-api-key"

// key returns an edit that sends another key, or no key.
func key(text string) func(*http.Request) {
	return func(req *http.Request) {
		if req.Header.Del(keyHeader); text != "" {
			req.Header.Set(keyHeader, text)
		}
	}
}

// verdict returns how the SDK read a response. It contains no text of the service.
func verdict(err error) string {
	if err == nil {
		return "the SDK reads it"
	}
	e, ok := errors.AsType[*signforms.Error](err)
	if !ok {
		return "the SDK: no response"
	}
	text := "the SDK's error: "
	for _, kind := range []struct {
		err  error
		name string
	}{{signforms.ErrForbidden, "ErrForbidden"}, {signforms.ErrNotFound, "ErrNotFound"}, {signforms.ErrInvalid,
		"ErrInvalid"},
		{signforms.ErrRefused, "ErrRefused"}, {signforms.ErrRateLimited, "ErrRateLimited"}, {signforms.ErrUnavailable,
			"ErrUnavailable"}, {signforms.ErrBadResponse, "ErrBadResponse"}} {
		if errors.Is(err, kind.err) {
			text += kind.name + ", "
		}
	}
	const gateway = "a gateway or proxy responded, not the service"
	switch {
	case e.StatusCode/100 != 2:
	case strings.HasPrefix(e.Message, gateway): // the rest is a title
		text += gateway
	case strings.HasPrefix(e.Message, "unreadable response ("):
		reason, _, _ := strings.Cut(strings.TrimSuffix(e.Message, ")"), ";") // the rest contains names of fields in the response
		text += unquoted(reason) + ")"
	}
	return strings.TrimSuffix(text, ", ")
}

// unquoted removes quoted text, which may come from the service.
func unquoted(text string) string {
	parts := strings.Split(text, `"`)
	for i := range parts {
		if i%2 == 1 {
			parts[i] = "…"
		}
	}
	return strings.Join(parts, `"`)
}

// knownTypes are the media types that are shown. Another media type may contain words of a person.
var knownTypes = []string{"application/json", "application/problem+json", "text/json", "text/html", "text/plain",
	"application/xml", "text/xml"}

func mediaType(header string) string {
	text, _, _ := strings.Cut(strings.ToLower(header), ";")
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "no type"
	case slices.Contains(knownTypes, text):
		return text
	}
	return "another type"
}
