package refserver

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/delivery"
)

// Occurrence says on which of its matches a fault happens. The zero value is every one.
type Occurrence struct {
	Nth         int     // the first match it happens on, from 1; with Times 0 the only one; 0: from the first on
	Times       int     // how often it happens at most; 0: no limit
	Probability float64 // of happening on each of those; 0: certain
}

// count is what became of an occurrence so far.
type count struct{ seen, used int }

func (o Occurrence) happens(c *count, rnd *rand.Rand) bool {
	c.seen++
	switch {
	case c.seen < o.Nth, o.Times > 0 && c.used >= o.Times:
		return false
	case o.Nth > 0 && o.Times == 0 && c.seen > o.Nth:
		return false
	}
	if o.Probability > 0 && rnd.Float64() >= o.Probability {
		return false
	}
	c.used++
	return true
}

// faults holds the rules of a server. Of the rules that match, the first that happens is applied, alone.
type faults struct {
	mu       sync.Mutex
	rnd      *rand.Rand
	requests []*requestRule
	webhooks []*webhookRule
	delayed  map[string]bool // deliveries that met a delay
}

type requestRule struct {
	RequestFault
	count
}

type webhookRule struct {
	WebhookFault
	count
}

func newFaults(seed uint64) *faults {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &faults{rnd: rand.New(rand.NewPCG(seed, 0)), delayed: make(map[string]bool)}
}

// request returns the fault that a request meets.
func (fs *faults) request(c *api.Call) (RequestFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.requests {
		if r.matches(c) && r.happens(&r.count, fs.rnd) {
			return r.RequestFault, true
		}
	}
	return RequestFault{}, false
}

// webhook returns the fault that an attempt meets.
func (fs *faults) webhook(a *delivery.Request) (WebhookFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.webhooks {
		if r.Delay > 0 && fs.delayed[a.Delivery.ID] {
			continue
		}
		if r.matches(a) && r.happens(&r.count, fs.rnd) {
			fs.delayed[a.Delivery.ID] = r.Delay > 0
			return r.WebhookFault, true
		}
	}
	return WebhookFault{}, false
}

// FailRequests makes API requests go wrong. The function that it returns takes the fault back.
func (s *Server) FailRequests(f RequestFault) (remove func()) {
	fs, r := s.faults, &requestRule{RequestFault: f}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.requests = append(fs.requests, r)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.requests = without(fs.requests, r)
	}
}

// FailWebhooks makes webhook attempts go wrong. The function that it returns takes the fault back.
func (s *Server) FailWebhooks(f WebhookFault) (remove func()) {
	fs, r := s.faults, &webhookRule{WebhookFault: f}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.webhooks = append(fs.webhooks, r)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.webhooks = without(fs.webhooks, r)
	}
}

func without[R any](rules []*R, r *R) []*R {
	return slices.DeleteFunc(slices.Clone(rules), func(other *R) bool { return other == r })
}

// UnusedFaults returns the faults that are still set and never happened.
func (s *Server) UnusedFaults() (unused []any) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	for _, r := range s.faults.requests {
		if r.used == 0 {
			unused = append(unused, r.RequestFault)
		}
	}
	for _, r := range s.faults.webhooks {
		if r.used == 0 {
			unused = append(unused, r.WebhookFault)
		}
	}
	return unused
}
