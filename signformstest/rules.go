package signformstest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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

// count is what became of an occurrence so far.
type count struct {
	seen, used int
	last       time.Time // when it was used; zero: never
	before     time.Time // when it was used before that; zero: never
}

// happens decides about one more match. roll returns a random number from 0 to 1.
func (o occurrence) happens(c *count, now time.Time, roll func() float64) bool {
	c.seen++
	switch {
	case c.seen < o.nth, o.times > 0 && c.used >= o.times:
		return false
	case o.nth > 0 && o.times == 0 && c.seen > o.nth:
		return false
	}
	if o.probability > 0 && roll() >= o.probability {
		return false
	}
	c.used++
	c.before, c.last = c.last, now
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
	fault Fault
	occurrence
	count
	dice dice
}

type webhookRule struct {
	fault WebhookFault
	occurrence
	count
	dice dice
}

func newFaults(seed uint64) *faults {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &faults{seed: seed, delayed: make(map[string]*WebhookFault)}
}

// dice returns the random numbers of a new rule.
func (fs *faults) dice() dice {
	fs.set++
	return dice{seed: fs.seed, rule: fs.set, series: make(map[string]*rand.Rand)}
}

// dice are the random numbers of one rule. Each webhook has a series of its own, because attempts for different webhooks are made
// concurrently, in an order that no seed decides.
type dice struct {
	seed   uint64
	rule   int
	series map[string]*rand.Rand // by webhook id; empty for requests
}

// id is that of the rule.
func (d dice) id() string { return fmt.Sprintf("flt_%d", d.rule) }

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

// request returns the rule that a request meets, or nil.
func (fs *faults) request(c *api.Call, now time.Time) *requestRule {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.requests {
		if r.fault.matches(c) && r.happens(&r.count, now, r.dice.roll("")) {
			return r
		}
	}
	return nil
}

// uncount takes a happening back that made no difference to its request.
func (fs *faults) uncount(r *requestRule) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r.used--
	r.last = r.before
}

// webhook returns the fault that an attempt meets. An attempt that is delayed meets it twice: the delay, then the rest of it.
func (fs *faults) webhook(a *delivery.Request, now time.Time) (WebhookFault, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	rest, delayed := fs.delayed[a.Delivery.ID]
	if rest != nil {
		fs.delayed[a.Delivery.ID] = nil
		return *rest, true
	}
	for _, r := range fs.webhooks {
		if r.fault.Delay > 0 && delayed {
			continue
		}
		if !r.fault.matches(a) || !r.happens(&r.count, now, r.dice.roll(a.Webhook.ID)) {
			continue
		}
		f := r.fault
		if f.Delay > 0 {
			rest := f
			rest.Delay = 0
			fs.delayed[a.Delivery.ID] = &rest
		}
		return f, true
	}
	return WebhookFault{}, false
}

// addRequest adds a rule for requests and returns its id.
func (fs *faults) addRequest(f Fault) (id string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r := &requestRule{fault: f, occurrence: occurrence{f.Nth, f.Times, f.Probability}, dice: fs.dice()}
	fs.requests = append(fs.requests, r)
	return r.dice.id()
}

// addWebhook adds a rule for attempts and returns its id.
func (fs *faults) addWebhook(f WebhookFault) (id string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	r := &webhookRule{fault: f, occurrence: occurrence{f.Nth, f.Times, f.Probability}, dice: fs.dice()}
	fs.webhooks = append(fs.webhooks, r)
	return r.dice.id()
}

// remove takes a rule back, and reports whether there was one with the id.
func (fs *faults) remove(id string) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	before := len(fs.requests) + len(fs.webhooks)
	fs.requests = slices.DeleteFunc(fs.requests, func(r *requestRule) bool { return r.dice.id() == id })
	fs.webhooks = slices.DeleteFunc(fs.webhooks, func(r *webhookRule) bool { return r.dice.id() == id })
	return len(fs.requests)+len(fs.webhooks) < before
}

// active lists the rules.
func (fs *faults) active() (all []ActiveFault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.requests {
		all = append(all, ActiveFault{ID: r.dice.id(), Fault: new(r.fault), Matched: r.seen, Happened: r.used, LastAt: r.last})
	}
	for _, r := range fs.webhooks {
		all = append(all, ActiveFault{ID: r.dice.id(), WebhookFault: new(r.fault), Matched: r.seen, Happened: r.used, LastAt: r.last})
	}
	return all
}

// unused describes each fault that is still set and never happened.
func (fs *faults) unused() (unused []string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, r := range fs.requests {
		if r.used == 0 {
			unused = append(unused, fmt.Sprintf("Fault{%s} never happened: it matched %d requests", settings(r.fault), r.seen))
		}
	}
	for _, r := range fs.webhooks {
		if r.used == 0 {
			unused = append(unused, fmt.Sprintf("WebhookFault{%s} never happened: it matched %d attempts", settings(r.fault), r.seen))
		}
	}
	return unused
}

// settings are the fields of a fault that are set, texts cut to 60 characters, without the secret of a webhook.
func settings(fault any) string {
	var set []string
	v := reflect.ValueOf(fault)
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		switch {
		case value.IsZero():
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
