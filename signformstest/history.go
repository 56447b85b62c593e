package signformstest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// maxHistory is how many lines of each log a failed test prints at most.
const maxHistory = 200

func newest[T any](all []T) []T { return all[max(0, len(all)-maxHistory):] }

// acted returns the error of an act with its sentinel, and records it for the history of a failed
// test.
func (s *Server) acted(id string, err error) error {
	if err != nil {
		text := err.Error()
		if r, ok := errors.AsType[*refserver.Refusal](err); ok {
			text = r.Reason()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused = newest(append(s.refused, fmt.Sprintf("%s %.64s: %.2000s", s.Now().Format(time.RFC3339Nano), id, text)))
	}
	return asSDK(err)
}

// history returns the history for a failed test: requests in the order of their responses, refused
// acts, and deliveries.
func (s *Server) history() string {
	var b strings.Builder
	for _, r := range newest(s.service.Requests()) {
		fmt.Fprintf(&b, "  request  %s\n", r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.refused {
		fmt.Fprintf(&b, "  refused  %s\n", r)
	}
	for _, d := range newest(s.service.Deliveries()) {
		fmt.Fprintf(&b, "  delivery %s\n", d)
	}
	if b.Len() == 0 {
		return "signformstest: the service saw nothing"
	}
	return "signformstest: what the service saw last\n" + b.String()
}
