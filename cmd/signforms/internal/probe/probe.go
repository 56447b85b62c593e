// Package probe tests which of the project's assumptions about a service hold. [Run] makes requests, one at a time and less than
// one a second, and returns an outcome for each fact.
//
// By default it makes only GET requests, mostly to the three lists, which change nothing. Options.Mutating adds requests to void
// and to remind with random ids. A service that reads its inputs elsewhere sees no id in them, and may act on any record. So probe
// stops after the first of these requests that succeeds.
package probe

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Options say which service to ask, and what.
type Options struct {
	BaseURL, APIKey, WorkspaceID string
	// Endpoints are the operations that are already known to differ.
	Endpoints map[signforms.Operation]signforms.Endpoint
	// Mutating adds requests to void and to remind, with random ids.
	Mutating bool
	// Remind makes one reminder request with an endpoint and a random id, through the limit store, and returns its error. It is
	// called at most twice, and only with Mutating.
	Remind func(context.Context, signforms.Endpoint) error

	Transport http.RoundTripper
	Timeout   time.Duration // of one request
	// Sleep waits between requests. Nil means a real wait.
	Sleep func(context.Context, time.Duration) error
}

// Report is what probe found.
type Report struct {
	Results []Result
	// Profile holds the settings of the reference service that match what was seen.
	Profile signformstest.Profile
	// Endpoints are the operations that were seen to differ, and those of Options.
	Endpoints map[signforms.Operation]signforms.Endpoint
	// Asked are the requests that were made, in order.
	Asked []Asked
	// Accepted is set when a request with a random id was carried out: a document may have been voided, or its signers reminded.
	Accepted bool
}

// The largest numbers of requests that Run makes.
const (
	MostGets      = 60
	MostVoids     = 12
	MostReminders = 2
	// Pause is the least time between two requests.
	Pause = 1100 * time.Millisecond
)

// run is one run of probe.
type run struct {
	Options
	report   Report
	outcomes map[string]Result
	begun    bool // a request was made

	size      int  // the largest limit that is accepted, as far as is known
	ignoreIDs bool // the service ignores documentId
	sample    []record
	noPath    answer // to a GET of a path that does not exist
	badID     answer // to a malformed documentId
	keyCode   string // the code in the answer to a wrong key
}

// Run makes the requests and returns what it found. With an error, the report holds what was found before it. The report is nil
// when the first request has no answer or the key is refused.
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

// steps returns the steps of a run, in order. Steps that need the list of documents are left out when there is no such list.
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

// check notes that a fact holds or differs.
func (r *run) check(id string, holds bool, format string, args ...any) {
	o := Differs
	if holds {
		o = Holds
	}
	r.say(id, o, format, args...)
}

// found notes from the first answer of an operation whether it is at its path. It reports whether to ask more of the operation.
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

// takeAllow notes the method that the service names in Allow.
func (r *run) takeAllow(id string, a answer) {
	if allow := a.header.Get("Allow"); oneMethod.MatchString(allow) {
		op := signforms.Operation(id)
		e := r.report.Endpoints[op]
		e.Method = allow
		r.report.Endpoints[op] = e
	}
}

// finish puts the outcomes in the order of the facts. The outcome of a fact that nothing showed is CannotTell.
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
