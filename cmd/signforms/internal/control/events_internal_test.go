package control

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slow is a connection that takes so long for a kilobyte.
type slow struct {
	http.ResponseWriter
	perKiB   time.Duration
	deadline time.Time
	taken    int
	late     bool
}

func (s *slow) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.perKiB * time.Duration(len(p)) >> 10)
	s.late = s.late || time.Now().After(s.deadline)
	s.taken += len(p)
	return len(p), nil
}

func (s *slow) FlushError() error {
	if s.late {
		return errors.New("too late")
	}
	return nil
}

// A client that reads slowly all the time keeps its stream, however much there is for it; one that does not read loses it.
func TestSlowReadersKeepTheirStream(t *testing.T) {
	for perKiB, kept := range map[time.Duration]bool{takeWithin / 20: true, takeWithin: false} {
		synctest.Test(t, func(t *testing.T) {
			to := &slow{perKiB: perKiB}
			require.Equal(t, kept, (&stream{to, http.NewResponseController(to)}).send(make([]byte, 1<<20)))
			require.Equal(t, kept, to.taken == 1<<20)
		})
	}
}
