package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/signforms/signforms-go"
)

// This file asks to void and to remind, with random ids. A service that reads its inputs elsewhere sees no id, and may act on any
// record. So nothing is asked unless the lists prove that ids and workspaces count, and nothing more after the first answer that
// may be a success.

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

// unsafe says why requests with a random id may do harm; empty when they may not.
func (r *run) unsafe(ctx context.Context) string {
	if r.WorkspaceID == "" {
		return "no workspace was confirmed"
	}
	if !r.filtered || !r.holds("id filter") || len(r.sample) < 2 {
		return "that the service looks at ids is not proven"
	}
	other := r.ask(ctx, question{workspace: stranger(r.WorkspaceID), do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Documents.List(ctx, params{Limit: 1})
		return pageOf(list, err, "documents", ofDocument)
	}})
	refused := errors.Is(other.err, signforms.ErrForbidden) || other.refused()
	if refused || other.ok() && len(other.records) == 0 {
		return ""
	}
	return fmt.Sprintf("a workspace that does not exist is answered too (%s), so the records may not be those of the workspace that was confirmed", other.short())
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
		a.r.say(string(a.op), CannotTell, "no method is answered in a way that shows that the id is read")
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
	apart := unlike(got, a.r.controls(ctx, got))
	if a.r.stop != nil || !apart {
		return got, a.r.stop == nil
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
		if one.missing() && unlike(one, a.r.controls(ctx, one)) {
			a.found(ctx, e, one)
			return one, false
		}
	}
	a.r.say(string(a.op), CannotTell, "%s by %s, wherever the id is", got.short(), e.Method)
	return got, false
}

var placeNames = map[signforms.Inputs]string{0: "", signforms.InputsQuery: " with inputs in the query", signforms.InputsBody: " with inputs in the body",
	signforms.InputsQuery | signforms.InputsBody: ""}

// found notes an endpoint at which an unknown id is not found, if that depends on the id. An answer that suggests another path would
// not.
func (a *action) found(ctx context.Context, e signforms.Endpoint, got answer) {
	if !a.dependent(ctx, e, got) {
		a.r.say(string(a.op), CannotTell, "%s by %s, which is not known to depend on the id", got.short(), e.Method)
		return
	}
	usual := (e.Method == http.MethodPost || e.Method == "") && e.Inputs == a.r.Endpoints[a.op].Inputs
	a.r.check(string(a.op), usual, "%s%s: an unknown id is not found (%s), and other paths answer otherwise", e.Method, placeNames[e.Inputs], got.short())
	if e.Method == http.MethodPost {
		e.Method = ""
	}
	if !usual {
		a.r.report.Endpoints = a.r.with(a.op, func(known *signforms.Endpoint) { known.Method, known.Inputs = e.Method, e.Inputs })
	}
}

// dependent asks void for what is no id, which must be refused otherwise. A reminder, of which few may be sent, must be answered as
// such a void is.
func (a *action) dependent(ctx context.Context, e signforms.Endpoint, got answer) bool {
	if a.op == signforms.OpSendReminder {
		return a.r.gone == got.print()
	}
	bad, stop := a.judge(a.r.ask(ctx, question{endpoints: a.endpoints(e), set: []string{"documentId", "not-an-id"},
		do: func(ctx context.Context, c *signforms.Client) (page, error) { return page{}, a.do(ctx, c) }}))
	if stop || !bad.refused() || bad.print() == got.print() {
		return false
	}
	a.r.gone = got.print()
	return true
}

func (a *action) endpoints(e signforms.Endpoint) map[signforms.Operation]signforms.Endpoint {
	return a.r.with(a.op, func(known *signforms.Endpoint) { known.Method, known.Inputs = e.Method, e.Inputs })
}

// once makes one request. stop is true when nothing more may be asked.
func (a *action) once(ctx context.Context, e signforms.Endpoint) (got answer, stop bool) {
	if a.asked++; a.asked > a.most {
		return answer{}, true
	}
	return a.judge(a.r.ask(ctx, question{endpoints: a.endpoints(e),
		do: func(ctx context.Context, c *signforms.Client) (page, error) { return page{}, a.do(ctx, c) }}))
}

// judge says whether nothing more may be asked after an answer.
func (a *action) judge(got answer) (_ answer, stop bool) {
	local, _ := errors.AsType[*signforms.Error](got.err)
	switch {
	case local != nil && local.Local || got.Method == "":
		a.r.say(string(a.op), CannotTell, "not sent: the limit of reminders is used up, its store does not answer, or the endpoint cannot be used")
		return got, true
	case !got.mayBeDone():
		if errors.Is(got.err, signforms.ErrRateLimited) || errors.Is(got.err, signforms.ErrForbidden) {
			a.r.say(string(a.op), CannotTell, "%s", got.short())
			return got, true
		}
		return got, a.r.stop != nil
	}
	a.r.report.MayHaveActed = fmt.Sprintf("%s by %s, with a random id, was answered: %s", a.op, got.Method, got.short())
	a.r.say(string(a.op), CannotTell, "%s by %s with a random id may have been carried out: nothing more was asked", got.short(), got.Method)
	return got, true
}

// mayBeDone reports whether an answer leaves open that something was changed. Only a refusal rules it out: of the inputs, or because
// there is no such record.
func (a answer) mayBeDone() bool {
	if a.Status/100 == 2 {
		return !errors.Is(a.err, signforms.ErrNotFound) && !errors.Is(a.err, signforms.ErrInvalid)
	}
	return a.Status/100 != 4 || a.Status == http.StatusRequestTimeout || a.Status == 499
}
