// Package probe asks a service which of the project's assumptions about it hold. [Run] makes requests, one at a time and less
// than one a second, and returns what they showed, fact by fact.
//
// By default it makes GET requests to the three lists alone, which change nothing. Options.Mutating adds requests to void and
// to remind with random ids; a service that reads its inputs elsewhere sees no id at all, and may take any record. The first of
// them that succeeds is the last one.
package probe

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Options say what to ask, and whom.
type Options struct {
	BaseURL, APIKey, WorkspaceID string
	// Endpoints are where operations are, where that is known to differ already.
	Endpoints map[signforms.Operation]signforms.Endpoint
	// Mutating asks to void and to remind too, with random ids.
	Mutating bool
	// Remind makes one reminder request with an endpoint and a random id, through the limit store, and returns its error. It is
	// called at most twice, and only with Mutating.
	Remind func(context.Context, signforms.Endpoint) error

	Transport http.RoundTripper
	Timeout   time.Duration // of one request
	// Sleep waits between requests. Nil means by the clock.
	Sleep func(context.Context, time.Duration) error
}

// Report is what probe found.
type Report struct {
	Results []Result
	// Profile is the reading of the interface, as far as it was seen to differ.
	Profile signformstest.Profile
	// Endpoints are where operations were seen to be elsewhere, and those of Options.
	Endpoints map[signforms.Operation]signforms.Endpoint
	// Asked are the requests that were made, in order.
	Asked []Asked
	// Accepted is set when a request with a random id was carried out: a document may be lost.
	Accepted bool
}

// The most requests that Run makes.
const (
	MostGets      = 60
	MostVoids     = 12
	MostReminders = 2
	// Pause is what lies between two requests at least.
	Pause = 1100 * time.Millisecond
)

// run is one run of probe.
type run struct {
	Options
	report   Report
	outcomes map[string]Result
	ended    time.Time // of the last request

	size      int  // of the largest page that is accepted
	ignoreIDs bool // documentId is no filter
	sample    []record
	noPath    answer // to a GET of a path that is not one of the service's
	badID     answer // to a malformed documentId
	keyCode   string // of the answer to a wrong key
}

// Run asks, and returns what it found. With an error the report holds what was found before; it is nil when nothing could be
// asked: no answer, or the key is refused.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	r := &run{Options: o, outcomes: map[string]Result{}}
	r.report.Endpoints = map[signforms.Operation]signforms.Endpoint{}
	for op, e := range o.Endpoints {
		r.report.Endpoints[op] = e
	}
	first, err := r.list(ctx, nil)
	if err != nil {
		return nil, err
	}
	if first.status == http.StatusUnauthorized || first.status == http.StatusForbidden {
		return nil, fmt.Errorf("the service refuses the API key or the workspace (%d)", first.status)
	}
	for _, step := range r.steps(first) {
		if err := step(ctx); err != nil {
			return r.finish(), err
		}
	}
	return r.finish(), nil
}

// steps are the questions, in order. Where documents are not listed, nothing that rests on them is asked.
func (r *run) steps(first answer) []func(context.Context) error {
	steps := []func(context.Context) error{r.wrongKey, r.wrongPath}
	if r.found("list documents", first) {
		step := func(ctx context.Context) error { return r.sizes(ctx, first) }
		steps = append(steps, step, r.orders, r.pages, r.statuses, r.ids, r.archived, r.dates, r.unknownParameter, r.fields)
	}
	steps = append(steps, r.respondents, r.responses)
	if r.Mutating {
		steps = append(steps, r.void, r.remind)
	}
	return steps
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (r *run) say(id string, o Outcome, format string, args ...any) {
	r.outcomes[id] = Result{Outcome: o, Seen: fmt.Sprintf(format, args...)}
}

// check says that a fact holds or differs.
func (r *run) check(id string, holds bool, format string, args ...any) {
	o := Differs
	if holds {
		o = Holds
	}
	r.say(id, o, format, args...)
}

// found judges the first answer of an operation: whether it is where the wire format says.
func (r *run) found(id string, a answer) bool {
	if answered := a.ok() || a.refused() || a.status/100 == 3; answered && r.outcomes["redirects"].Outcome != Differs {
		r.check("redirects", a.status/100 != 3, "%s", a.short())
	}
	switch {
	case a.status == http.StatusNotFound && id == "list documents", a.status == http.StatusMethodNotAllowed:
		r.say(id, Differs, "%s", a.short())
		r.takeAllow(id, a)
		return false
	case a.status/100 == 3:
		r.say(id, Differs, "%s", a.short())
		return false
	case a.status/100 != 2 && a.status != http.StatusBadRequest && a.status != http.StatusNotFound:
		r.say(id, CannotTell, "%s", a.short())
		return false
	}
	r.say(id, Holds, "%s", a.short())
	return true
}

// takeAllow takes the method that the service itself names.
func (r *run) takeAllow(id string, a answer) {
	if allow := a.header.Get("Allow"); oneMethod.MatchString(allow) {
		op := signforms.Operation(id)
		e := r.report.Endpoints[op]
		e.Method = allow
		r.report.Endpoints[op] = e
	}
}

// finish puts the outcomes in the order of the facts. What was not seen cannot be told.
func (r *run) finish() *Report {
	for _, f := range Facts {
		res, ok := r.outcomes[f.ID]
		switch {
		case ok:
		case f.Never != "":
			res = Result{Outcome: CannotTell, Seen: f.Never}
		case f.Mutating && !r.Mutating:
			res = Result{Outcome: CannotTell, Seen: "asked with --mutating only"}
		default:
			res = Result{Outcome: CannotTell, Seen: "nothing here showed it"}
		}
		res.Fact = f
		r.report.Results = append(r.report.Results, res)
	}
	return &r.report
}
