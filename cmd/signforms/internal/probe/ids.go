package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Values of a Profile that probe can find.
const (
	noneMissing   = signformstest.NoneIsMissing
	noneNull      = signformstest.NoneIsNull
	statusIgnored = signformstest.UnknownStatusIgnored
	statusEmpty   = signformstest.UnknownStatusEmpty
)

// ids asks for documents by an unknown id, by a known id in lower and upper case, and by a text that is not an id.
func (r *run) ids(ctx context.Context) error {
	unknown, err := r.list(ctx, []string{"documentId", RandomID()})
	if err != nil {
		return err
	}
	if !unknown.ok() && unknown.status != http.StatusNotFound {
		r.say("id filter", CannotTell, "an unknown id: %s", unknown.short())
	} else if n := len(unknown.documents()); n > 0 {
		r.ignoreIDs, r.report.Profile.IgnoreIDs = true, true
		r.say("id filter", Differs, "an id that no document has gives %d documents", n)
	} else if len(r.sample) > 0 {
		if err := r.knownID(ctx); err != nil {
			return err
		}
	}
	if r.badID, err = r.list(ctx, []string{"documentId", "not-an-id"}); err != nil {
		return err
	}
	switch {
	case r.badID.status == http.StatusBadRequest:
		r.say("malformed id", Holds, "%s", r.badID.short())
	case r.ignoreIDs:
		r.say("malformed id", CannotTell, "ids are not looked at")
	case r.badID.status == http.StatusNotFound, r.badID.ok() && len(r.badID.documents()) == 0:
		r.say("malformed id", Differs, "it is unknown instead: %s", r.badID.short())
		r.report.Profile.AnyID = true
	default:
		r.say("malformed id", CannotTell, "%s", r.badID.short())
	}
	r.codes()
	return nil
}

func (r *run) knownID(ctx context.Context) error {
	known := id(r.sample[0])
	one, err := r.list(ctx, []string{"documentId", known})
	if err != nil {
		return err
	}
	if !one.ok() {
		r.say("id filter", CannotTell, "%s", one.short())
		return nil
	}
	docs := one.documents()
	alone := len(docs) == 1 && id(docs[0]) == known
	r.check("id filter", alone, "%d documents", len(docs))
	upper := strings.ToUpper(known)
	if !alone || upper == known {
		return nil
	}
	again, err := r.list(ctx, []string{"documentId", upper})
	if err != nil {
		return err
	}
	if !again.ok() && !again.refused() {
		return nil
	}
	found := len(again.documents()) == 1
	r.check("ids in any case", found, "in upper case: %s", ifThen(found, "found", again.short()))
	return nil
}

// wrongKey asks with an unknown key. It checks the status and the layout of the error.
func (r *run) wrongKey(ctx context.Context) error {
	a, err := r.ask(ctx, http.MethodGet, r.path(signforms.OpListDocuments), url.Values{"limit": {"1"}}, nil, randomKey())
	if err != nil {
		return err
	}
	switch {
	case a.ok():
		r.say("key status", Differs, "a wrong key is taken (%d)", a.status)
		return nil
	case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status/100 != 4:
		r.say("key status", CannotTell, "%s", a.short())
	default:
		r.check("key status", a.status == http.StatusForbidden, "%s", a.short())
		if a.status != http.StatusForbidden {
			r.report.Profile.KeyStatus = a.status
		}
	}
	layout, name := layoutOf(a)
	r.check("error layout", layout == signformstest.LayoutMessage, "%s", name)
	r.report.Profile.ErrorLayout = layout
	r.keyCode = a.str("code")
	return nil
}

func (r *run) path(op signforms.Operation) string {
	if e := r.Endpoints[op]; e.Path != "" {
		return e.Path
	}
	return documentedPaths[op]
}

// layoutOf returns where an error's message is, as a layout and in words.
func layoutOf(a answer) (signformstest.ErrorLayout, string) {
	var data map[string]json.RawMessage
	json.Unmarshal(a.object["data"], &data) // data that is not an object holds no message
	switch {
	case a.object == nil:
		return signformstest.LayoutText, "not a JSON object"
	case a.object["message"] != nil:
		return signformstest.LayoutMessage, "message"
	case a.object["error"] != nil:
		return signformstest.LayoutError, "error"
	case data["message"] != nil:
		return signformstest.LayoutDataMessage, "data.message"
	case data["error"] != nil:
		return signformstest.LayoutDataError, "data.error"
	}
	return signformstest.LayoutMessage, "neither message nor error"
}

// codes checks the codes of the errors for a wrong key and a malformed id.
func (r *run) codes() {
	code := r.badID.str("code")
	if r.badID.status != http.StatusBadRequest || code == "" || r.keyCode == "" {
		r.say("error codes", CannotTell, "not both of these errors have a code where it is looked for")
		return
	}
	r.check("error codes", code == "invalid_input" && r.keyCode == "forbidden", "%s and %s", word(r.keyCode), word(code))
}

// wrongPath asks for a path that the service does not have, to learn what the service answers then.
func (r *run) wrongPath(ctx context.Context) (err error) {
	r.noPath, err = r.ask(ctx, http.MethodGet, "/signforms-probe-no-such-path", nil, nil, r.APIKey)
	return err
}

// respondents asks for the respondents of an unknown template, and for a single respondent.
func (r *run) respondents(ctx context.Context) error {
	unknown, err := r.get(ctx, signforms.OpListRespondents, url.Values{"templateId": {RandomID()}})
	if err != nil {
		return err
	}
	if r.samePath(unknown) || !r.found("list respondents", unknown) {
		r.lost("list respondents", unknown)
		return nil
	}
	r.unknownID("unknown template", unknown, "respondents")
	templates, err := r.list(ctx, []string{"documentType", "PDF_TEMPLATE", "limit", "20"})
	if err != nil {
		return err
	}
	r.templateFields(templates.documents())
	for _, t := range templates.documents() {
		respondent := firstRespondent(t)
		if respondent == "" {
			continue
		}
		one, err := r.get(ctx, signforms.OpListRespondents, url.Values{"templateId": {id(t)}, "respondentDocumentId": {respondent}})
		if err != nil {
			return err
		}
		r.oneRespondent(one)
		return nil
	}
	r.say("one respondent", CannotTell, "no template was sent")
	return nil
}

func (r *run) oneRespondent(one answer) {
	var object record
	switch list := one.list("respondents"); {
	case len(list) == 1:
		r.say("one respondent", Holds, "an array of one")
	case json.Unmarshal(one.object["respondents"], &object) == nil && object != nil:
		r.say("one respondent", Differs, "an object")
		r.report.Profile.RespondentObject = true
	default:
		r.say("one respondent", CannotTell, "%s, %d respondents", one.short(), len(list))
	}
}

func firstRespondent(t record) string {
	for _, name := range []string{"templateRespondents", "respondentsOfDoc"} {
		list, _ := t[name].([]any)
		for _, e := range list {
			if m, _ := e.(map[string]any); m != nil {
				if s, _ := m["respondentDocumentId"].(string); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// samePath reports whether an answer is the same as for a path that does not exist.
func (r *run) samePath(a answer) bool {
	return a.status == http.StatusNotFound && r.noPath.status == http.StatusNotFound && message(a) == message(r.noPath)
}

// message returns an error's message up to the first full stop. The rest may depend on the path.
func message(a answer) string {
	text := a.text
	for _, name := range []string{"message", "error"} {
		if s := a.str(name); s != "" {
			text = s
			break
		}
	}
	var data struct{ Message, Error string }
	if json.Unmarshal(a.object["data"], &data) == nil && data.Message+data.Error != "" {
		text = data.Message + data.Error
	}
	text, _, _ = strings.Cut(text, ".")
	return text
}

// lost notes that an operation is not at its path.
func (r *run) lost(id string, a answer) {
	if r.outcomes[id].Outcome == "" || r.samePath(a) {
		r.say(id, Differs, "%s, as for a path that does not exist", a.short())
	}
}

// unknownID checks the answer to an id that no record has.
func (r *run) unknownID(fact string, a answer, list string) {
	switch {
	case a.status == http.StatusNotFound:
		r.say(fact, Holds, "%s", a.short())
	case a.ok() && len(a.list(list)) == 0:
		r.say(fact, Differs, "an empty list")
		r.report.Profile.UnknownIDEmpty = true
	default:
		r.say(fact, CannotTell, "%s", a.short())
	}
}

// responses asks for the responses to unknown forms. It cannot ask about known ones, because the service has no list of forms.
func (r *run) responses(ctx context.Context) error {
	unknown, err := r.get(ctx, signforms.OpListResponses, url.Values{"formId": {RandomID()}})
	if err != nil {
		return err
	}
	if r.samePath(unknown) || !r.found("list responses", unknown) {
		r.lost("list responses", unknown)
		return nil
	}
	r.unknownID("unknown form", unknown, "responses")
	odd, err := r.get(ctx, signforms.OpListResponses, url.Values{"formId": {"not-an-id"}})
	if err != nil {
		return err
	}
	if odd.ok() || odd.refused() {
		r.check("any form id", odd.status != http.StatusBadRequest, "%s", odd.short())
	}
	return nil
}

// dates asks which formats of dates are accepted, and whether dateFrom and dateTo are inclusive.
func (r *run) dates(ctx context.Context) error {
	withTime, err := r.list(ctx, []string{"limit", "1", "dateFrom", "2000-01-01T00:00:00.000Z"})
	if err != nil {
		return err
	}
	alone, err := r.list(ctx, []string{"limit", "1", "dateFrom", "2000-01-01"})
	if err != nil {
		return err
	}
	r.dateFormat("times", withTime)
	r.dateFormat("dates alone", alone)
	switch {
	case withTime.ok() && alone.status == http.StatusBadRequest:
		r.report.Profile.DateFormat = signformstest.TimeOnly
	case alone.ok() && withTime.status == http.StatusBadRequest:
		r.report.Profile.DateFormat = signformstest.DateOnly
	}
	d := r.midday()
	if !withTime.ok() || d == nil {
		reason := ifThen(withTime.ok(), "no document has a time that is far from midnight", "times are not taken")
		r.say("dateFrom included", CannotTell, "%s", reason)
		r.say("dateTo included", CannotTell, "%s", reason)
		return nil
	}
	if r.report.Profile.DateFrom, err = r.end(ctx, d, "dateFrom", 1); err != nil && !errors.Is(err, errNoAnswer) {
		return err
	}
	if r.report.Profile.DateTo, err = r.end(ctx, d, "dateTo", -1); err != nil && !errors.Is(err, errNoAnswer) {
		return err
	}
	return nil
}

// errNoAnswer means that it stays unknown whether an end of the dates is inclusive, because a request failed.
var errNoAnswer = errors.New("the service did not answer what was asked")

func (r *run) dateFormat(fact string, a answer) {
	switch {
	case a.ok():
		r.say(fact, Holds, "%s", a.short())
	case a.status == http.StatusBadRequest:
		r.say(fact, Differs, "%s", a.short())
	default:
		r.say(fact, CannotTell, "%s", a.short())
	}
}

// midday returns a document that was created more than a second away from midnight, or nil.
func (r *run) midday() record {
	for _, d := range r.sample {
		at := created(d).UTC()
		if day := at.Truncate(24 * time.Hour); !at.IsZero() && at.Sub(day) > time.Second && at.Sub(day) < 24*time.Hour-time.Second {
			return d
		}
	}
	return nil
}

// end asks for document d with one end of the dates at d's own time, and then a millisecond beside it. outward is the direction in
// which the end no longer includes d: 1 for later, -1 for earlier.
func (r *run) end(ctx context.Context, d record, name string, outward time.Duration) (signformstest.DateEnd, error) {
	included := func(shift time.Duration) (bool, error) {
		at := created(d).UTC().Add(shift).Format("2006-01-02T15:04:05.000Z")
		params := []string{"limit", "100", "sortOrder", ifThen(outward > 0, "asc", "desc"), name, at}
		if !r.ignoreIDs {
			params = append(params, "documentId", id(d))
		}
		params[1] = itoa(r.size)
		a, err := r.list(ctx, params)
		if err != nil {
			return false, err
		}
		if !a.ok() {
			return false, errNoAnswer
		}
		for _, other := range a.documents() {
			if id(other) == id(d) {
				return true, nil
			}
		}
		return false, nil
	}
	at, err := included(0)
	if err != nil {
		return 0, err
	}
	other := outward * time.Millisecond // d was listed, so it must not be listed a millisecond further out
	if !at {
		other = -other // d was not listed, so it must be listed a millisecond further in
	}
	beside, err := included(other)
	if err != nil {
		return 0, err
	}
	wide, narrow := signformstest.EndAtDayStart, signformstest.EndAtDayEnd
	if outward < 0 {
		wide, narrow = narrow, wide
	}
	fact := name + " included"
	switch {
	case at && !beside:
		r.say(fact, Holds, "a document of that millisecond is listed, and not with an end beside it")
		return signformstest.EndIncluded, nil
	case at:
		r.say(fact, Differs, "it is widened to the day")
		return wide, nil
	case beside:
		r.say(fact, Differs, "its own millisecond is left out")
		return signformstest.EndExcluded, nil
	}
	r.say(fact, Differs, "it is narrowed to the day")
	return narrow, nil
}
