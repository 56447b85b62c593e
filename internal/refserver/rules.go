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

// occurrence determines to which of its matches a fault applies. Its fields are those of [Fault]
// and [WebhookFault].
type occurrence struct {
	nth         int
	times       int
	probability float64
}

// rule is a fault that was set. Its ActiveFault, which [Server.Faults] returns, counts the matches.
type rule struct {
	ActiveFault
	occurrence
	dice dice
}

// happens counts a match, which is a request or an attempt for a webhook, and reports whether the
// fault applies to it.
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

// faults has the rules of a server. Among the matching rules, only the first one that happens is
// applied.
type faults struct {
	mu    sync.Mutex
	seed  uint64
	set   int // number of rules set so far
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

// dice are the random numbers of one rule. Each webhook has its own series, because attempts for
// different webhooks run concurrently, in an order that no seed determines.
type dice struct {
	seed   uint64
	rule   int
	series map[string]*rand.Rand // by webhook id; the empty id is for requests
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

// request returns the fault that applies to a request, with its id.
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

// webhook returns the fault that applies to an attempt. A delivery is delayed only once.
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

// remove removes the rule with the id, and reports whether it existed.
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
