package probe

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/signforms/signforms-go"
)

// This file asks to void and to remind, with random ids. A service that reads its inputs elsewhere sees no id, and may act on any
// record: harm.go says when nothing more may be asked.

// mutate asks to void, and then to remind.
func (r *run) mutate(ctx context.Context) {
	if reason := r.unsafe(ctx); reason != "" {
		r.say("void document", CannotTell, "not asked: %s", reason)
		r.say("send reminder", CannotTell, "not asked: %s", reason)
		return
	}
	void := action{r: r, op: signforms.OpVoidDocument, most: MostVoids, do: func(ctx context.Context, c *signforms.Client) error {
		_, err := c.Documents.Void(ctx, signforms.PDFDocument(randomID()))
		return err
	}}
	void.find(ctx)
	if r.report.MayHaveActed != "" {
		r.say("send reminder", CannotTell, "not asked: an earlier request may have been carried out")
		return
	}
	remind := action{r: r, op: signforms.OpSendReminder, most: MostReminders, do: func(ctx context.Context, c *signforms.Client) error {
		_, err := c.Documents.Remind(ctx, signforms.PDFDocument(randomID()))
		return err
	}}
	if method := r.report.Endpoints[signforms.OpVoidDocument].Method; method != "" {
		remind.second = method
	}
	remind.find(ctx)
}

// action is void or reminder.
type action struct {
	r      *run
	op     signforms.Operation
	do     func(context.Context, *signforms.Client) error
	most   int
	second string // the method to try first after the documented one
	asked  int
}

// find asks by each method until something reads the id, and then in which place.
func (a *action) find(ctx context.Context) {
	known := a.r.report.Endpoints[a.op]
	methods := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	if known.Method != "" {
		methods = []string{known.Method}
	} else if a.second != "" {
		methods = slices.Insert(slices.DeleteFunc(methods, func(m string) bool { return m == a.second }), 1, a.second)
	}
	for len(methods) > 0 {
		method := methods[0]
		methods = methods[1:]
		e := known
		e.Method = method
		got, again := a.try(ctx, e)
		switch {
		case !again:
			return
		case got.Status == http.StatusMethodNotAllowed:
			if allow := got.Header.Get("Allow"); oneMethod.MatchString(allow) {
				if a.r.say(string(a.op), Differs, "%s", got.short()); allow == http.MethodGet {
					return // a GET is not tried: it may be carried out
				}
				methods = slices.DeleteFunc(methods, func(m string) bool { return m != allow })
			}
		}
	}
	if a.r.outcomes[string(a.op)].Outcome == "" {
		a.r.say(string(a.op), CannotTell, "no method is answered in a way that shows that the id is read; a path with the id in it (Endpoint.Path) is not tried")
	}
}

// try asks once with an endpoint. again is true when another method may do.
func (a *action) try(ctx context.Context, e signforms.Endpoint) (got answer, again bool) {
	got, stop := a.once(ctx, e)
	if stop {
		return got, false
	}
	if got.Status == http.StatusMethodNotAllowed {
		return got, true
	}
	apart, stop := a.apart(ctx, got)
	if stop || !apart {
		return got, !stop
	}
	if got.missing() {
		a.found(ctx, e, got)
		return got, false
	}
	if !errors.Is(got.err, signforms.ErrInvalid) {
		a.r.say(string(a.op), CannotTell, "%s by %s", got.short(), e.Method)
		return got, false
	}
	for _, place := range []signforms.Inputs{signforms.InputsQuery, signforms.InputsBody} { // both are refused; perhaps one is not
		e.Inputs = place
		one, stop := a.once(ctx, e)
		if stop {
			return one, false
		}
		if !one.missing() {
			continue
		}
		if apart, stop := a.apart(ctx, one); apart && !stop {
			a.found(ctx, e, one)
			return one, false
		} else if stop {
			return one, false
		}
	}
	a.r.say(string(a.op), CannotTell, "%s by %s, wherever the id is", got.short(), e.Method)
	return got, false
}

// apart reports whether an answer is another than those to paths that do not exist. A service may act on those too.
func (a *action) apart(ctx context.Context, got answer) (apart, stop bool) {
	var others []answer
	for _, path := range a.r.strange(got) {
		c := a.r.otherPath(ctx, got, path)
		if a.judge(ctx, c, "a path that does not exist") {
			return false, true
		}
		if others = append(others, c); !unlike(got, others) {
			return false, false
		}
	}
	return true, false
}

var placeNames = map[signforms.Inputs]string{0: "", signforms.InputsQuery: " with inputs in the query", signforms.InputsBody: " with inputs in the body",
	signforms.InputsQuery | signforms.InputsBody: ""}

// found notes an endpoint at which an unknown id is not found, if that depends on the id. An answer that suggests another path would
// not.
func (a *action) found(ctx context.Context, e signforms.Endpoint, got answer) {
	dependent, stop := a.dependent(ctx, e, got)
	if stop {
		return
	}
	if !dependent {
		a.r.say(string(a.op), CannotTell, "%s by %s; it is not known to depend on the id, as %s", got.short(), e.Method,
			ifThen(a.op == signforms.OpVoidDocument, "a malformed id is answered alike, or not refused", "void does not answer alike"))
		return
	}
	usual := (e.Method == http.MethodPost || e.Method == "") && e.Inputs == a.r.Endpoints[a.op].Inputs
	place := placeNames[e.Inputs]
	a.r.check(string(a.op), usual, "%s%s: an unknown id is not found (%s), and other paths answer otherwise%s", e.Method, place, got.short(),
		ifThen(place == "", "; whether the query or the body is read was not seen", ""))
	if e.Method == http.MethodPost {
		e.Method = ""
	}
	if !usual {
		a.r.report.Endpoints = a.r.with(a.op, func(known *signforms.Endpoint) { known.Method, known.Inputs = e.Method, e.Inputs })
	}
}

// dependent asks void for what is no id, which must be refused otherwise. A reminder, of which few may be sent, must be answered as
// such a void is.
func (a *action) dependent(ctx context.Context, e signforms.Endpoint, got answer) (dependent, stop bool) {
	if a.op == signforms.OpSendReminder {
		return a.r.gone == got.print(), false
	}
	bad, stop := a.once(ctx, e, "documentId", "not-an-id")
	if stop || !bad.refused() || bad.print() == got.print() {
		return false, stop
	}
	a.r.gone = got.print()
	return true, false
}

// once makes one request. stop is true when nothing more may be asked.
func (a *action) once(ctx context.Context, e signforms.Endpoint, set ...string) (got answer, stop bool) {
	if a.asked++; a.asked > a.most {
		a.r.say(string(a.op), CannotTell, "%d requests did not show it, and no more are made", a.most)
		return answer{}, true
	}
	tried := a.r.with(a.op, func(known *signforms.Endpoint) { known.Method, known.Inputs = e.Method, e.Inputs })
	got = a.r.ask(ctx, question{endpoints: tried, set: set, do: func(ctx context.Context, c *signforms.Client) (page, error) { return page{}, a.do(ctx, c) }})
	if stop = a.judge(ctx, got, string(a.op)); !stop && (errors.Is(got.err, signforms.ErrRateLimited) || errors.Is(got.err, signforms.ErrForbidden)) {
		a.r.say(string(a.op), CannotTell, "%s", got.short())
		return got, true
	}
	return got, stop
}
