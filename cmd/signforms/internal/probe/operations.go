package probe

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func (r *run) askRespondents(ctx context.Context, p signforms.RespondentListParams, set ...string) answer {
	return r.ask(ctx, question{set: set, do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Templates.Respondents(ctx, p)
		return pageOf(list, err, "respondents", func(s *signforms.Respondent) record { return record{id: s.RespondentDocumentID, created: s.CreatedAt} })
	}})
}

func (r *run) askResponses(ctx context.Context, form string, set ...string) answer {
	return r.ask(ctx, question{set: set, do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Forms.Responses(ctx, signforms.ResponseListParams{FormID: form})
		return pageOf(list, err, "responses", func(s *signforms.FormResponse) record { return record{id: s.ResponseID, created: s.SubmittedAt} })
	}})
}

// respondents asks for the respondents of an unknown template, and for single respondents.
func (r *run) respondents(ctx context.Context) {
	template, respondents, known := r.template(ctx)
	id := randomID()
	unknown := r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: id})
	if known.ok() && len(known.records) > 0 && known.records[0].id != "" {
		r.ofTemplate(*template, known, unknown)
	} else if template != nil && known.ok() && len(template.doc.Respondents)+template.doc.TotalRespondents > 0 {
		r.say("list respondents", CannotTell, "a template that has respondents gives none")
		return
	} else if template != nil && known.missing() && unknown.missing() {
		r.say("list respondents", CannotTell, "those of a template that the service lists: %s", known.short())
		if !unlike(known, r.otherPaths(ctx, known)) {
			r.say("list respondents", Differs, "those of a template that the service lists: %s, as for paths that do not exist", known.short())
		}
		return
	} else {
		by := func(set ...string) answer {
			return r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: id}, set...)
		}
		if !r.presence(ctx, "list respondents", "respondents", "templateId", unknown, by) {
			return
		}
	}
	r.noneOf("unknown template", unknown)
	r.oneRespondent(ctx, respondents)
}

// ofTemplate judges whether the respondents that a template gives are its own.
func (r *run) ofTemplate(template record, known, unknown answer) {
	own, other := 0, 0
	for _, rec := range known.records {
		var of string
		unmarshal(rec.raw["templateId"], &of)
		switch {
		case of != "" && !strings.EqualFold(of, template.id):
			other++
		case of != "" || slices.ContainsFunc(template.doc.Respondents, func(s signforms.TemplateRespondent) bool { return s.RespondentDocumentID == rec.id }):
			own++
		}
	}
	switch {
	case len(unknown.records) > 0:
		r.say("list respondents", Differs, "an unknown template gives respondents too")
	case !unknown.none() && !unknown.refused():
		r.say("list respondents", CannotTell, "an unknown template: %s", unknown.short())
	case other > 0: // the service may name another id of the template
		r.say("list respondents", CannotTell, "%d of %d respondents of a template are of another", other, len(known.records))
	case own < len(known.records):
		r.say("list respondents", CannotTell, "%d of %d respondents of a template are not known to be its own", len(known.records)-own, len(known.records))
	default:
		r.say("list respondents", Holds, "those of a template, read by the SDK")
	}
}

// oneRespondent asks for single respondents. Two ids, each with its own, show that the id is read.
func (r *run) oneRespondent(ctx context.Context, respondents []string) {
	arrays, objects, outcome, seen := 0, 0, CannotTell, "no template was sent"
	for _, id := range respondents {
		one := r.askRespondents(ctx, signforms.RespondentListParams{RespondentDocumentID: id})
		value := strings.TrimSpace(string(object(one.raw)["respondents"]))
		switch {
		case one.is(id) && strings.HasPrefix(value, "["):
			arrays++
		case one.is(id) && strings.HasPrefix(value, "{"):
			objects++
		default:
			outcome = ifThen(outcome == Differs || len(one.records) > 1, Differs, CannotTell)
			seen = fmt.Sprintf("%s, %d respondents", one.short(), len(one.records))
		}
	}
	switch n := len(respondents); {
	case n == 1 && arrays == n:
		r.say("one respondent", CannotTell, "an array of one, and no other respondent that it could have been")
	case n > 0 && arrays == n:
		r.say("one respondent", Holds, "an array of one, for each of %d", n)
	case n > 0 && objects == n:
		r.say("one respondent", Differs, "an object")
		r.report.Profile.RespondentObject = true
	case objects > 0 && arrays > 0:
		r.say("one respondent", CannotTell, "an array for one, an object for another")
	default:
		r.say("one respondent", outcome, "%s", seen)
	}
}

func isTemplate(rec record) bool { return rec.doc.SigningType == signforms.TypePDFTemplate }

// untyped reports whether an answer to a request for templates has other documents.
func (a answer) untyped() bool {
	return slices.ContainsFunc(a.records, func(rec record) bool { return !isTemplate(rec) })
}

func (r *run) listTemplates(ctx context.Context) {
	r.templates = r.ask(ctx, question{do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Templates.List(ctx, signforms.TemplateListParams{})
		return pageOf(list, err, "documents", ofDocument)
	}})
}

// types asks for templates and, where they come with other documents, for the service's name of documentType.
func (r *run) types(ctx context.Context) {
	if r.listTemplates(ctx); r.templates.untyped() {
		r.templates = r.rename(ctx, "documentType", []string{"type", "docType", "document_type"}, string(signforms.TypePDFTemplate),
			func(a answer) bool { return len(a.records) > 0 && !a.untyped() }, params{}, r.templates)
	}
}

// template returns a template of the account, with up to two documents that were made from it, of different statuses if there are
// such, and the answer to a request for those.
func (r *run) template(ctx context.Context) (template *record, respondents []string, known answer) {
	known.err = errEnough
	if r.templates.Status == 0 {
		r.listTemplates(ctx)
	}
	found := slices.DeleteFunc(slices.Clone(r.templates.records), func(rec record) bool { return !isTemplate(rec) }) // documentType may be ignored
	if len(found) == 0 {
		return nil, nil, known
	}
	sent := slices.IndexFunc(found, func(rec record) bool { return len(rec.doc.Respondents)+rec.doc.TotalRespondents > 0 })
	template = &found[max(sent, 0)]
	known = r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: template.id})
	state := map[string]string{} // a respondent's id by its status
	for _, one := range template.doc.Respondents {
		state[string(one.Status)] = one.RespondentDocumentID
	}
	for _, rec := range known.records {
		state[statusOf(rec)] = rec.id
	}
	for _, id := range ids(known.records) {
		if len(state) == 1 && !slices.Contains(slices.Collect(maps.Values(state)), id) {
			state["another"] = id
		}
	}
	respondents = slices.Sorted(maps.Values(state))
	return template, respondents[:min(2, len(respondents))], known
}

// noneOf checks the answer to an id that no record has. The operation is known to be there.
func (r *run) noneOf(fact string, a answer) {
	switch {
	case a.Status == http.StatusNotFound && a.missing():
		r.say(fact, Holds, "%s", a.short())
	case a.ok() && len(a.records) == 0:
		r.say(fact, Differs, "an empty list")
		r.report.Profile.UnknownIDEmpty = true
	case a.ok():
		r.say(fact, Differs, "%d records", len(a.records))
	case a.refused():
		r.say(fact, Differs, "%s", a.short())
	default:
		r.say(fact, CannotTell, "%s", a.short())
	}
}

// responses asks for the responses to unknown forms. The service has no list of forms.
func (r *run) responses(ctx context.Context) {
	id := randomID()
	unknown := r.askResponses(ctx, id)
	by := func(set ...string) answer { return r.askResponses(ctx, id, set...) }
	if !r.presence(ctx, "list responses", "responses", "formId", unknown, by) {
		return
	}
	r.noneOf("unknown form", unknown)
}

// wrongKey asks with an unknown key of the same form. A service may lock out a client that does so: it comes last, right after a
// request with the right key.
func (r *run) wrongKey(ctx context.Context) {
	if !r.first.ok() {
		return
	}
	key := Stranger(r.APIKey)
	ask := func(p params) answer { return r.ask(ctx, question{key: key, do: listDocuments(p)}) }
	// Between the service and probe there may be a cache that disregards the key: the first list was not asked for before, the second was.
	known := params{Limit: r.size}
	a, again := ask(params{Limit: r.size, Page: 1, SortOrder: signforms.NewestFirst}), ask(known)
	right := r.documents(ctx, known)
	switch r.keyError = again; {
	case !right.ok():
		if right.Status/100 == 4 && right.Status != http.StatusTooManyRequests {
			r.report.List = "at the end the right key was refused too, after a wrong one: " + strconv.Itoa(right.Status)
		}
		r.say("key status", CannotTell, "%s, and with the right key after it: %s", again.short(), right.short())
	case a.Status != again.Status:
		r.say("key status", CannotTell, "%s, and for a list that was asked for before: %s", a.short(), again.short())
	case a.ok() && len(a.records) > 0:
		r.say("key status", Differs, "a wrong key is taken (%d)", a.Status)
	case a.ok():
		r.say("key status", Differs, "%s with an empty list", a.short())
	case !a.settled():
		r.say("key status", CannotTell, "%s", a.short())
	default:
		r.check("key status", a.Status == http.StatusForbidden, "%s", a.short())
		if a.Status/100 == 4 && a.Status != http.StatusForbidden {
			r.report.Profile.KeyStatus = a.Status
		}
	}
}

// layout is where an error's message and code are.
type layout struct {
	name    string
	profile signformstest.ErrorLayout
	code    string
	keys    []string // but for the code's
}

const (
	assumedLayout = "message and code"
	noCode        = "message, without code"
	noJSON        = "not a JSON object"
	htmlPage      = "an HTML page, which may be that of a firewall"
	otherLayout   = "another layout"
)

// layoutOf returns the layout of an error's body; its name is empty when there is nothing to see.
func layoutOf(a answer) layout {
	var fields map[string]any // by their exact names, which structs do not ask for
	text := func(name string) bool { s, ok := fields[name].(string); return ok && s != "" }
	code := func() string { s, _ := fields["code"].(string); return s }
	switch parsed, body := unmarshal(a.Body, &fields), bytes.TrimSpace(a.Body); {
	case len(body) == 0:
		return layout{}
	case body[0] == '<':
		return layout{name: htmlPage}
	case !parsed || fields == nil:
		return layout{name: noJSON, profile: signformstest.LayoutText}
	case text("message"):
		l := layout{name: ifThen(fields["code"] != nil, assumedLayout, noCode), profile: signformstest.LayoutMessage, code: code()}
		delete(fields, "code")
		l.keys = slices.Sorted(maps.Keys(fields))
		return l
	case text("error"):
		return layout{name: "error", profile: signformstest.LayoutError, code: code()}
	case text("title") || text("detail"):
		return layout{name: "title or detail, as in RFC 7807", code: code()}
	}
	fields, _ = fields["data"].(map[string]any)
	switch {
	case text("message"):
		return layout{name: "data.message", profile: signformstest.LayoutDataMessage, code: code()}
	case text("error"):
		return layout{name: "data.error", profile: signformstest.LayoutDataError, code: code()}
	}
	return layout{}
}

// layouts returns the layouts of all refusals that the list of documents answered with.
func (r *run) layouts() (seen []layout) {
	for _, asked := range r.report.Asked {
		if asked.Operation == signforms.OpListDocuments && asked.Status/100 == 4 && asked.Status != http.StatusTooManyRequests {
			l := layoutOf(answer{Asked: asked})
			l.name = cmp.Or(l.name, otherLayout)
			if !slices.ContainsFunc(seen, func(o layout) bool { return o.name == l.name }) {
				seen = append(seen, l)
			}
		}
	}
	return seen
}

// errors compares the layouts of refusals, and the codes of two of them.
func (r *run) errors() {
	seen := r.layouts()
	has := func(names ...string) bool {
		return slices.ContainsFunc(seen, func(l layout) bool { return slices.Contains(names, l.name) })
	}
	switch {
	case len(seen) > 1 && !has(assumedLayout, noJSON, htmlPage):
		r.say("error layout", Differs, "none of the errors has a message and a code; they have several layouts")
	case len(seen) == 2 && has(assumedLayout) && has(noCode) && len(seen[0].keys) > 1 && slices.Equal(seen[0].keys, seen[1].keys):
		r.say("error layout", Differs, "a message, and a code in some errors alone") // a message alone may be that of a gateway
	case len(seen) > 1 || r.keyError.Status/100 == 2 && !r.keyError.ok():
		r.say("error layout", CannotTell, "the errors have several layouts, so some may not be the service's own")
	case has(htmlPage):
		r.say("error layout", CannotTell, htmlPage)
	case len(seen) == 1:
		r.check("error layout", seen[0].name == assumedLayout, "%s", seen[0].name)
		r.report.Profile.ErrorLayout = seen[0].profile
	}
	key, bad := layoutOf(r.keyError).code, layoutOf(r.badID).code
	// What is refused with the right key too, or one time of two, is not known to be refused for the key or the id.
	keyRefused, badRefused := r.keyError.Status/100 == 4 && r.outcomes["key status"].Outcome != CannotTell, r.holds("malformed id")
	own := r.outcomes["error layout"].Outcome != CannotTell && len(seen) == 1 && seen[0].name != otherLayout
	switch {
	case own && (keyRefused && key == "" || badRefused && bad == ""):
		r.say("error codes", Differs, "there is no code where it is looked for")
	case keyRefused && key != "" && key != "forbidden", badRefused && bad != "" && bad != "invalid_input":
		r.say("error codes", Differs, "%s and %s", foreign(key), foreign(bad))
	case keyRefused && badRefused && key == "forbidden" && bad == "invalid_input":
		r.say("error codes", Holds, "%s and %s", key, bad)
	default:
		r.say("error codes", CannotTell, "not both of these errors have a code where it is looked for")
	}
}
