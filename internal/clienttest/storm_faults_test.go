package clienttest_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing/iotest"

	"github.com/signforms/signforms-go/internal/clienttest"
)

// storm is a transport that lets two of three requests through and breaks the third.
type storm struct {
	through http.RoundTripper
	refused http.RoundTripper // real, but its dialling fails

	mu     sync.Mutex
	random *rand.Rand
	broken map[string]int // how often, by kind
}

func newStorm(through http.RoundTripper, seed uint64) *storm {
	return &storm{
		through: through, random: rand.New(rand.NewPCG(seed, 0)), broken: map[string]int{},
		refused: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}},
	}
}

// fault is one way to break a request.
type fault struct {
	name string
	do   func(s *storm, req *http.Request) (*http.Response, error)
}

// faults are the ways. Those from alwaysRepeated on are not repeated even for a list, so lists and voids are spared them.
var faults = []fault{
	{name: "dial refused", do: func(s *storm, req *http.Request) (*http.Response, error) { return s.refused.RoundTrip(req) }},
	{name: "lost without a trace", do: func(*storm, *http.Request) (*http.Response, error) { return nil, syscall.EPIPE }},
	{name: "never answered", do: func(_ *storm, req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}},
	{name: "done, answer lost", do: func(s *storm, req *http.Request) (*http.Response, error) {
		return nil, s.drop(req, io.ErrUnexpectedEOF)
	}},
	{name: "done, never answered", do: func(s *storm, req *http.Request) (*http.Response, error) {
		err := s.drop(req, nil)
		<-req.Context().Done()
		return nil, errors.Join(err, req.Context().Err())
	}},
	{name: "done, answer cut", do: func(s *storm, req *http.Request) (*http.Response, error) {
		resp, err := s.through.RoundTrip(req)
		if err == nil {
			resp.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(resp.Body, 9), iotest.ErrReader(io.ErrUnexpectedEOF)), resp.Body}
		}
		return resp, err
	}},
	{name: "done, 504 of a gateway", do: func(s *storm, req *http.Request) (*http.Response, error) {
		return clienttest.Reply(req, 504, `{"message":"Endpoint request timed out"}`), s.drop(req, nil)
	}},
	{name: "500", do: status(500)}, {name: "502", do: status(502)}, {name: "503", do: status(503)}, {name: "429", do: status(429)},
	{name: "408", do: status(408)}, {name: "307", do: status(307)}, {name: "200 of a proxy", do: status(200)}, {name: "404", do: status(404)},
	{name: "done, 200 of a proxy", do: func(s *storm, req *http.Request) (*http.Response, error) {
		return clienttest.Reply(req, 200, "<html>"), s.drop(req, nil)
	}},
}

const alwaysRepeated = 11 // of faults, for lists and voids

func status(code int) func(*storm, *http.Request) (*http.Response, error) {
	return func(_ *storm, req *http.Request) (*http.Response, error) {
		return clienttest.Reply(req, code, "<html>"), nil
	}
}

// drop has the service do the work and drops its answer.
func (s *storm) drop(req *http.Request, err error) error {
	resp, failed := s.through.RoundTrip(req)
	if failed != nil {
		return failed
	}
	_, copyErr := io.Copy(io.Discard, resp.Body)
	return errors.Join(err, copyErr, resp.Body.Close())
}

func (s *storm) RoundTrip(req *http.Request) (*http.Response, error) {
	repeatable := req.Method == "GET" || strings.HasSuffix(req.URL.Path, "/void-document")
	s.mu.Lock()
	breaks, which := s.random.IntN(3) == 0, s.random.IntN(len(faults))
	if repeatable {
		which = s.random.IntN(alwaysRepeated)
	}
	if breaks {
		s.broken[faults[which].name]++
	} else {
		s.broken["none"]++
	}
	s.mu.Unlock()
	if !breaks {
		return s.through.RoundTrip(req)
	}
	return faults[which].do(s, req)
}
