// Package probe finds out which of the project's assumptions about a service hold. [Run] makes requests, one at a time and less
// than one a second, and returns an outcome for each fact.
//
// A fact holds or differs only when some answer would have been another if it were the other way, and another answer shows that this
// service can be told apart. Otherwise it cannot be told. The SDK makes the requests and judges the answers: what it takes for an
// error is one here.
//
// By default all requests are GETs. Options.Mutating adds requests to void and to remind with random ids; see mutate.go.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	// LimitStore counts the reminders. It is needed with Mutating.
	LimitStore signforms.LimitStore

	Transport http.RoundTripper
	Timeout   time.Duration // of one request
	// Sleep waits between requests. Nil means a real wait.
	Sleep func(context.Context, time.Duration) error
}

// NoList is what was seen of the facts that were not asked for, where there is no list of documents.
const NoList = "not asked: the list of documents could not be read"

// Report is what probe found.
type Report struct {
	Results []Result
	// Profile holds the settings of the reference service that match what was seen. ProfileTried is nil when a reference service
	// with them gave the same outcomes; else it says which fact was in the way.
	Profile      signformstest.Profile
	ProfileTried error
	// Endpoints are those of Options, with what was found and worked when it was tried.
	Endpoints map[signforms.Operation]signforms.Endpoint
	// List says why the SDK's list of all documents fails with these endpoints, what it lacks or needs, that it was not tried or only in
	// part, that lists of templates have other documents, or that the key was refused at the end; "" if the list was read.
	List string
	// Early is set if the run reached MostGets or MostTime before all facts were asked.
	Early bool
	// Asked are the requests that were made, in order.
	Asked []Asked
	// MayHaveActed says which request may have been carried out: a document may have been voided, or its signers reminded.
	MayHaveActed string
}

// The bounds of a run.
const (
	MostGets      = 60               // also of GETs of paths that do not exist
	MostTime      = 90 * time.Second // a request that has no answer by then is given up
	MostVoids     = 8                // beside each, and each reminder, at most three requests by the same method to paths that do not exist
	MostReminders = 2
	MostLooks     = 44 // GETs that see whether something was changed; they may take MostTime again
	// MostDocuments is how many documents a workspace may have with Mutating: each look asks for a page of another size that holds all.
	MostDocuments = assumedLimit - MostLooks/2
	// Pause is the least time between two requests.
	Pause = 1100 * time.Millisecond
)

// lastGets are those of MostGets with the wrong key, and the one after them.
const lastGets = 3

// mostOfList are those of MostGets for one look at a list by the SDK's own reading of its pages.
const mostOfList = 4

// run is one run of probe.
type run struct {
	Options
	report   Report
	outcomes map[string]Result
	stop     error // why nothing more is asked
	start    time.Time
	skipped  time.Duration // of the waits, by a Sleep that does not wait
	silent   int           // requests in a row without an answer
	kept     int           // GETs for the last steps

	first     answer   // to a list without inputs
	seen      []answer // the answers for the user's own account, in the order of the run
	sample    []record // the most documents that one answer gave, in the service's own order
	up, down  answer   // to sortOrder=asc and desc
	small     answer   // to a small limit and asc
	behind    answer   // to page 2 of the largest pages
	hundred   int      // how many documents limit=100 gives
	limited   bool     // limit is obeyed
	size      int      // the documents of the largest page that is known to work
	most      int      // the largest limit, when 100 is refused
	cut       bool     // 100 is taken for size
	sorted    bool     // sortOrder=asc and desc are obeyed
	second    bool     // without a page the second is listed
	paged     bool     // page is obeyed, and the SDK counts pages as the service does
	complete  bool     // sample holds all documents
	filtered  bool     // documentId is proven to select one document
	keyError  answer   // to a wrong key
	badID     answer   // to a malformed documentId
	archives  answer   // to archive=true
	templates answer
	gone      string // what void answers to an unknown id
	state     string // of all documents, before a request that may act
	looks     int    // at that state so far
	listTried bool   // the SDK listed documents with what was found: all of them if listWhole, or it failed with listErr
	listWhole bool
	listOf    []record // what it listed
	listErr   error
	doubted   []string // facts that held but for one answer
	trial     bool     // the reference service is asked, which needs no bounds
}

var (
	errEnough = errors.New("the most requests or the longest time of one run")
	// ErrFront is the error of a run in which the service itself did not answer.
	ErrFront = errors.New("something in front of the service answers, such as a firewall or a page for browsers, or the base URL is not that of the API")
)

// Run makes the requests and returns what it found. With an error, the report holds what was found before it.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := newRun(o)
	r.all(ctx)
	rep := r.finish()
	if err := r.stop; err != nil && !errors.Is(err, errEnough) {
		return rep, err
	}
	if r.report.Profile, r.report.ProfileTried = r.tried(ctx); ctx.Err() != nil {
		return rep, ctx.Err()
	}
	return rep, nil
}

func newRun(o Options) *run {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	r := &run{Options: o, outcomes: map[string]Result{}, size: 1, start: time.Now()}
	r.report.Endpoints = map[signforms.Operation]signforms.Endpoint{}
	maps.Copy(r.report.Endpoints, o.Endpoints)
	return r
}

// all asks everything, in the order in which one fact needs others. What may lock the account out comes last.
func (r *run) all(ctx context.Context) {
	r.kept = lastGets
	if r.listed(ctx) {
		for _, step := range []func(context.Context){r.sizes, r.orders, r.pages, r.totals, r.largest, r.ids, r.statuses, r.archived, r.dates, r.unknownParameter, r.types} {
			if r.listChanged() {
				r.kept = lastGets + 2*mostOfList
			}
			if r.stop == nil {
				step(ctx)
			}
		}
		r.kept = lastGets
		r.tryList(ctx)
	}
	steps := []func(context.Context){r.respondents, r.responses}
	if r.Mutating {
		steps = append(steps, r.mutate)
	}
	for _, step := range steps {
		if r.stop == nil {
			step(ctx)
		}
	}
	ended := r.stop
	if (ended == nil || errors.Is(ended, errEnough)) && r.first.ok() && !r.trial {
		r.sayList(ctx)
	}
	if r.kept = 0; ended != nil && (r.stop == nil || errors.Is(r.stop, errEnough)) {
		r.stop = ifThen(errors.Is(ended, errEnough) && r.spent() < r.mostTime()-lastGets*Pause, nil, ended)
	}
	if r.stop == nil {
		r.wrongKey(ctx)
		r.errors()
	}
	r.stop = cmp.Or(r.stop, ended)
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

// say notes an outcome. Nothing is noted of answers that did not come because the run had to stop.
func (r *run) say(id string, o Outcome, format string, args ...any) {
	if r.stop == nil {
		r.note(id, o, format, args...)
	}
}

// note does the same of answers that came.
func (r *run) note(id string, o Outcome, format string, args ...any) {
	described := make([]any, len(args))
	for i, arg := range args {
		described[i] = arg
		if text, ok := arg.(foreign); ok {
			args[i], described[i] = text.clean(), Describe(string(text))
		}
	}
	r.outcomes[id] = Result{Outcome: o, Seen: fmt.Sprintf(format, args...), Shared: fmt.Sprintf(format, described...)}
}

// check notes that a fact holds or differs.
func (r *run) check(id string, holds bool, format string, args ...any) {
	o := Differs
	if holds {
		o = Holds
	}
	r.say(id, o, format, args...)
}

func (r *run) holds(id string) bool { return r.outcomes[id].Outcome == Holds }

// finish puts the outcomes in the order of the facts.
func (r *run) finish() *Report {
	r.judge()
	for _, f := range Facts {
		res, ok := r.outcomes[f.ID]
		switch {
		case ok:
		case f.Mutating && !r.Mutating:
			res = Result{Outcome: CannotTell, Seen: "asked with --mutating only"}
		case r.stop != nil:
			res = Result{Outcome: CannotTell, Seen: "not asked: the run had ended"}
			r.report.Early = errors.Is(r.stop, errEnough)
		case !r.first.ok():
			res = Result{Outcome: CannotTell, Seen: NoList}
		default:
			res = Result{Outcome: CannotTell, Seen: "nothing here showed it"}
		}
		if res.Fact = f; res.Shared == "" {
			res.Shared = res.Seen
		}
		r.report.Results = append(r.report.Results, res)
	}
	return &r.report
}
