package refserver

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/delivery"
)

// occurrence says on which of its matches a fault happens: its fields are those of [Fault] and [WebhookFault].
type occurrence struct {
	nth         int
	times       int
	probability float64
}

// rule is a fault that was set. What [Server.Faults] shows of it counts its matches.
type rule struct {
	ActiveFault
	occurrence
	dice dice
}

// happens decides about one more match, of a request or of an attempt for a webhook.
func (r *rule) happens(webhookID string, now time.Time) bool {
	r.Matched++
	switch {
	case r.Matched < r.nth, r.times > 0 && r.Happened >= r.times:
		return false
	case r.nth > 0 && r.times == 0 && r.Matched > r.nth:
		return false
	}
	if r.probability > 0 && r.dice.roll(webhookID) >= r.probability {
		return false
	}
	r.Happened, r.LastAt = r.Happened+1, now
	return true
}

// faults holds the rules of a server. Of the rules that match, the first that happens is applied, alone.
type faults struct {
	mu    sync.Mutex
	seed  uint64
	set   int // rules set so far
	rules []*rule
}

func newFaults(seed uint64) *faults {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &faults{seed: seed}
}

// add adds a rule for f and returns its id.
func (fs *faults) add(f ActiveFault, o occurrence) (id string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.set++
	f.ID = fmt.Sprintf("flt_%d", fs.set)
	fs.rules = append(fs.rules, &rule{ActiveFault: f, occurrence: o, dice: dice{seed: fs.seed, rule: fs.set, series: make(map[string]*rand.Rand)}})
	return f.ID
}

// dice are the random numbers of one rule. Each webhook has a series of its own, because attempts for different
// webhooks are made concurrently, in an order that no seed decides.
type dice struct {
	seed   uint64
	rule   int
	series map[string]*rand.Rand // by webhook id; empty for requests
}

// roll returns a random number from 0 to 1.
func (d dice) roll(webhookID string) float64 {
	rnd := d.series[webhookID]
	if rnd == nil {
		name := fnv.New64a()
		fmt.Fprint(name, d.rule, webhookID)
		rnd = rand.New(rand.NewPCG(d.seed, name.Sum64()))
		d.series[webhookID] = rnd
	}
	return rnd.Float64()
}

// request returns the fault that a request meets, with its id.
func (fs *faults) request(c *api.Call, now time.Time) (f Fault, id string, ok bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.rules {
		if r.Fault != nil && r.Fault.matches(c) && r.happens("", now) {
			return *r.Fault, r.ID, true
		}
	}
	return Fault{}, "", false
}

// webhook returns the fault that an attempt meets. A delivery is delayed once.
func (fs *faults) webhook(a *delivery.Request, now time.Time) (WebhookFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.rules {
		f := r.WebhookFault
		if f != nil && (f.Delay == 0 || !a.Delivery.Delayed) && f.matches(a) && r.happens(a.Webhook.ID, now) {
			return *f, true
		}
	}
	return WebhookFault{}, false
}

// remove takes a rule back, and reports whether there was one with the id.
func (fs *faults) remove(id string) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	before := len(fs.rules)
	fs.rules = slices.DeleteFunc(fs.rules, func(r *rule) bool { return r.ID == id })
	return len(fs.rules) < before
}

// active lists the rules in their order.
func (fs *faults) active() (all []ActiveFault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.rules {
		shown := r.ActiveFault
		if r.Fault != nil {
			shown.Fault = new(*r.Fault)
		} else {
			shown.WebhookFault = new(*r.WebhookFault)
		}
		all = append(all, shown)
	}
	return all
}
