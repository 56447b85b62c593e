package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/signforms/signforms-go"
)

// methods are the HTTP methods that void may have, the assumed one first.
var methods = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

const both = signforms.InputsQuery | signforms.InputsBody

// mayMutate reports whether requests with a random id are likely to be harmless. They are not if the service returns documents for
// an id that no document has: it might then act on one of them.
func (r *run) mayMutate(fact string) bool {
	switch {
	case r.ignoreIDs:
		r.say(fact, CannotTell, "not asked: the service gives documents for an id that none has, and might act on them")
	case r.report.Accepted:
		r.say(fact, CannotTell, "not asked: an earlier request was carried out")
	case r.outcomes["id filter"].Outcome == "":
		r.say(fact, CannotTell, "not asked: whether the service looks at ids is not known")
	default:
		return true
	}
	return false
}

// void asks to void documents that do not exist, until the method and the place of the inputs are known.
func (r *run) void(ctx context.Context) error {
	if !r.mayMutate("void document") {
		return nil
	}
	tried := slices.Clone(methods)
	for len(tried) > 0 {
		method := tried[0]
		tried = tried[1:]
		a, err := r.voidBy(ctx, method, both)
		if err != nil || r.report.Accepted {
			return err
		}
		if a.status == http.StatusMethodNotAllowed {
			if allow := a.header.Get("Allow"); oneMethod.MatchString(allow) {
				if tried = slices.DeleteFunc(tried, func(m string) bool { return m != allow }); len(tried) == 0 {
					r.say("void document", Differs, "%s", a.short())
					r.takeAllow("void document", a)
				}
			}
			continue
		}
		if r.samePath(a) {
			r.say("void document", CannotTell, "%s to %s, as for a path that does not exist", a.short(), method)
			continue
		}
		return r.voidPlace(ctx, method, a)
	}
	if r.outcomes["void document"].Outcome == "" {
		r.say("void document", Differs, "none of POST, PUT, PATCH and DELETE is allowed")
	}
	return nil
}

// voidPlace finds out where inputs are read, with a method that is accepted. inBoth is the answer to inputs in both places.
func (r *run) voidPlace(ctx context.Context, method string, inBoth answer) error {
	inQuery, err := r.voidBy(ctx, method, signforms.InputsQuery)
	if err != nil || r.report.Accepted {
		return err
	}
	inBody, err := r.voidBy(ctx, method, signforms.InputsBody)
	if err != nil || r.report.Accepted {
		return err
	}
	place, known := placeOf(inQuery, inBody)
	if !known {
		r.say("void document", CannotTell, "%s: both: %s; query: %s; body: %s", method, inBoth.short(), inQuery.short(), inBody.short())
		return nil
	}
	r.endpoint("void document", method, place)
	return nil
}

// placeOf returns where inputs are read. A service that reads the id answers that it is not found. A service that does not read it
// answers that it is missing.
func placeOf(inQuery, inBody answer) (signforms.Inputs, bool) {
	query, body := inQuery.status == http.StatusNotFound, inBody.status == http.StatusNotFound
	missingQuery, missingBody := missed(inQuery), missed(inBody)
	switch {
	case query && body:
		return both, true
	case query && missingBody:
		return signforms.InputsQuery, true
	case body && missingQuery:
		return signforms.InputsBody, true
	}
	return 0, false
}

// missed reports whether an answer says that inputs are missing or in a form that is not accepted.
func missed(a answer) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}, a.status)
}

var placeNames = map[signforms.Inputs]string{signforms.InputsQuery: "the query", signforms.InputsBody: "the body", both: "either of query and body"}

// endpoint notes the method of an operation and the place of its inputs.
func (r *run) endpoint(fact, method string, place signforms.Inputs) {
	usual := method == http.MethodPost && place == both
	r.check(fact, usual, "%s, inputs are read in %s", method, placeNames[place])
	if usual {
		return
	}
	op := signforms.Operation(fact)
	e := r.report.Endpoints[op]
	if method != http.MethodPost {
		e.Method = method
	}
	if place != both {
		e.Inputs = place
	}
	r.report.Endpoints[op] = e
}

// voidBy asks once to void a document with a new random id.
func (r *run) voidBy(ctx context.Context, method string, place signforms.Inputs) (answer, error) {
	inputs := map[string]string{"documentId": RandomID(), "documentType": "PDF"}
	var query url.Values
	var body []byte
	if place&signforms.InputsQuery != 0 {
		query = url.Values{"documentId": {inputs["documentId"]}, "documentType": {"PDF"}}
	}
	if place&signforms.InputsBody != 0 {
		body, _ = json.Marshal(inputs) // cannot fail for strings
	}
	a, err := r.ask(ctx, method, r.path(signforms.OpVoidDocument), query, body, r.APIKey)
	if err == nil && a.ok() {
		r.report.Accepted = true
		r.say("void document", Differs, "%s with a random id in %s was answered %d: a document may have been voided, so nothing more was asked",
			method, placeNames[place], a.status)
	}
	return a, err
}

// remind asks at most twice to remind the signers of a document that does not exist. The requests count in the limit store.
func (r *run) remind(ctx context.Context) error {
	if r.Remind == nil || !r.mayMutate("send reminder") {
		return nil
	}
	first, err := r.remindBy(ctx, http.MethodPost, signforms.InputsQuery)
	if err != nil || r.outcomes["send reminder"].Outcome != "" {
		return err
	}
	if first.StatusCode == http.StatusMethodNotAllowed {
		return r.remindOtherwise(ctx)
	}
	second, err := r.remindBy(ctx, http.MethodPost, signforms.InputsBody)
	if err != nil || r.outcomes["send reminder"].Outcome != "" {
		return err
	}
	place, known := placeOf(answer{status: first.StatusCode}, answer{status: second.StatusCode})
	if !known || r.sameMessage(first) {
		r.say("send reminder", CannotTell, "POST: query: status %d; body: status %d", first.StatusCode, second.StatusCode)
		return nil
	}
	r.endpoint("send reminder", http.MethodPost, place)
	return nil
}

// remindOtherwise tries the method of void, or else PUT, after POST was not allowed.
func (r *run) remindOtherwise(ctx context.Context) error {
	method := r.report.Endpoints[signforms.OpVoidDocument].Method
	if method == "" || method == http.MethodGet {
		method = http.MethodPut
	}
	second, err := r.remindBy(ctx, method, both)
	if err != nil || r.outcomes["send reminder"].Outcome != "" {
		return err
	}
	if second.StatusCode != http.StatusNotFound || r.sameMessage(second) {
		r.say("send reminder", Differs, "POST is not allowed, and %s is answered %d", method, second.StatusCode)
		return nil
	}
	r.say("send reminder", Differs, "%s; cannot tell where it reads inputs", method)
	e := r.report.Endpoints[signforms.OpSendReminder]
	e.Method = method
	r.report.Endpoints[signforms.OpSendReminder] = e
	return nil
}

// sameMessage is samePath for an error of the SDK.
func (r *run) sameMessage(e *signforms.Error) bool {
	var a answer
	a.status, a.text = e.StatusCode, string(e.Body)
	json.Unmarshal(e.Body, &a.object) // a body that is not an object holds no message
	return r.samePath(a)
}

// remindBy makes one reminder request. It notes the outcome itself when a second request would show nothing more.
func (r *run) remindBy(ctx context.Context, method string, place signforms.Inputs) (*signforms.Error, error) {
	if err := r.Sleep(ctx, Pause); err != nil {
		return nil, err
	}
	path := r.Endpoints[signforms.OpSendReminder].Path
	err := r.Remind(ctx, signforms.Endpoint{Method: method, Path: path, Inputs: place})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e, ok := errors.AsType[*signforms.Error](err)
	switch {
	case err == nil:
		r.report.Accepted = true
		r.say("send reminder", Differs, "%s with a random id in %s was accepted: signers may have been reminded", method, placeNames[place])
	case !ok || e.StatusCode == 0:
		r.say("send reminder", CannotTell, "not sent: the limit of reminders is used up, or its store does not answer")
	case errors.Is(err, signforms.ErrRateLimited) || errors.Is(err, signforms.ErrOutcomeUnknown):
		r.say("send reminder", CannotTell, "status %d", e.StatusCode)
	}
	if e != nil {
		r.report.Asked = append(r.report.Asked, Asked{Method: method, Path: "/send-reminder", Status: e.StatusCode, Body: e.Body})
	}
	return e, nil
}
