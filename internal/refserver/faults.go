package refserver

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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

// happens decides about one more match. roll returns a random number from 0 to 1.
func (o Occurrence) happens(c *count, roll func() float64) bool {
	c.seen++
	switch {
	case c.seen < o.Nth, o.Times > 0 && c.used >= o.Times:
		return false
	case o.Nth > 0 && o.Times == 0 && c.seen > o.Nth:
		return false
	}
	if o.Probability > 0 && roll() >= o.Probability {
		return false
	}
	c.used++
	return true
}

// faults holds the rules of a server. Of the rules that match, the first that happens is applied, alone.
type faults struct {
	mu       sync.Mutex
	seed     uint64
	set      int // rules set so far
	requests []*requestRule
	webhooks []*webhookRule
	delayed  map[string]*WebhookFault // deliveries that met a delay, with what else is to happen to the attempt; nil: it happened
}

type requestRule struct {
	RequestFault
	count
	dice dice
}

type webhookRule struct {
	WebhookFault
	count
	dice dice
}

func newFaults(seed uint64) *faults {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &faults{seed: seed, delayed: make(map[string]*WebhookFault)}
}

// dice returns those of a new rule.
func (fs *faults) dice() dice {
	fs.set++
	return dice{seed: fs.seed, rule: fs.set, series: make(map[string]*rand.Rand)}
}

// dice are the random numbers of one rule: a series for each webhook, since attempts for different webhooks are made side
// by side, in an order that no seed decides.
type dice struct {
	seed   uint64
	rule   int
	series map[string]*rand.Rand // by webhook id; empty for requests
}

func (d dice) roll(webhookID string) func() float64 {
	rnd := d.series[webhookID]
	if rnd == nil {
		name := fnv.New64a()
		fmt.Fprint(name, d.rule, webhookID)
		rnd = rand.New(rand.NewPCG(d.seed, name.Sum64()))
		d.series[webhookID] = rnd
	}
	return rnd.Float64
}

// request returns the fault that a request meets.
func (fs *faults) request(c *api.Call) (RequestFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.requests {
		if r.matches(c) && r.happens(&r.count, r.dice.roll("")) {
			return r.RequestFault, true
		}
	}
	return RequestFault{}, false
}

// webhook returns the fault that an attempt meets. An attempt that is delayed meets it twice: the delay, then the rest of it.
func (fs *faults) webhook(a *delivery.Request) (WebhookFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	rest, delayed := fs.delayed[a.Delivery.ID]
	if rest != nil {
		fs.delayed[a.Delivery.ID] = nil
		return *rest, true
	}
	for _, r := range fs.webhooks {
		if r.Delay > 0 && delayed {
			continue
		}
		if !r.matches(a) || !r.happens(&r.count, r.dice.roll(a.Webhook.ID)) {
			continue
		}
		f := r.WebhookFault
		if f.Delay > 0 {
			rest := f
			rest.Delay = 0
			fs.delayed[a.Delivery.ID] = &rest
		}
		return f, true
	}
	return WebhookFault{}, false
}

// FailRequests makes API requests go wrong. The function that it returns takes the fault back.
func (s *Server) FailRequests(f RequestFault) (remove func()) {
	fs := s.faults
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r := &requestRule{RequestFault: f, dice: fs.dice()}
	fs.requests = append(fs.requests, r)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.requests = without(fs.requests, r)
	}
}

// FailWebhooks makes webhook attempts go wrong. The function that it returns takes the fault back.
func (s *Server) FailWebhooks(f WebhookFault) (remove func()) {
	fs := s.faults
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r := &webhookRule{WebhookFault: f, dice: fs.dice()}
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

// UnusedFaults tells of each fault that is still set and never happened, in a sentence.
func (s *Server) UnusedFaults() (unused []string) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	for _, r := range s.faults.requests {
		if r.used == 0 {
			unused = append(unused, fmt.Sprintf("Fault{%s} never happened: it matched %d requests", settings(r.RequestFault), r.seen))
		}
	}
	for _, r := range s.faults.webhooks {
		if r.used == 0 {
			unused = append(unused, fmt.Sprintf("WebhookFault{%s} never happened: it matched %d attempts", settings(r.WebhookFault), r.seen))
		}
	}
	return unused
}

// settings are the fields of a fault that are set, each cut to 60 bytes, without the secret of a webhook.
func settings(fault any) string {
	var set []string
	v := reflect.ValueOf(fault)
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		switch {
		case f.Anonymous || value.IsZero():
		case f.Name == "Secret":
			set = append(set, "Secret: (hidden)")
		case value.Kind() == reflect.String:
			set = append(set, fmt.Sprintf("%s: %.60q", f.Name, value))
		default:
			set = append(set, fmt.Sprintf("%s: %v", f.Name, value))
		}
	}
	return strings.Join(set, ", ")
}
